package observe

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

// A probe without a connection does not show that Consul is unreachable.
func TestALimitedProbeRestartsNothing(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(_ int, asked string, r *http.Request) (int, int, string) {
		if asked != "" {
			hang(r, time.Hour)
		}
		return 200, 7, oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(5500 * time.Millisecond)
		f.limited.Store(true)
		pass(10 * time.Second)
		b.connection(election.Live, "while the probe is refused")
		f.limited.Store(false)
		pass(10 * time.Second)
		if got, want := f.questions(), []string{"@0s", "7@0s"}; !slices.Equal(got, want) {
			t.Errorf("requested %q, want %q", got, want)
		}
	})
}

// If Consul has refused every connection since the start, the board must say why.
func TestALimitAtTheStartIsTheReason(t *testing.T) {
	f := &fakeConsul{}
	f.limited.Store(true)
	f.keys = func(int, string, *http.Request) (int, int, string) { return 429, 0, tooMany }
	inBubble(t, f, func(b *board) {
		pass(5 * time.Second)
		const want = "Consul refuses further connections from this host (429, http_max_conns_per_client)"
		if c := b.snapshot().Connection; c.State != election.Lost || c.Error != want {
			t.Errorf("the connection is %s: %s; want lost: %s", c.State, c.Error, want)
		}
	})
}

// If Consul refuses the connections of blocking queries, the observer reads the keys repeatedly.
func TestRefusedBlockingQueriesAreNoLoss(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(_ int, asked string, _ *http.Request) (int, int, string) {
		if asked != "" {
			return 429, 0, tooMany
		}
		return 200, 7, oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(time.Minute)
		b.connection(election.Live, "while blocked queries are refused")
		if n := len(f.questions()); n < 90 || n > 130 { // two queries every 1 to 1.3 s
			t.Errorf("%d queries in a minute, want 90 to 130", n)
		}
		if events := connectionEvents(b); len(events) != 0 {
			t.Errorf("got the connection events %v, want none", events)
		}
	})
}

// All queries restart several times, as after lost connections. Consul counts the connection of a cancelled query until
// the query's wait ends. The observer must not exceed its connections, and must report changes meanwhile.
func TestRestartedQueriesKeepToTheirConnections(t *testing.T) {
	withFixture(t, 3000, func(s *fixture) {
		const most = 64 - 5 // the others are for the probe and for reads that do not block
		var noQuorum atomic.Bool
		var counted, blocked atomic.Int64
		s.intercept = func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			wait := waitOf(r)
			switch {
			case noQuorum.Load() && r.URL.Path == "/v1/status/leader":
				return consultest.Answer(r, 200, 0, `""`), nil
			case wait == 0:
				return send()
			}
			if n := counted.Add(1); n > most {
				t.Errorf("Consul counts %d connections of blocking queries, want at most %d", n, most)
			}
			blocked.Add(1)
			defer blocked.Add(-1)
			ends := time.Now().Add(wait + wait/16)
			response, err := send()
			if err != nil {
				time.AfterFunc(time.Until(ends), func() { counted.Add(-1) })
			} else {
				counted.Add(-1)
			}
			return response, err
		}
		s.observe()
		const queries = 47 // of 46 shards and of the list of names
		s.board.until("all queries to block", func() bool { return blocked.Load() == queries })
		for range 3 {
			for _, lost := range []bool{true, false} {
				noQuorum.Store(lost)
				pass(time.Second)
			}
		}
		if n := blocked.Load(); n >= queries || counted.Load() != most {
			t.Errorf("%d of %d queries block and Consul counts %d connections, want fewer queries and %d connections", n, queries, counted.Load(), most)
		}
		session := s.Session()
		for _, i := range []int{0, 1400, 2999} {
			s.Acquire(api.KVPair{Key: numberedKey(i), Session: session})
			s.soon(1500*time.Millisecond, election.Elected, numberedKey(i)) // the pause between two reads is at most 1.3 s
		}
		s.board.connection(election.Live, "after the restarts")
		pass(time.Minute) // the waits of the cancelled queries end; the list of names pauses between two queries
		s.board.until("all queries to block", func() bool { return blocked.Load() == queries })
	})
}
