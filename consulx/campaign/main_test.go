package campaign

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"electop/consulx"
	"electop/internal/consultest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

const patience = consultest.Patience

var must = consultest.Must

// backend is a Consul agent for a test, with a client.
type backend struct {
	consultest.Backend
	client *consulx.Client
}

// onBoth runs a test against the real Consul and against the in-process one.
func onBoth(t *testing.T, test func(b backend)) {
	t.Helper()
	consultest.OnBoth(t, func(t *testing.T, addr string) { test(newBackend(t, consulx.Config{Address: addr})) })
}

func newBackend(t *testing.T, cfg consulx.Config) backend {
	t.Helper()
	c := newClient(t, cfg)
	return backend{consultest.NewBackend(t, c.Address(), c.API()), c}
}

func newClient(t *testing.T, cfg consulx.Config) *consulx.Client {
	t.Helper()
	c, err := consulx.NewClient(cfg)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// over returns a client that sends every request through rt.
func over(t *testing.T, rt http.RoundTripper) *consulx.Client {
	t.Helper()
	return newClient(t, consulx.Config{Address: "consul.test", Transport: rt})
}
