//go:build unix

package holders

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/internal/consultest"
)

// npmLock starts a candidate that uses npm's consul package. If again is set, the candidate competes again after it
// has lost the lock.
func npmLock(s *stage, value string, again bool) *process {
	s.t.Helper()
	mode := "once"
	if again {
		mode = "again"
	}
	return start(s.t, npmCandidate(s.t, s.agent, s.key, value, mode))
}

// npmCandidate returns a candidate that uses npm's consul package.
func npmCandidate(t *testing.T, agent *consultest.Agent, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join("testdata", "npm-candidate.js"), port(t, agent)}, args...)...)
	cmd.Env = cleanEnvironment("NODE_PATH=" + nodeModules(t, "consul"))
	return cmd
}

func port(t *testing.T, agent *consultest.Agent) string {
	t.Helper()
	_, port, err := net.SplitHostPort(agent.Addr())
	must(t, err)
	return port
}

// The lock emits `end` and destroys its session, even after a release. If the program does not compete again, it
// exits, because Node.js has no pending work.
func TestNPMLockOnce(t *testing.T) {
	eachVerb(t, "leader", func(s *stage, verb string) {
		t := s.t
		p := npmLock(s, `{"name":"web-1"}`, false)
		p.says("acquire\n")
		if delay := s.session(s.led().Session).LockDelay; delay != 15*time.Second {
			t.Errorf("its session has a lock-delay of %v", delay)
		}
		h := s.act(verb)
		t.Logf("the lock ended %v later", p.says("release\nend\n"))
		h.mustEnd()
		if code := p.exitCode(); code != 0 {
			t.Errorf("the program exits with %d", code)
		}
		pair := s.get()
		h.mustKeep(pair)
		if pair.Session != "" {
			t.Errorf("the key is not unlocked: %+v", pair)
		}
	})
}

// After the lock-delay, the client waits until the key changes, at most 15 s, before it tries again.
func TestNPMLockAgain(t *testing.T) {
	eachVerb(t, "leader", func(s *stage, verb string) {
		t := s.t
		p := npmLock(s, `{"name":"web-1"}`, true)
		p.says("acquire\n")
		h := s.act(verb)
		next := h.successor()
		h.mustKeep(next)
		if next.Session == h.pair.Session {
			t.Error("the same session leads again")
		}
		await(t, "a second acquire", func() bool { return strings.Count(p.text(), "acquire\n") == 2 })
		h.mustEnd()
	})
}

func TestNPMLockWithWaiter(t *testing.T) {
	eachVerb(t, "leader", func(s *stage, verb string) {
		t := s.t
		p := npmLock(s, "web-1", false)
		p.says("acquire\n")
		waiter := npmLock(s, "web-2", false)
		waiter.says("retry\n")
		h := s.act(verb)
		p.says("release\nend\n")
		waiter.says("acquire\n") // a waiter rejects a key without the flags of a lock
		if next := h.successor(); string(next.Value) != "web-2" || next.Flags != h.pair.Flags {
			t.Errorf("the key has another value or other flags: %+v", next)
		}
	})
}
