package journey

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
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

// If a key was released with other flags, every api.Lock candidate fails until f sets the flags.
func TestFixSetsTheFlagsThatLocksExpect(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		kv := s.agent.Client().KV()
		lock := s.named(api.SessionEntry{Name: api.DefaultLockSessionName, TTL: "3600s"})
		s.acquire("mail", lock, "mail-a")
		if ok, _, err := kv.Release(&api.KVPair{Key: s.key("mail"), Session: lock, Value: []byte("mail-a"), Flags: 5}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		candidate, err := s.agent.Client().LockOpts(&api.LockOptions{Key: s.key("mail"), Session: lock, Value: []byte("mail-b")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := candidate.Lock(nil); err == nil {
			t.Fatal("Lock accepted the flags")
		}

		readOnly := s.open(width, height, "--read-only")
		readOnly.await("1 led", "1 vacant")
		readOnly.keys("f")
		readOnly.await("Read-only: fix is disabled")
		readOnly.keys("q")
		readOnly.await("left with 0")

		term := s.open(width, height)
		term.await("1 led", "1 vacant", "f fix…")
		term.keys("f")
		term.await("Fix mail", "lock flags", "no lock-delay is active", "y apply")
		term.keys("Enter") // Cancel
		term.await("Cancelled: nothing was changed.")
		if pair := s.get("mail"); pair.Flags != 5 {
			t.Fatalf("cancelled: %+v", pair)
		}
		term.keys("f")
		term.await("y apply")
		term.keys("y")
		term.await("fixed, no leader yet")
		if pair := s.get("mail"); pair.Flags != api.LockFlagValue || string(pair.Value) != "mail-a" {
			t.Fatalf("%+v", pair)
		}
		if _, err := candidate.Lock(nil); err != nil {
			t.Fatal(err)
		}
		term.await("2 led", "mail: mail-b leads ")
		term.keys("u")
		term.await("Actions since electop started", "fix ", "mail-b leads ", "complete")
		term.keys("Escape")
		term.gone("Actions since")
		term.keys("q")
		term.await("left with 0")
		if err := candidate.Unlock(); err != nil {
			t.Error(err)
		}
	})
}

// During a lock-delay, f only advises to wait. f destroys the session of a holder whose service has failed, and
// proposes nothing for a healthy election.
func TestFixOfOtherProblems(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		agent := s.agent.Client().Agent()
		lost := s.named(api.SessionEntry{Name: "mail-a", LockDelay: time.Minute, TTL: "3600s"})
		s.acquire("mail", lost, "mail-a")
		service := s.prefix + "-shop"
		if err := agent.ServiceRegister(&api.AgentServiceRegistration{Name: service, Check: &api.AgentServiceCheck{TTL: "1h", Status: "critical"}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = agent.ServiceDeregister(service) })
		orphan := s.named(api.SessionEntry{Name: service, LockDelay: time.Millisecond})
		s.acquire("shop", orphan, "shop-a")

		term := s.open(width, height)
		term.await("3 led", "mail-a", "shop-a", "web-a")
		if _, err := s.agent.Client().Session().Destroy(lost, nil); err != nil {
			t.Fatal(err)
		}
		term.await("1 lock-delay")
		term.keys("g", "f")
		term.await("Fix mail", "lock delay", "Wait until the lock-delay ends", "Consul rejects an acquire", "[ Close ]")
		term.keys("Escape")
		term.gone("Fix mail")

		term.keys("G", "f")
		term.await("web: no vacancy to fix. web-a leads")
		term.keys("k", "f")
		screen := term.await("Fix shop", "orphaned session", "Then destroy", "y apply")
		if !strings.Contains(screen, orphan[:8]) {
			t.Errorf("the session is missing:\n%s", screen)
		}
		term.keys("y")
		term.until("the end of the session", func(string) bool {
			e, _, err := s.agent.Client().Session().Info(orphan, nil)
			return err == nil && e == nil
		})
		s.acquire("shop", s.b, "shop-b")
		term.await("shop: shop-a → shop-b")
		term.keys("u")
		term.await("destroy", "shop-a → shop-b", "complete")
		s.held("web", s.a)
		term.keys("q")
		term.gone("Actions since")
		term.keys("q")
		term.await("left with 0")
	})
}
