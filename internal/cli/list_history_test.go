package cli

import (
	"strings"
	"testing"
)

// outage writes a history in which web lost its leader and mail kept its leader. After the observer has ended, db
// gets a leader, which the history does not contain.
func outage(t *testing.T, w *testConsul) string {
	t.Helper()
	file := historyFile(t)
	a, b := w.session(nil), w.session(nil)
	w.acquire("service/web/leader", a, "web-1")
	events := w.follow("watch", "-o", "json", "--history", file)
	events.until("elected")
	w.acquire("service/mail/leader", b, "mail-1")
	events.until("elected")
	w.run("release", "web", "--yes", "--history", file).must(t, exitOK)
	events.until("explained")
	events.stop()
	w.acquire("service/db/leader", b, "db-1")
	return file
}

func TestListContinuesTheHistory(t *testing.T) {
	w := onMemory(t)
	file := outage(t, w)
	r := w.run("list", "-o", "json", "--history", file).must(t, exitOK)
	for _, want := range []string{`"vacant_since":"`, `"last_leader":"web-1"`, `"leader":"mail-1"`, `"since_known":true`, `"leader":"db-1"`, `"since_known":false`} {
		if strings.Count(r.out, want) != 1 {
			t.Errorf("want %q exactly once in\n%s", want, r.out)
		}
	}
	r = w.run("list", "-o", "json", "--history", "off").must(t, exitOK)
	for _, unknown := range []string{"vacant_since", "last_leader", `"since_known":true`} {
		if strings.Contains(r.out, unknown) {
			t.Errorf("without a history, the output contains %q:\n%s", unknown, r.out)
		}
	}
}

func TestShowContinuesTheHistory(t *testing.T) {
	w := onMemory(t)
	file := outage(t, w)
	r := w.run("show", "web", "--history", file).must(t, exitOK)
	for _, want := range []string{"Last leader", "web-1 on node-1, term 1, led for ", "Lost because", " released the lock with electop", "The key was released"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	const unknown = "the start was not observed"
	if r := w.run("show", "mail", "--history", file).must(t, exitOK); !strings.Contains(r.out, "Since") || strings.Contains(r.out, unknown) {
		t.Errorf("the time at which mail got its leader is missing:\n%s", r.out)
	}
	has(t, w.run("show", "mail", "--history", "off").must(t, exitOK).out, unknown)
}
