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

// With --stale, any server may respond. An old response must not replace the current leader with an earlier one.
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
		hang(r, 5*time.Second) // a server with old data responds immediately
		return 200, 9, before
	}
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		client := newClient(t, consulx.Config{Address: "consul.test", Stale: true, Transport: f})
		b := observeWith(t, client, Options{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		pass(time.Minute)
		for _, e := range b.of("a/leader") {
			if e.Session == "s1" || e.Type == election.Vacated {
				t.Errorf("an older state caused the event %+v, want no event", e)
			}
		}
		if asked := f.questions(); len(asked) > 40 {
			t.Errorf("%d queries in a minute, want at most 40", len(asked))
		}
		b.stop()
	})
}
