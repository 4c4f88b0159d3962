package journey

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The dashboard of one operator shows actions that another operator performed with a command.
func TestDashboardShowsWhoReleased(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "h.db")
	term := s.open(160, 40, "--history", file)
	term.await("1 led", "web-a")
	out, err := exec.Command(program, "release", "web", "--yes", "--history", file, "--http-addr", s.agent.Addr(), "-k", s.prefix+"/*/leader").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	term.await("1 vacant", " released the lock with electop", "@")
	term.keys("q")
	term.await("left with 0")
}
