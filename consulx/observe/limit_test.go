package observe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

const (
	// limitedConns is the number of connections of each observer of these tests, and limitedWait the wait of their
	// queries.
	limitedConns = 24
	limitedWait  = 6 * time.Second
	// limitedBound is the time until Consul counts no connection of a cancelled query: the wait, its extension of a
	// sixteenth, and the time after which electop assumes that.
	limitedBound = limitedWait + limitedWait/16 + 4*time.Second
)

// limited is a Consul that accepts few connections per address, and two observers of its elections.
type limited struct {
	consultest.Backend
	keys   []string
	boards []*board
}

// newLimited starts the observers. The elections are enough to use all queries of an observer. Consul accepts a few
// connections more than the observers may use.
func newLimited(t *testing.T) *limited {
	t.Helper()
	const few = 4
	config := fmt.Sprintf(`limits { http_max_conns_per_client = %d }`, 2*limitedConns+few)
	agent := consultest.Dev(t, consultest.WithConfig(config))
	l := &limited{Backend: consultest.NewBackend(t, agent.Addr(), agent.Client())}
	session := l.Session(t, &api.SessionEntry{Name: "leader"})
	for i := range 1500 {
		l.keys = append(l.keys, fmt.Sprintf("service/%c%03d/leader", 'a'+i%10, i))
		l.Acquire(t, api.KVPair{Key: l.keys[i], Session: session})
	}
	for range 2 {
		client := newClient(t, consulx.Config{Address: l.Addr, MaxConnections: limitedConns})
		b := observeWith(t, client, Options{Patterns: patterns(t, election.DefaultPattern), Wait: limitedWait})
		b.loaded()
		b.until("enough shards", func() bool {
			b.o.checks.mu.Lock()
			defer b.o.checks.mu.Unlock()
			return b.o.checks.limit <= 8
		})
		l.boards = append(l.boards, b)
	}
	return l
}

// during runs a function while a third client opens connections. It counts those that Consul refuses.
func (l *limited) during(do func()) (refusals int) {
	ctx, cancel := context.WithCancel(l.T.Context())
	var client sync.WaitGroup
	client.Go(func() {
		transport := &http.Transport{DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr+"/v1/status/leader", nil)
			if err != nil {
				l.T.Error(err)
				return
			}
			response, err := transport.RoundTrip(r)
			switch {
			case ctx.Err() != nil && err != nil:
				return
			case err != nil:
				refusals++
			default:
				_ = response.Body.Close()
				if response.StatusCode != http.StatusOK {
					refusals++
				}
			}
			wait(ctx, 50*time.Millisecond)
		}
	})
	do()
	cancel()
	client.Wait()
	return refusals
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// losses returns why the connection of a board was lost.
func losses(b *board) (texts []string) {
	for _, e := range b.of("") {
		if e.Type == election.ConnectionLost {
			texts = append(texts, e.Error)
		}
	}
	return texts
}

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
		f.setLimited(true)
		pass(10 * time.Second)
		if c := b.snapshot().Connection; c.State != election.Live {
			t.Errorf("while the probe is refused, the connection is %s: %s; want live", c.State, c.Error)
		}
		f.setLimited(false)
		pass(10 * time.Second)
		if got, want := f.questions(), []string{"@0s", "7@0s"}; !slices.Equal(got, want) {
			t.Errorf("requested %q, want %q", got, want)
		}
	})
}

// If Consul has refused every connection since the start, the board must say why.
func TestALimitAtTheStartIsTheReason(t *testing.T) {
	f := &fakeConsul{limited: true}
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
		if c := b.snapshot().Connection; c.State != election.Live || len(c.Stale) > 0 {
			t.Errorf("the connection is %s: %s, stale %v; want live without stale parts", c.State, c.Error, c.Stale)
		}
		if n := len(f.questions()); n < 90 || n > 130 { // two queries every 1 to 1.3 s
			t.Errorf("%d queries in a minute, want 90 to 130", n)
		}
		if events := connectionEvents(b); len(events) != 0 {
			t.Errorf("got the connection events %v, want none", events)
		}
	})
}

// All queries restart several times, as after lost connections. Consul counts the cancelled ones until their waits
// end. The observers must not exceed their connections, and must report changes meanwhile.
func TestRestartedQueriesKeepToTheirConnections(t *testing.T) {
	l := newLimited(t)
	refusals := l.during(func() {
		for range 3 {
			for _, b := range l.boards {
				b.o.mu.Lock()
				restart := b.o.restart
				b.o.mu.Unlock()
				restart()
			}
			wait(t.Context(), 300*time.Millisecond)
		}
		session := l.Session(t, &api.SessionEntry{Name: "next"})
		for _, key := range []string{l.keys[0], l.keys[700], l.keys[1499]} {
			n := []int{l.boards[0].count(), l.boards[1].count()}
			held := l.Get(t, key)
			if _, _, err := l.API.KV().Release(held, nil); err != nil {
				t.Fatal(err)
			}
			l.Acquire(t, api.KVPair{Key: key, Session: session})
			start := time.Now()
			for i, b := range l.boards {
				_, _ = b.event(n[i], election.Elected, key)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("the change of %s was reported after %s, want at most the pause of 1.3s between two reads", key, took)
			}
		}
		for _, b := range l.boards {
			b.until("no stale part", func() bool { return b.last.Connection.State == election.Live && len(b.last.Connection.Stale) == 0 })
		}
		wait(t.Context(), limitedBound)
	})
	if refusals > 0 {
		t.Errorf("Consul refused %d connections, because the observers used more than %d each", refusals, limitedConns)
	}
	for i, b := range l.boards {
		if lost := losses(b); len(lost) > 0 {
			t.Errorf("observer %d lost its connection: %q", i, lost)
		}
	}
}
