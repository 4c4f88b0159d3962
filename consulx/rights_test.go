package consulx_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
)

// roundTripper answers requests without a network, so that the test can use synthetic time.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Consul logs an error for each request about permissions while ACLs are off, so electop must not send one for each
// selected election.
func TestPermissionsAreRarelyReadWhileACLsAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		c, err := consulx.NewClient(consulx.Config{Address: "127.0.0.1:1", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return &http.Response{StatusCode: http.StatusUnauthorized, Request: r, Body: io.NopCloser(strings.NewReader("ACL support disabled"))}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		op := consulx.NewOperator(c, nil)
		ask := func(want int64) {
			t.Helper()
			for _, key := range []string{"service/a/leader", "service/b/leader"} {
				rights, err := op.Rights(t.Context(), election.Target{Key: key, Node: "n"})
				if err != nil || rights.Known {
					t.Errorf("permissions of %s: %+v, error %v; want unknown", key, rights, err)
				}
			}
			if got := requests.Load(); got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
		}
		ask(1)
		<-time.After(11 * time.Minute) //nolint:forbidigo // in synctest; ACLs may be on by then
		ask(2)
	})
}
