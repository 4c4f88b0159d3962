package consulx

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"electop/election"
	"electop/internal/consultest"
)

// Responses that cannot be used are errors that show their origin.
func TestResponsesThatAreErrors(t *testing.T) {
	const foreign, found = "cannot reach Consul at consul.test: the response is not Consul's: ", "the response from Consul at consul.test "
	for _, c := range []struct {
		status      int
		index, body string
		kind        error
		want        string // the beginning of the error
	}{
		{404, "", "<html>not found</html>", ErrUnreachable, foreign},
		{200, "", "[]", ErrUnreachable, foreign},
		{200, "", "null", ErrUnreachable, foreign},
		{200, "seven", "[]", ErrUnreachable, foreign},
		{200, "0", "[]", ErrUnreachable, foreign},
		{200, "", "<html>log in</html>", ErrUnreachable, foreign},
		{403, "", "<html>Forbidden</html>", ErrDenied, "Consul answered 403: <html>Forbidden</html>"},
		{403, "", "Endpoint is blocked by configuration", ErrDenied, "Consul answered 403: Endpoint is blocked by configuration"},
		{403, "", "rpc error making call: Permission denied: lacks 'key:read'", ErrDenied, "Permission denied: lacks 'key:read'"},
		{403, "", "", ErrDenied, "permission denied"},
		{200, "7", "[corrupt", nil, found + "is not valid JSON: "},
		{200, "7", "\x0e[", nil, found + "is not valid JSON: "},
		{200, "7", `{"a":1}`, nil, found + "has an unexpected form: "},
	} {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			response := consultest.Answer(r, c.status, 0, c.body)
			response.Header.Set("X-Consul-Index", c.index)
			return response, nil
		}))
		_, _, err := client.KeyNames("service/", client.Read(t.Context()))
		if !strings.HasPrefix(Describe(err), c.want) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%d %q: %v, want %q", c.status, c.body, err, c.want)
		}
		if _, err := client.ConsensusLeader(t.Context()); c.kind == nil && !strings.HasPrefix(Describe(err), c.want) {
			t.Errorf("the probe: %d %q: %v, want %q", c.status, c.body, err, c.want)
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
	for body, status := range map[string]int{"null": 200, "[null]": 200, "[][]": 200, "": 404} {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) { return consultest.Answer(r, status, 7, body), nil }))
		_, sessions := client.Sessions(t.Context())
		search := ScanStore(t.Context(), client, nil, func(election.Pair) {})
		checks := client.Checks(t.Context(), []string{"n"})["n"].Err
		if sessions == nil || search == nil || checks == "" && body != "[][]" {
			t.Errorf("%d %q: sessions: %v, search: %v, checks: %q; want errors", status, body, sessions, search, checks)
		}
	}
}

func TestAResponseWhoseEndDoesNotArriveEndsTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			response, begin := consultest.Answer(r, http.StatusOK, 7, ""), "[]"
			if strings.Contains(r.URL.Path, "health") { // Consul's library does not read what follows a list
				begin = "["
			}
			response.Body = io.NopCloser(io.MultiReader(strings.NewReader(begin), readerFunc(func([]byte) (int, error) {
				<-r.Context().Done()
				return 0, r.Context().Err()
			})))
			return response, nil
		}))
		_, sessions := client.Sessions(t.Context())
		_, _, names := client.KeyNames("", client.Read(t.Context()))
		for what, problem := range map[string]string{"sessions": Describe(sessions), "names": Describe(names), "checks": client.Checks(t.Context(), []string{"n"})["n"].Err} {
			if !strings.Contains(problem, "request timed out") {
				t.Errorf("%s: %q", what, problem)
			}
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(to []byte) (int, error) { return f(to) }
