package observe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func TestNoCauseIsClaimedWithoutPermission(t *testing.T) {
	root := underACLs(t)
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
		p := &trial{backend: root, node: fmt.Sprint("holder-", i), key: fmt.Sprintf("service/%d/leader", i)}
		scenario{}.begin(p)
		board := observe(t, with(t, root, c.rules))
		_, n := board.event(0, election.Elected, p.key)
		end := func() error { return p.register(p.nodeCheck(api.HealthCritical, "it broke")) }
		if c.release {
			end = func() error {
				_, _, err := root.API.KV().Release(&api.KVPair{Key: p.key, Session: p.session}, nil)
				return err
			}
		}
		must(t, end())
		e, _ := board.event(n, election.Explained, p.key)
		if e.Cause == election.CheckCritical || e.Cause == election.Released || !strings.Contains(e.Evidence, c.says) {
			t.Errorf("with %s: %s (%s)", c.rules, e.Cause, e.Evidence)
		}
	}
}
