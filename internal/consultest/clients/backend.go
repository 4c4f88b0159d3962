// Package clients connects clients of package consulx to the backends of package consultest.
package clients

import (
	"testing"

	"electop/consulx"
	"electop/internal/consultest"
)

// Backend is a Consul agent for a test, with a client.
type Backend struct {
	consultest.Backend
	Client *consulx.Client
}

// OnBoth runs a test against the real Consul and against the in-process one.
func OnBoth(t *testing.T, test func(b Backend)) {
	t.Helper()
	consultest.OnBoth(t, func(t *testing.T, addr string) { test(New(t, consulx.Config{Address: addr})) })
}

// New returns the backend at the address of a configuration.
func New(t *testing.T, cfg consulx.Config) Backend {
	t.Helper()
	c := NewClient(t, cfg)
	return Backend{consultest.NewBackend(t, c.Address(), c.API()), c}
}

// NewClient returns a client that is closed at the end of the test.
func NewClient(t *testing.T, cfg consulx.Config) *consulx.Client {
	t.Helper()
	c, err := consulx.NewClient(cfg)
	consultest.Must(t, err)
	t.Cleanup(c.Close)
	return c
}
