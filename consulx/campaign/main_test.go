package campaign

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"electop/consulx"
	"electop/internal/consultest"
	"electop/internal/consultest/clients"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

const patience = consultest.Patience

var must = consultest.Must

type backend = clients.Backend

var onBoth, newClient = clients.OnBoth, clients.NewClient

// over returns a client that sends every request through rt.
func over(t *testing.T, rt http.RoundTripper) *consulx.Client {
	t.Helper()
	return newClient(t, consulx.Config{Address: "consul.test", Transport: rt})
}
