package cli

import (
	"strings"
	"testing"
)

// watch explains each action of another electop process exactly once.
func TestActionsOfAnotherProcessExplainALoss(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		file, p := historyFile(t), prefix(t)
		args := func(more ...string) []string { return append(more, "-k", p+"/*/leader", "--history", file) }
		w.acquire(p+"/web/leader", w.session(nil), "a")
		w.acquire(p+"/mail/leader", w.session(nil), "b")
		events := w.follow(args("watch", "-o", "json")...)
		events.until("elected")
		events.until("elected")
		for _, tt := range []struct{ action, name, first, want string }{
			{"release", "web", "released", "released with electop by "},
			{"destroy", "mail", "session_destroyed", "the session was destroyed with electop by "},
		} {
			w.run(args(tt.action, tt.name, "--yes")...).must(t, exitOK)
			if e := events.until("explained"); e["cause"] != tt.first {
				t.Errorf("%v, want %s", e, tt.first)
			}
			if e := events.until("explained"); e["cause"] != "operator_"+tt.action || e["evidence"] != tt.want+userAtHost() {
				t.Errorf("%v, want operator_%s", e, tt.action)
			}
		}
		events.stop()
		for line := events.next(); !strings.HasPrefix(line, "exit code"); line = events.next() {
			t.Errorf("one more event: %s", line)
		}
		r := w.run(args("history", "--type", "explained", "-o", "json")...).must(t, exitOK)
		if n := strings.Count(r.out, `"cause":"operator_`); n != 2 {
			t.Errorf("want each action once:\n%s", r.out)
		}
		has(t, w.run(args("history", "--terms")...).must(t, exitOK).out, "operator_release by "+userAtHost(), "operator_destroy by "+userAtHost())
	})
}
