package procgroup_test

import (
	"bufio"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"electop/internal/procgroup"
)

func TestOfSessionFindsGroupsWhoseSessionLeaderWasKilled(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo started; wait")
	cmd.SysProcAttr = procgroup.NewSession()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid // that of a session leader
	t.Cleanup(func() { _ = procgroup.Signal(group, syscall.SIGKILL); procgroup.Gone(group) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := procgroup.OfSession(group); !slices.Equal(got, []int{group}) {
		t.Errorf("groups %v, want %d", got, group)
	}
}
