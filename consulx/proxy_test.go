package consulx

import (
	"net/http"
	"strings"
	"testing"

	"electop/internal/consultest"
)

// cutConnection closes the connection of a request without a response.
func cutConnection(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// isRelease and isDestroy recognize an operator's writes.
func isRelease(r *http.Request) bool {
	return r.Method == http.MethodPut && (r.URL.Query().Has("release") || r.URL.Path == "/v1/txn" && r.ContentLength > 400)
}

func isDestroy(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/session/destroy/") }

// hooked returns a client of addr. A hook handles its requests first.
func hooked(t *testing.T, addr string) (*Client, *consultest.Hook) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: DefaultConnections}
	t.Cleanup(transport.CloseIdleConnections)
	hook := &consultest.Hook{Next: transport}
	return newClient(t, Config{Address: addr, Transport: hook}), hook
}
