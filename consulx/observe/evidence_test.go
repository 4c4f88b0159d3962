package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// ending is a way for a term to end, with the expected cause.
type ending struct {
	name  string
	cause election.Cause
	says  string
	// begin returns the session that acquires the key. end ends the hold.
	begin func(b backend, name string) string
	end   func(b backend, key, session, name string) error
}

func endings() []ending {
	free := func(entry api.SessionEntry) func(backend, string) string {
		return func(b backend, _ string) string { return b.Session(b.T, &entry) }
	}
	destroy := func(b backend, _, session, _ string) error {
		_, err := b.API.Session().Destroy(session, nil)
		return err
	}
	return []ending{
		{
			name: "released", cause: election.Released, begin: free(api.SessionEntry{}),
			end: func(b backend, key, session, _ string) error {
				_, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil)
				return err
			},
		},
		{
			name: "deleted", cause: election.KeyDeleted, begin: free(api.SessionEntry{}),
			end: func(b backend, key, _, _ string) error { _, err := b.API.KV().Delete(key, nil); return err },
		},
		{name: "destroyed", cause: election.SessionDestroyed, begin: free(api.SessionEntry{}), end: destroy},
		{name: "destroyed with TTL", cause: election.SessionExpiredOrDestroyed, begin: free(api.SessionEntry{TTL: "60s"}), end: destroy},
		{
			name: "destroyed with behavior delete", cause: election.SessionDestroyed,
			begin: free(api.SessionEntry{Behavior: api.SessionBehaviorDelete}), end: destroy,
		},
		{
			name: "check critical", cause: election.CheckCritical, says: "it broke", begin: checked,
			end: func(b backend, _, _, name string) error {
				return b.API.Agent().UpdateTTL(name, "it broke", api.HealthCritical)
			},
		},
		{
			name: "check gone", cause: election.CheckGone, begin: checked,
			end: func(b backend, _, _, name string) error { return b.API.Agent().CheckDeregister(name) },
		},
		{
			name: "node gone", cause: election.NodeGone, begin: onNode,
			end: func(b backend, _, _, name string) error {
				_, err := b.API.Catalog().Deregister(&api.CatalogDeregistration{Node: name}, nil)
				return err
			},
		},
	}
}

// checked returns a session that depends on its own service check.
func checked(b backend, name string) string {
	registration := &api.AgentCheckRegistration{
		ID: name, Name: name, AgentServiceCheck: api.AgentServiceCheck{TTL: "1h", Status: api.HealthPassing},
	}
	if err := b.API.Agent().CheckRegister(registration); err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { _ = b.API.Agent().CheckDeregister(name) })
	// The agent registers its health checks in the catalog with a delay.
	deadline := time.Now().Add(patience)
	for {
		id, _, err := b.API.Session().Create(&api.SessionEntry{NodeChecks: []string{name}, LockDelay: time.Millisecond}, nil)
		if err == nil {
			return id
		}
		if time.Now().After(deadline) {
			b.T.Fatal(err)
		}
	}
}

// onNode returns a session on its own node.
func onNode(b backend, name string) string {
	if _, err := b.API.Catalog().Register(&api.CatalogRegistration{Node: name, Address: "10.9.9.9"}, nil); err != nil {
		b.T.Fatal(err)
	}
	return b.Session(b.T, &api.SessionEntry{Node: name})
}

func TestCauses(t *testing.T) {
	onBoth(t, func(b backend) {
		p := b.Prefix(b.T)
		board := observe(b.T, b.client, p+"*/leader")
		board.loaded()
		for i, c := range endings() {
			key := fmt.Sprint(p, i, "/leader")
			name := strings.NewReplacer("/", "-").Replace(fmt.Sprint(p, i))
			session := c.begin(b, name)
			b.Acquire(b.T, api.KVPair{Key: key, Session: session, Value: []byte("me")})
			_, n := board.event(0, election.Elected, key)
			board.until("its session", func() bool {
				e := board.last.Find(election.KeyID(key))
				return e != nil && e.Session != nil
			})
			if err := c.end(b, key, session, name); err != nil {
				b.T.Fatalf("%s: %v", c.name, err)
			}
			lost, n := board.event(n, election.Vacated, key)
			e, _ := board.event(n, election.Explained, key)
			if e.Cause != c.cause || !strings.Contains(e.Evidence, c.says) || e.Time.Sub(lost.Time) > time.Second {
				b.T.Errorf("%s: the reported cause is %s (%s) after %s; want %s (%s) within 1s", c.name, e.Cause, e.Evidence, e.Time.Sub(lost.Time), c.cause, c.says)
			}
		}
	})
}

func TestNoCauseIsClaimedWithoutPermission(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	const keys, sessions = `key_prefix "" { policy = "read" }`, `session_prefix "" { policy = "read" }`
	for i, c := range []struct {
		rules, says string
		release     bool
	}{
		{rules: keys, release: true, says: "sessions cannot be read with this token"},
		// Even without permission for sessions, a token can read that a session does not exist.
		{rules: keys, says: "its settings were never read"},
		{rules: keys + sessions, says: "cannot be read with this token"},
	} {
		key, check := fmt.Sprintf("service/%d/leader", i), fmt.Sprintf("check-%d", i)
		session := checked(root, check)
		board := observe(t, newClient(t, consulx.Config{Address: agent.Addr(), Token: root.Token(t, c.rules)}))
		board.loaded()
		root.Acquire(t, api.KVPair{Key: key, Session: session})
		_, n := board.event(0, election.Elected, key)
		var err error
		if c.release {
			_, _, err = root.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil)
		} else {
			err = root.API.Agent().UpdateTTL(check, "it broke", api.HealthCritical)
		}
		if err != nil {
			t.Fatal(err)
		}
		e, _ := board.event(n, election.Explained, key)
		if e.Cause == election.CheckCritical || e.Cause == election.Released || !strings.Contains(e.Evidence, c.says) {
			t.Errorf("with %s: %s (%s)", c.rules, e.Cause, e.Evidence)
		}
	}
}
