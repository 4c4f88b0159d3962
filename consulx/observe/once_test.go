package observe

import (
	"net/http"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/consultest"
)

// A session that could not be read differs from one that the token cannot read: the caller's conclusions from the
// second would be false for the first.
func TestOnceFailsWhenASessionCannotBeRead(t *testing.T) {
	client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.URL.Path == "/v1/status/leader":
			return consultest.Answer(r, 200, 0, `"10.0.0.1:8300"`), nil
		case strings.HasPrefix(r.URL.Path, "/v1/kv/"):
			return consultest.Answer(r, 200, 7, `[{"Key":"service/web/leader","Session":"s","ModifyIndex":7,"CreateIndex":7,"LockIndex":1}]`), nil
		case strings.HasPrefix(r.URL.Path, "/v1/session/"):
			return consultest.Answer(r, 500, 0, "rpc error getting client"), nil
		}
		return consultest.Answer(r, 200, 7, `{"Config":{"Datacenter":"dc1"}}`), nil
	}))
	snapshot, err := Once(t.Context(), client, patterns(t, election.DefaultPattern))
	if err == nil || !strings.Contains(err.Error(), "Consul answered 500") {
		t.Errorf("got %+v, %v; want the error of the session", snapshot, err)
	}
}
