package consulx

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"electop/election"
	"electop/internal/consultest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

var must = consultest.Must

// backend is a Consul agent for a test, with a client.
type backend struct {
	consultest.Backend
	client *Client
}

// onBoth runs a test against the real Consul and against the in-process one.
func onBoth(t *testing.T, test func(b backend)) {
	t.Helper()
	consultest.OnBoth(t, func(t *testing.T, addr string) { test(newBackend(t, Config{Address: addr})) })
}

func newBackend(t *testing.T, cfg Config) backend {
	t.Helper()
	c := newClient(t, cfg)
	return backend{consultest.NewBackend(t, c.Address(), c.API()), c}
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// underACLs starts a Consul with ACLs, and returns its backend with all rights and a function that returns a client with
// other rules.
func underACLs(t *testing.T) (root backend, with func(rules string) *Client) {
	t.Helper()
	agent := consultest.Dev(t, consultest.WithACL())
	root = newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	return root, func(rules string) *Client {
		t.Helper()
		return newClient(t, Config{Address: agent.Addr(), Token: root.Token(rules)})
	}
}

// hold returns a new key that a new session holds. Its value is long, so that isRelease detects its release.
func (b backend) hold() election.Target {
	b.T.Helper()
	key := b.Prefix() + "web/.lock"
	b.Acquire(api.KVPair{Key: key, Session: b.Session(), Value: []byte(strings.Repeat("v", 500))})
	return targetOf(PairOf(b.Get(key)))
}

// through returns a client whose requests a proxy answers.
func (b backend) through(answer func(w http.ResponseWriter, r *http.Request, forward http.Handler)) *Client {
	b.T.Helper()
	return newClient(b.T, Config{Address: consultest.ReverseProxy(b.T, b.client.Address(), answer)})
}

// over returns a client that sends every request through rt.
func over(t *testing.T, rt http.RoundTripper) *Client {
	t.Helper()
	return newClient(t, Config{Address: "consul.test", Transport: rt})
}

var patterns = consultest.Patterns
