package observe

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
)

// With --stale, any server may respond. One that lags behind must not take a
// leader back that another server showed already.
func TestStaleResponsesDoNotGoBack(t *testing.T) {
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	before := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":1,"Session":"s1"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		query := r.URL.Query()
		switch {
		case query.Has("consistent"):
			return 200, 20, led
		case n == 0:
			return 200, 20, led
		case asked == "":
			return 200, 9, before
		}
		hang(r, 5*time.Second) // a server that lags behind responds at once
		return 200, 9, before
	}
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		client := newClient(t, consulx.Config{Address: "consul.test", Stale: true, Transport: f})
		b := observeWith(t, client, Options{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		pass(time.Minute)
		for _, e := range b.of("a/leader") {
			if e.Session == "s1" || e.Type == election.Vacated {
				t.Errorf("an older state was reported: %+v", e)
			}
		}
		if asked := f.questions(); len(asked) > 40 {
			t.Errorf("%d questions in a minute", len(asked))
		}
		b.stop()
	})
}
