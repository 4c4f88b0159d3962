//go:build unix

package holders

import (
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// rescue returns the problem with the stage's key, the kind of fix and what to do.
func (s *stage) rescue(args ...string) (problem, fix, do string) {
	s.t.Helper()
	r := s.electop(append([]string{"rescue", "-o", "json", "--history", "off"}, args...)...)
	if strings.TrimSpace(r.stdout) == "" {
		return "", "", ""
	}
	var line struct{ Problem, Fix, Do string }
	if err := json.Unmarshal([]byte(r.stdout), &line); err != nil {
		s.t.Fatalf("%v: %v", err, r)
	}
	return line.Problem, line.Fix, line.Do
}

// A release without flags makes waiting candidates fail, and the holder exits. Then no session shows that the key
// belongs to `consul lock`, and every new candidate fails, too. The command that rescue shows ends this.
func TestRescueOfConsulLockWithWrongFlags(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	p := consulLock(s)
	p.number("child")
	waiter := consulLock(s)
	s.awaitSessions(2)
	if problem, _, _ := s.rescue("--dry-run"); problem != "" {
		t.Errorf("electop reports the problem %s for a healthy election", problem)
	}
	if ok, _, err := s.client().KV().Release(&api.KVPair{Key: s.key, Session: s.led().Session}, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
	p.exitCode()
	if code := waiter.exitCode(); code == 0 {
		t.Error("the exit code of the waiter is 0")
	}
	s.awaitSessions(0)
	if p := consulLock(s); p.exitCode() == 0 || !strings.Contains(p.text(), "does not match lock use") {
		t.Errorf("consul lock accepts the flags: %s", p.text())
	}
	problem, fix, do := s.rescue("--yes")
	_, command, found := strings.Cut(do, ": consul ")
	if problem != "lock_flags" || fix != "manual" || !found {
		t.Fatalf("%s, %s: %s", problem, fix, do)
	}
	cmd := exec.Command(consultest.Binary(t), strings.Fields(command)...)
	cmd.Env = s.environment()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, text)
	}
	consulLock(s).number("child")
}

// The session of a killed holder expires, and a lock-delay follows. Afterwards, the election stays vacant until a new
// candidate starts.
func TestRescueOfConsulLockThatWasKilled(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	p := consulLock(s)
	p.number("child")
	p.signal(syscall.SIGKILL)
	if problem, _, _ := s.rescue("--dry-run"); problem != "" {
		t.Errorf("electop reports the problem %s before the session expires", problem)
	}
	await(t, "the lock-delay", func() bool {
		problem, fix, _ := s.rescue("--dry-run")
		return problem == "lock_delay" && fix == "wait"
	})
	await(t, "the end of the lock-delay", func() bool {
		problem, fix, _ := s.rescue("--dry-run")
		return problem == "no_candidate" && fix == "manual"
	})
	consulLock(s).number("child")
}
