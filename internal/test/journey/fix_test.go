package journey

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// f destroys the session of a leader whose node has failed, but not before it has seen the failure for 15 s. Consul
// removes the node after a minute, so the test has its own agent.
func TestFix(t *testing.T) {
	t.Parallel()
	s := stageOn(t, consultest.Dev(t), t.Name())
	lost := s.Session(api.SessionEntry{Name: "mail-a", LockDelay: time.Minute, TTL: "3600s"})
	s.acquire("mail", lost, "mail-a")
	gone := &api.CatalogRegistration{
		Node: "node-9", Address: "10.0.0.9",
		Check: &api.AgentCheck{Node: "node-9", CheckID: "serfHealth", Name: "Serf Health Status", Status: "critical"},
	}
	_, err := s.API.Catalog().Register(gone, nil)
	must(t, err)
	orphan := s.Session(api.SessionEntry{Name: "web", Node: "node-9", LockDelay: time.Millisecond})
	s.acquire("web", orphan, "web-a")
	term := s.open(120, 36)
	term.await("2 led", "✗ 1 failed", "node failed")
	s.Destroy(lost)
	term.await("1 lock-delay")
	term.keys("g", "f")
	term.await("Fix mail", "Problem      lock-delay", "Wait until the lock-delay ends", "lock-delay is active", "[ Close ]")
	term.keys("Escape")
	term.gone("Fix mail")
	term.keys("G", "f")
	screen := term.await("Fix web", "leader failed", "Then destroy", "Not before", "(Apply)")
	if !strings.Contains(screen, orphan[:8]) || !strings.Contains(screen, s.key("web")) {
		t.Errorf("the session or its key is missing:\n%s", screen)
	}
	term.await("y apply")
	term.keys("y")
	s.ended(orphan)
	s.acquire("web", s.session("web-b"), "web-b")
	term.await("web: web-a on node-9 → web-b")
	term.keys("q")
	term.await("left with 0")
}

// ended waits until a session no longer exists.
func (s *stage) ended(session string) {
	s.T.Helper()
	if !poll(func() bool {
		e, _, err := s.API.Session().Info(session, nil)
		return err == nil && e == nil
	}) {
		s.T.Fatal("the session exists")
	}
}
