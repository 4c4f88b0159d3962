package consulx

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"electop/election"
	"electop/internal/consultest"
)

// answering returns a client whose requests all receive the current response of status and body, and their number.
func answering(t *testing.T, status *int, body *string) (c *Client, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	return over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		return consultest.Answer(r, *status, 0, *body), nil
	})), requests
}

// known reports whether Consul reports the permissions for each of two keys.
func known(t *testing.T, op *Operator) bool {
	t.Helper()
	all := true
	for _, key := range []string{"service/a/leader", "service/b/leader"} {
		missing, err := op.Rights(t.Context(), election.Target{Key: key, Node: "n"})
		if err != nil {
			t.Error(err)
		}
		all = all && missing != nil
	}
	return all
}

const allowed = `[{"Allow": true}, {"Allow": true}]`

// Consul logs an error for each request about permissions while ACLs are off, so electop must not send one for each
// selected election.
func TestPermissionsAreRarelyReadWhileACLsAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, body := http.StatusUnauthorized, "ACL support disabled"
		c, requests := answering(t, &status, &body)
		op := NewOperator(c, nil)
		if known(t, op) || requests.Load() != 1 {
			t.Errorf("%d requests, want 1, and unknown permissions", requests.Load())
		}
		status, body = http.StatusOK, allowed
		if known(t, op) || requests.Load() != 1 {
			t.Errorf("%d requests, want 1, and unknown permissions", requests.Load())
		}
		<-time.After(11 * time.Minute) //nolint:forbidigo // in synctest
		if !known(t, op) || requests.Load() != 3 {
			t.Errorf("%d requests, want 3, and known permissions", requests.Load())
		}
	})
}

// ACLs may have been enabled since an earlier request.
func TestDoctorAlwaysReadsWhetherACLsAreOn(t *testing.T) {
	status, body := http.StatusUnauthorized, "ACL support disabled"
	c, _ := answering(t, &status, &body)
	known(t, NewOperator(c, nil))
	status, body = http.StatusForbidden, "Permission denied"
	report, err := Doctor(t.Context(), c, nil)
	must(t, err)
	for _, row := range report.Rows {
		if strings.Contains(row.Detail, "off") {
			t.Errorf("%s: %s", row.Subject, row.Detail)
		}
	}
}
