package observe

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// The cache must drop sessions that no longer exist, even if no key refers to them.
func TestSessionsWithoutElectionsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		client, err := consulx.NewClient(consulx.Config{Address: "consul.test", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			n++
			return consultest.Answer(r, 200, 7, fmt.Sprintf(`[{"ID":"s%d"}]`, n)), nil
		})})
		must(t, err)
		b := New(client, Options{Wait: 2 * time.Minute}).sessions
		b.known["leads"] = &election.Session{ID: "leads"}
		b.Holding("keys", []*election.Pair{{Session: "leads"}})
		for range 60 {
			<-time.NewTimer(10 * time.Second).C
			_, err := b.List(t.Context())
			must(t, err)
		}
		n-- // the next list has the same session as the latest one
		before := b.Get(fmt.Sprintf("s%d", n+1))
		if again, err := b.List(t.Context()); err != nil || again[0] != before || b.Get(before.ID) != before {
			t.Errorf("%v: the list has a copy of a known session", err)
		}
		if len(b.known)+len(b.older) > 30 || b.Get("leads") == nil || b.Get("s59") == nil {
			t.Errorf("the cache keeps %d current and %d older sessions; want at most 30, with the held and the newest ones", len(b.known), len(b.older))
		}
	})
}
