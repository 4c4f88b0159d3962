package consulx

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/consultest"
)

// lookThrough reads the elections from a server that is not Consul.
func lookThrough(t *testing.T, handler http.HandlerFunc) error {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := newClient(t, Config{Address: server.Listener.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := client.KeyNames("service/", client.Read(ctx))
	return err
}

// probes returns a server that responds like Consul to all requests except reads of keys.
func probes(keys http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/status/leader":
			_, _ = io.WriteString(w, `"127.0.0.1:8300"`)
		case "/v1/agent/self":
			_, _ = io.WriteString(w, `{"Config":{"Datacenter":"dc1"}}`)
		default:
			keys(w, r)
		}
	}
}

func TestResponsesThatAreNotConsulsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name, index, body string
		status            int
	}{
		{"a proxy's 404", "", "<html>not found</html>", 404},
		{"an empty list without an index", "", "[]", 200},
		{"null without an index", "", "null", 200},
		{"an invalid index", "seven", "[]", 200},
		{"the index 0", "0", "[]", 200},
		{"HTML", "", "<html>log in</html>", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := lookThrough(t, probes(func(w http.ResponseWriter, _ *http.Request) {
				if c.index != "" {
					w.Header().Set("X-Consul-Index", c.index)
				}
				w.Header().Set("X-Consul-LastContact", "0")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			if err == nil || !strings.Contains(err.Error(), "the response is not Consul's") || !errors.Is(err, ErrUnreachable) {
				t.Errorf("got %v, want an error about a response that is not Consul's", err)
			}
		})
	}
}

func TestA403ThatNamesNoPermissionShowsItsOrigin(t *testing.T) {
	for body, want := range map[string]string{
		"<html>Forbidden</html>":               "Consul answered 403: <html>Forbidden</html>",
		"Endpoint is blocked by configuration": "Consul answered 403: Endpoint is blocked by configuration",
		"Permission denied: lacks 'key:read'":  "Permission denied: lacks 'key:read'",
		"":                                     "permission denied",
	} {
		err := lookThrough(t, probes(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, body)
		}))
		if !errors.Is(err, ErrDenied) || Describe(err) != want {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
	}
}

func TestResponsesThatAreNotJSONAreErrors(t *testing.T) {
	for body, want := range map[string]string{
		"[corrupt": "the response from Consul at consul.test is not valid JSON: ",
		"\x0e[":    "the response from Consul at consul.test is not valid JSON: ",
		`{"a":1}`:  "the response from Consul at consul.test has an unexpected form: ",
	} {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) { return consultest.Answer(r, 200, 7, body), nil }))
		_, _, keys := client.KeyNames("service/", client.Read(t.Context()))
		_, probe := client.ConsensusLeader(t.Context())
		for name, err := range map[string]error{"keys": keys, "probe": probe} {
			if text := Describe(err); !strings.HasPrefix(text, want) || len(text) == len(want) {
				t.Errorf("%s: the error for the response %q is %q, want %q and more", name, body, text, want)
			}
		}
	}
}

func TestDenialsAreNotFoundInTheNamesOfKeys(t *testing.T) {
	for text, want := range map[string]bool{
		"Permission denied: token with AccessorID 'x' lacks permission 'key:write' on \"a\"": true,
		"rpc error making call: rpc error making call: Permission denied":                    true,
		"ACL not found": true,
		`failed index check for key "Permission denied/leader", current modify index 5 != 4`: false,
		`failed to lock key "ACL not found" due to lock delay`:                               false,
	} {
		if got := denial(text); got != want {
			t.Errorf("denial(%q) = %t, want %t", text, got, want)
		}
	}
}

// Consul lists the keys of an empty store, the sessions and the checks of an unknown node as [].
func TestNullAndA404AreNoList(t *testing.T) {
	for body, status := range map[string]int{"null": 200, "[null]": 200, "": 404} {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) { return consultest.Answer(r, status, 7, body), nil }))
		_, sessions := client.AllSessions(client.Read(t.Context()))
		search := ScanStore(t.Context(), client, nil, func(election.Pair) {})
		checks := NodeChecks(t.Context(), client, "n").Err
		if sessions == nil && body != "null" || search == nil || checks == "" {
			t.Errorf("%d %q: sessions: %v, search: %v, checks: %q; want errors", status, body, sessions, search, checks)
		}
	}
}
