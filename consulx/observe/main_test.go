package observe

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
	"electop/internal/consultest/clients"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

var must = consultest.Must

const patience = consultest.Patience

type backend = clients.Backend

var onBoth, newBackend, newClient = clients.OnBoth, clients.New, clients.NewClient

// underACLs starts a Consul with ACLs, and returns its backend with all rights.
func underACLs(t *testing.T) backend {
	t.Helper()
	agent := consultest.Dev(t, consultest.WithACL())
	return newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
}

// with returns a client with other rules.
func with(t *testing.T, b backend, rules string) *consulx.Client {
	t.Helper()
	return newClient(t, consulx.Config{Address: b.Addr, Token: b.Token(rules)})
}

// over returns a client that sends every request through rt.
func over(t *testing.T, rt http.RoundTripper) *consulx.Client {
	t.Helper()
	return newClient(t, consulx.Config{Address: "consul.test", Transport: rt, MaxConnections: 64})
}

var patterns = consultest.Patterns

// hooked returns a client of addr. A hook handles its requests first.
func hooked(t *testing.T, addr string) (*consulx.Client, *consultest.Hook) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	hook := &consultest.Hook{Next: transport}
	return newClient(t, consulx.Config{Address: addr, Transport: hook}), hook
}

func isDestroy(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/session/destroy/") }

func targetOf(p election.Pair) election.Target {
	e := election.Election{Exists: true, Pair: p, Term: p.LockIndex}
	return e.Target()
}

func hasSession(all []*election.Session, id string) bool {
	return slices.ContainsFunc(all, func(s *election.Session) bool { return s.ID == id })
}
