package cli

import (
	"strings"
	"testing"

	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// `electop watch` attributes each loss exactly once to the action of another electop process.
func TestActionsOfAnotherProcessExplainALoss(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		file, p := historyFile(t), prefix(t)
		args := func(more ...string) []string { return append(more, "-k", p+"/*/leader", "--history", file) }
		w.acquire(p+"/web/leader", w.session(nil), "a")
		s := w.session(nil)
		w.acquire(p+"/mail/leader", s, "b")
		w.acquire(p+"/cron/leader", s, "b")
		events := w.follow(args("watch", "-o", "json")...)
		for range 3 {
			events.until("elected")
		}
		for _, tt := range []struct {
			action, name, want string
			losses             int
		}{
			{"release", "web", "released with electop by ", 1},
			{"destroy", "mail", "the session was destroyed with electop by ", 2},
		} {
			w.run(args(tt.action, tt.name, "--yes")...).must(t, exitOK)
			for n := 0; n < tt.losses; {
				e := events.until("explained")
				if cause, _ := e["cause"].(string); !strings.HasPrefix(cause, "operator_") { // the action was not yet in the history
					continue
				}
				if n++; e["cause"] != "operator_"+tt.action || e["evidence"] != tt.want+userAtHost() {
					t.Errorf("%v, want operator_%s", e, tt.action)
				}
			}
		}
		events.stop()
		for line := events.next(); !strings.HasPrefix(line, "exit code"); line = events.next() {
			t.Errorf("unexpected event: %s", line)
		}
		r := w.run(args("history", "--type", "explained", "-o", "json")...).must(t, exitOK)
		if n := strings.Count(r.out, `"cause":"operator_`); n != 3 {
			t.Errorf("want each of the three losses once:\n%s", r.out)
		}
		f, err := sqlite.OpenFile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		actions, err := f.Actions(t.Context(), history.Range{})
		if err != nil || len(actions) != 2 {
			t.Fatalf("%v %+v", err, actions)
		}
		want := history.Action{
			Time: actions[0].Time, By: userAtHost(), Kind: "release", Datacenter: "dc1", Key: p + "/web/leader", Session: actions[0].Session,
			CreateIndex: actions[0].CreateIndex, Term: 1, Leader: "a", Node: actions[0].Node, Result: history.ResultDone, Detail: actions[0].Detail,
		}
		if actions[0] != want || want.Session == "" || actions[1].Kind != "destroy" {
			t.Errorf("%+v, want %+v", actions, want)
		}
		has(t, w.run(args("history", "--terms")...).must(t, exitOK).out, "operator_release by "+userAtHost(), "operator_destroy by "+userAtHost())
	})
}
