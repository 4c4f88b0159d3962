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
