package journey

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// history runs a command that reads a history.
func history(t *testing.T, file string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, append(args, "--history", file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestDashboardRecordsEventsAndActions(t *testing.T) {
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "state", "h.db")
	term := s.open(120, 36, "--history", file)
	term.await("1 led", "web-a")
	term.keys("r")
	term.await("Release web", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	s.acquire("web", s.b, "web-b")
	term.await("web-a → web-b after")
	term.keys("q")
	term.await("left with 0")
	terms := history(t, file, "history", "--terms")
	for _, want := range []string{"web-a", "operator_release by ", "web-b"} {
		if !strings.Contains(terms, want) {
			t.Errorf("no %q in\n%s", want, terms)
		}
	}
	if report := history(t, file, "report", "web"); !strings.Contains(report, " | release | web-a | "+s.a+" | done |") {
		t.Errorf("the action is missing:\n%s", report)
	}
}

func TestDashboardContinuesWithoutAHistory(t *testing.T) {
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	term := s.open(120, 36, "--history", file)
	term.await("1 led", "web-a")
	term.keys("q")
	screen := term.await("left with 0", "not a history of electop")
	if strings.Count(screen, "electop: ") != 1 {
		t.Errorf("more than one line:\n%s", screen)
	}
}
