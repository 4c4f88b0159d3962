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

// The list of names, the checks of a node and the list of sessions are separate sources. If one of them fails, new
// elections may be missing, but no election may become stale.
func TestOtherSourcesReportTheirPart(t *testing.T) {
	consul := memconsul.New(memconsul.Config{})
	t.Cleanup(consul.Close)
	b := backend{Backend: consultest.Backend{T: t, API: over(t, consul).API()}}
	for i := range 300 {
		b.Put(fmt.Sprintf("web/%03d", i), "v")
	}
	var failing atomic.Bool
	client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if failing.Load() && (strings.HasPrefix(r.URL.Path, "/v1/health/node/") || r.URL.Path == "/v1/session/list" || r.URL.Query().Has("keys")) {
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
			slices.Sort(kinds)
			return slices.Equal(kinds, slices.Sorted(slices.Values(want))) && board.last.Connection.State == election.Live && board.last.CountStale() == 0
		}
	}
	board.until("all stale", stale(election.PartChecks, election.PartNames, election.PartSessions))
	b.Put("web/new", "v")
	board.o.WatchChecks(nil)
	board.until("no stale checks", stale(election.PartNames, election.PartSessions))
	failing.Store(false)
	board.until("nothing stale", stale())
	board.until("the new election", func() bool { return board.last.Find("web/new") != nil })
	for _, e := range board.of("") {
		t.Errorf("a stale part caused the event %s: %s; want no event", e.Type, e.Error)
	}
}
