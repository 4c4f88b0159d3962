package consulx

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"electop/internal/consultest"
)

// proxied starts a proxy in front of a Consul and gives its address. handle gets
// every request and the handler that forwards it.
func proxied(t *testing.T, addr string, handle func(w http.ResponseWriter, r *http.Request, forward http.Handler)) string {
	t.Helper()
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	transport := &http.Transport{}
	forward.Transport = transport
	forward.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server closes a body when the response begins, which a proxy that
		// still reads it takes for an error.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r, forward)
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return strings.TrimPrefix(s.URL, "http://")
}

// cutConnection closes the connection of a request without an answer.
func cutConnection(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// isRelease and isDestroy recognise the writes of an operator.
func isRelease(r *http.Request) bool {
	return r.Method == http.MethodPut && (r.URL.Query().Has("release") || r.URL.Path == "/v1/txn" && r.ContentLength > 400)
}

func isDestroy(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/session/destroy/") }

// hooked makes a client of addr whose requests pass a hook first.
func hooked(t *testing.T, addr string) (*Client, *consultest.Hook) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: defaultConns}
	t.Cleanup(transport.CloseIdleConnections)
	hook := &consultest.Hook{Next: transport}
	return newClient(t, Config{Address: addr, Transport: hook}), hook
}
