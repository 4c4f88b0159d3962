package journey

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// named creates a session without checks, with a name. The session ends with the test.
func (s *stage) named(entry api.SessionEntry) string {
	s.t.Helper()
	id, _, err := s.agent.Client().Session().CreateNoChecks(&entry, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _, _ = s.agent.Client().Session().Destroy(id, nil) })
	return id
}

// f only explains a lock-delay, and does not judge a leader by a service check. It destroys the session of a leader
// whose node has failed, but not before it has seen the failure for 15 s. Consul removes the node after a minute, so
// the test has its own agent.
func TestFix(t *testing.T) {
	t.Parallel()
	s := &stage{t: t, agent: consultest.Dev(t), prefix: t.Name()}
	agent, catalog := s.agent.Client().Agent(), s.agent.Client().Catalog()
	lost := s.named(api.SessionEntry{Name: "mail-a", LockDelay: time.Minute, TTL: "3600s"})
	s.acquire("mail", lost, "mail-a")
	if err := agent.ServiceRegister(&api.AgentServiceRegistration{Name: "shop", Check: &api.AgentServiceCheck{TTL: "1h", Status: "critical"}}); err != nil {
		t.Fatal(err)
	}
	s.acquire("shop", s.named(api.SessionEntry{Name: "shop"}), "shop-a")
	gone := &api.CatalogRegistration{
		Node: "node-9", Address: "10.0.0.9",
		Check: &api.AgentCheck{Node: "node-9", CheckID: "serfHealth", Name: "Serf Health Status", Status: "critical"},
	}
	if _, err := catalog.Register(gone, nil); err != nil {
		t.Fatal(err)
	}
	orphan := s.named(api.SessionEntry{Name: "web", Node: "node-9", LockDelay: time.Millisecond})
	s.acquire("web", orphan, "web-a")

	readOnly := s.open(120, 36, "--read-only")
	readOnly.await("3 led")
	readOnly.keys("f")
	readOnly.await("Read-only: fix is disabled")
	readOnly.keys("q")
	readOnly.await("left with 0")

	term := s.open(120, 36)
	term.await("3 led", "✗ 1 failed", "node failed")
	if _, err := s.agent.Client().Session().Destroy(lost, nil); err != nil {
		t.Fatal(err)
	}
	term.await("1 lock-delay")
	term.keys("g", "f")
	term.await("Fix mail", "Problem      lock-delay", "Wait until the lock-delay ends", "Consul rejects an acquire", "[ Close ]")
	term.keys("Escape")
	term.gone("Fix mail")
	term.keys("j", "f")
	term.await("Fix shop", "No failure found", "[ Close ]")
	term.keys("Escape")
	term.gone("Fix shop")

	term.keys("G", "f")
	screen := term.await("Fix web", "leader failed", "Then destroy", "Not before", "(Apply)")
	if !strings.Contains(screen, orphan[:8]) || !strings.Contains(screen, s.key("web")) {
		t.Errorf("the session or its key is missing:\n%s", screen)
	}
	term.await("y apply")
	term.keys("y")
	term.until("the end of the session", func(string) bool {
		e, _, err := s.agent.Client().Session().Info(orphan, nil)
		return err == nil && e == nil
	})
	s.acquire("web", s.session("web-b"), "web-b")
	term.await("web: web-a on node-9 → web-b")
	term.keys("u")
	term.await("destroy", "web-a on node-9 → web-b", "complete")
	term.keys("q")
	term.gone("Actions since")
	term.keys("q")
	term.await("left with 0")
}
