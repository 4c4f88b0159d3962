package observe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// The connection of one shard fails silently, while the probe and the other shard succeed. Within 30 s after a missed
// change, the elections of the failed shard must be stale. The connection must count as live, and the elections of the
// other shard as current.
func TestOneSilentShardMakesItsPartStale(t *testing.T) {
	var dead atomic.Bool
	dead.Store(true)
	f := &fakeConsul{}
	f.keys = func(_ int, asked string, r *http.Request) (int, int, string) {
		prefix := strings.TrimPrefix(r.URL.Path, "/v1/kv/")
		index, body := 7, strings.ReplaceAll(oneKey, "a/", prefix)
		if prefix == "b/" && time.Since(f.start) > time.Second {
			index, body = 8, strings.ReplaceAll(body, `"ModifyIndex":5`, `"ModifyIndex":8,"Session":"s"`)
		}
		switch {
		case prefix == "b/" && dead.Load() && (asked != "" || time.Since(f.start) > time.Second):
			hang(r, time.Hour)
		case asked == fmt.Sprint(index):
			hang(r, waitOf(r))
		}
		return 200, index, body
	}
	options := Options{Patterns: patterns(t, "a/*", "b/*")}
	inBubbleWith(t, f, options, func(b *board) {
		pass(30 * time.Second)
		s := b.snapshot()
		since, stale := s.StaleSince("b/leader")
		if !stale || !since.Equal(f.start) || s.CountStale() != 1 || s.Connection.State != election.Live {
			t.Errorf("after 30s: stale: %v since %s; connection %+v; want only this election stale, since the start, and the connection live", stale, since, s.Connection)
		}
		if _, stale := s.StaleSince("a/leader"); stale {
			t.Error("the election of the other shard is stale, want it to be current")
		}
		pass(time.Minute) // the next attempts also fail
		if s := b.snapshot(); s.Connection.State != election.Live || s.CountStale() != 1 {
			t.Errorf("after further attempts, the connection is %+v; want it live with one stale election", s.Connection)
		}
		dead.Store(false)
		pass(time.Minute)
		if s := b.snapshot(); len(s.Connection.Stale) > 0 || !s.Find("b/leader").Pair.Held() {
			t.Errorf("after the shard's query succeeded, the connection is %+v; want no stale part, and the new leader", s.Connection)
		}
		for _, e := range b.of("") {
			t.Errorf("a stale part caused the event %s: %s; want no event", e.Type, e.Error)
		}
	})
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The list of names, the checks of a node and the list of sessions are separate sources. If one of them fails, no
// election may become stale.
func TestOtherSourcesReportTheirPart(t *testing.T) {
	consul := memconsul.New(memconsul.Config{})
	t.Cleanup(consul.Close)
	b := backend{Backend: consultest.Backend{T: t, API: over(t, consul).API()}}
	b.Put(t, "web/leader", "v")
	var failing atomic.Bool
	client := over(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		if failing.Load() && (strings.HasPrefix(r.URL.Path, "/v1/health/node/") || r.URL.Path == "/v1/session/list") {
			return consultest.Answer(r, 500, 0, "rpc error making call"), nil
		}
		return consul.RoundTrip(r)
	}))
	failing.Store(true)
	board := observe(t, client, "web/*")
	board.loaded()
	board.o.WatchChecks([]string{"node-1"})
	board.o.WatchSessions(true)
	stale := func(want ...election.PartKind) func() bool {
		return func() bool {
			var kinds []election.PartKind
			for _, p := range board.last.Connection.Stale {
				kinds = append(kinds, p.Kind)
			}
			return slices.Equal(kinds, want) && board.last.Connection.State == election.Live && board.last.CountStale() == 0
		}
	}
	board.until("stale checks and sessions", stale(election.PartChecks, election.PartSessions))
	board.o.WatchChecks(nil)
	board.until("stale sessions only", stale(election.PartSessions))
	failing.Store(false)
	board.until("nothing stale", stale())
	for _, e := range board.of("") {
		t.Errorf("a stale part caused the event %s: %s; want no event", e.Type, e.Error)
	}
}

// If the list of names cannot be read, new elections may be missing, but the known elections remain current.
func TestAFailingListOfKeysIsAStalePart(t *testing.T) {
	consul := memconsul.New(memconsul.Config{})
	t.Cleanup(consul.Close)
	b := backend{Backend: consultest.Backend{T: t, API: over(t, consul).API()}}
	for i := range 300 {
		b.Put(t, fmt.Sprintf("web/%03d", i), "v")
	}
	var failing atomic.Bool
	client := over(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		if failing.Load() && r.URL.Query().Has("keys") {
			return consultest.Answer(r, 500, 0, "rpc error making call"), nil
		}
		return consul.RoundTrip(r)
	}))
	board := observe(t, client, "web/*")
	board.loaded()
	failing.Store(true)
	b.Put(t, "web/new", "v") // the write ends the blocking query
	board.until("a stale list", func() bool {
		c := board.last.Connection
		return len(c.Stale) == 1 && c.Stale[0].Kind == election.PartNames && c.State == election.Live && board.last.CountStale() == 0
	})
	failing.Store(false)
	board.until("nothing stale", func() bool { return len(board.last.Connection.Stale) == 0 && board.last.Find("web/new") != nil })
}
