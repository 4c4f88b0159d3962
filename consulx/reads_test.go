package consulx

import (
	"net/http"
	"testing"

	"electop/internal/consultest"
)

func TestOnlyReadsOfTheBoardAreStale(t *testing.T) {
	asked := map[string]string{}
	c := newClient(t, Config{Address: "consul.test", Stale: true, Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		asked[r.URL.Path] = r.URL.RawQuery
		return consultest.Answer(r, 200, 1, "[]"), nil
	})})
	_, _, _ = c.KeyNames("k", c.Read(t.Context()))
	_, _ = c.session(t.Context(), "s")
	_, _ = c.ReadKey(t.Context(), "k")
	_, _, _ = c.Urgent().KeyNames("urgent", c.Urgent().Read(t.Context())) // for an action
	want := map[string]string{"/v1/kv/k": "keys=&stale=", "/v1/kv/urgent": "keys=", "/v1/session/info/s": "consistent=", "/v1/txn": "consistent="}
	for path, query := range want {
		if asked[path] != query {
			t.Errorf("%s was requested with the query %q, want %q", path, asked[path], query)
		}
	}
}
