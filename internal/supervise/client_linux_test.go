package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"electop/internal/supervise"
)

// The program ends with all its children, even if its supervisor is killed before it tells the process group.
func TestAProgramEndsWithASupervisorThatIsKilledAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "group")
	later := time.Now().Add(time.Hour)
	c, err := supervise.Start(exec.Command("sh", "-c", `sleep 1000 & echo $$ >`+file+`; kill -9 $PPID; wait`), supervise.Deadlines{Term: later, Kill: later})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-c.Done(); err == nil {
		t.Error("no error")
	}
	text, err := os.ReadFile(file)
	var group int
	if _, scanned := fmt.Sscan(string(text), &group); err != nil || scanned != nil {
		t.Fatal(err, scanned)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !supervise.Gone(group); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("process group %d still has processes", group)
		}
	}
}
