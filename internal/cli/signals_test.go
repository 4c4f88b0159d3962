package cli

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// The parent process may forward the SIGINT of ctrl-c after the command of the user has ended.
func TestTheGateDropsInterruptsOfACommand(t *testing.T) {
	now := time.Now()
	g := &interruptGate{}
	if g.drops(os.Interrupt, now) || (*interruptGate)(nil).drops(os.Interrupt, now) {
		t.Error("SIGINT was dropped before a command ran")
	}
	g.shut()
	if !g.drops(os.Interrupt, now.Add(time.Hour)) || g.drops(syscall.SIGTERM, now) {
		t.Error("while a command runs, want SIGINT dropped and SIGTERM not")
	}
	g.openAfter(now)
	if !g.drops(os.Interrupt, now.Add(time.Second)) || g.drops(os.Interrupt, now.Add(lateInterrupt)) {
		t.Error("after a command, want SIGINT dropped for lateInterrupt only")
	}
}
