package consulx

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"electop/internal/consultest"
)

// If the token does not exist, an ACL rule does not help.
func TestReadProblemDistinguishesARejectedToken(t *testing.T) {
	for body, want := range map[string]string{
		"ACL not found": "keys: Consul rejects this token",
		"Permission denied: token with AccessorID 'x' lacks permission 'key:read' on \"k\"": "keys: not readable with this token",
	} {
		c := newClient(t, Config{Address: "consul.test", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			return consultest.Answer(r, http.StatusForbidden, 1, body), nil
		})})
		_, _, err := c.KeyNames("k", c.Read(t.Context()))
		if got := ReadProblem("keys", c.Wrap(err)); got != want {
			t.Errorf("the error for %q is %q, want %q", body, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{context.Canceled, "interrupted"},
		{context.DeadlineExceeded, "request timed out"},
		{errors.New("a\nb\x1b"), "a b␛"},
		{NoQuorum(), "Consul has no consensus leader"},
	} {
		if got := Describe(c.err); got != c.want {
			t.Errorf("%v is described as %q, want %q", c.err, got, c.want)
		}
	}
}
