package consulx

import (
	"net/http"
	"testing"
	"time"

	"electop/internal/consultest"
)

func TestAListOfSessions(t *testing.T) {
	const list = `[{"ID":"a","Name":"web","Node":"n","TTL":"15s"},{"ID":"b"}]`
	for body, want := range map[string]int{list: 2, "[]": 0, list[:len(list)/2]: -1} {
		c := newClient(t, Config{Address: "consul.test", Datacenter: "dc2", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			return consultest.Answer(r, http.StatusOK, 7, body), nil
		})})
		found, _, err := c.ListSessions(c.Read(t.Context()))
		switch {
		case (err != nil) != (want < 0), len(found) != max(0, want):
			t.Errorf("%s: %v, %+v", body, err, found)
		case want > 0 && (found[0].Name != "web" || found[0].TTL != 15*time.Second || found[0].Datacenter != "dc2"):
			t.Errorf("%+v", found[0])
		}
	}
}
