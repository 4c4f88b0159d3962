//go:build unix

package holders

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// consulLock starts `consul lock` with a child that prints its process ID.
func consulLock(s *stage, flags ...string) *process {
	s.t.Helper()
	return consulLockChild(s, "echo child $$; exec sleep 600", flags...)
}

func consulLockChild(s *stage, child string, flags ...string) *process {
	s.t.Helper()
	args := append(append([]string{"lock", "-verbose"}, flags...), s.prefix, child)
	cmd := exec.Command(consultest.Binary(s.t), args...)
	cmd.Env = s.environment()
	return start(s.t, cmd)
}

// mustStop checks that `consul lock` sends SIGTERM to its child after a loss of the lock, and exits as if the child
// had succeeded.
func mustStop(t *testing.T, p *process) {
	t.Helper()
	child := p.number("child")
	t.Logf("the child ended %v later", await(t, "the child's end", func() bool { return !alive(child) }).Round(time.Millisecond))
	p.says("Lock lost, killing child")
	p.says("Error running handler: signal: terminated")
	if code := p.exitCode(); code != 0 {
		t.Errorf("consul lock exits with %d", code)
	}
}

func TestConsulLockAlone(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"defaults": nil, "child-exit-code": {"-child-exit-code"}} {
		for _, verb := range []string{"release", "destroy"} {
			t.Run(verb+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, ".lock")
				p := consulLock(s, flags...)
				p.number("child")
				h := s.act(verb)
				mustStop(t, p)
				p.says("Cleanup succeeded")
				if pair := s.get(); pair != nil {
					t.Errorf("the key still exists: %+v", pair)
				}
				h.mustEnd()
			})
		}
	}
}

// The old holder deletes the key unless the waiter already holds it, so the CreateIndex of the key may change.
func TestConsulLockWithWaiter(t *testing.T) {
	eachVerb(t, ".lock", func(s *stage, verb string) {
		t := s.t
		p := consulLock(s)
		p.number("child")
		waiter := consulLock(s)
		s.awaitSessions(2)
		h := s.act(verb)
		mustStop(t, p)
		next := h.successor()
		h.mustKeep(next) // a waiter rejects a key without the flags of a lock
		waiter.number("child")
		h.mustEnd()
	})
}

// A child that ignores SIGTERM still runs when the next holder acquires the lock, because `consul lock` sends SIGKILL
// only later.
func TestConsulLockChildThatIgnoresTerm(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	p := consulLockChild(s, "trap '' TERM; echo child $$; while :; do sleep 1; done")
	old := p.number("child")
	waiter := consulLock(s)
	s.awaitSessions(2)
	h := s.act("release")
	h.successor()
	waiter.number("child")
	await(t, "the child's end", func() bool { return !alive(old) })
	p.says("Killing child pid")
	if code := p.exitCode(); code != 0 {
		t.Errorf("consul lock exits with %d", code)
	}
}

// Only the child receives SIGTERM. Processes that the child started still run after `consul lock` has exited.
func TestConsulLockDoesNotEndGrandchildren(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	p := consulLockChild(s, "sleep 600 >/dev/null 2>&1 & echo grandchild $!; echo child $$; wait")
	grandchild := p.number("grandchild")
	p.number("child")
	s.act("release")
	mustStop(t, p)
	if !alive(grandchild) {
		t.Error("the grandchild ended with its parent")
	}
}

func TestConsulLockIsListedWithItsCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	consulLock(s).number("child")
	for _, args := range [][]string{{"list", "-o", "json"}, {"show", s.key}} {
		if r := s.electop(args...); r.code != 0 || !strings.Contains(r.stdout, "exec sleep 600") {
			t.Errorf("electop %s does not show the command: %v", args[0], r)
		}
	}
	if got := s.listed()["state"]; got != "led" {
		t.Errorf("state %v", got)
	}
}

// The holder of a semaphore loses its slot with its session.
func TestConsulLockSemaphore(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	first := consulLock(s, "-n", "2")
	first.number("child")
	session := s.contender(1)
	consulLock(s, "-n", "2").number("child")
	waiter := consulLock(s, "-n", "2")
	s.awaitSessions(3)
	if got := s.listed()["state"]; got == "led" {
		t.Error("the state of the semaphore is led")
	}
	if r := s.electop("destroy", "--session", session, "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	waiter.number("child")
	mustStop(t, first)
	if s.sessionLives(session) {
		t.Error("the session still exists")
	}
}

// awaitSessions waits until n sessions compete under the stage's prefix. A waiting lock candidate has no other data
// in Consul.
func (s *stage) awaitSessions(n int) {
	s.t.Helper()
	await(s.t, "sessions", func() bool {
		entries, _, err := s.client().Session().List(nil)
		must(s.t, err)
		found := 0
		for _, e := range entries {
			if strings.HasSuffix(e.Name, "at '"+s.prefix+"'") {
				found++
			}
		}
		return found == n
	})
}

// contender waits until the semaphore has n contenders, and returns the session of one of them.
func (s *stage) contender(n int) (session string) {
	s.t.Helper()
	await(s.t, "contenders", func() bool {
		pairs, _, err := s.client().KV().List(s.prefix+"/", nil)
		must(s.t, err)
		found := 0
		for _, p := range pairs {
			if p.Session != "" && p.Flags == api.SemaphoreFlagValue {
				found, session = found+1, p.Session
			}
		}
		return found == n
	})
	return session
}
