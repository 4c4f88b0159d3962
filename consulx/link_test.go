package consulx

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/memconsul"
)

// One shard's connection dies silently while the probe and the other shard are
// fine. Its part of the board is stale before a change is 30 s old that it does not
// report; the connection is not lost, and nothing is said of the other part.
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
		case prefix == "b/" && time.Since(f.start)+waitOf(r) > 0 && dead.Load():
			hang(r, time.Hour)
		case asked == fmt.Sprint(index):
			hang(r, waitOf(r))
		}
		return 200, index, body
	}
	options := ObserverOptions{Patterns: patterns(t, "a/*", "b/*")}
	inBubbleWith(t, f, options, func(b *board) {
		pass(30 * time.Second)
		s := b.snapshot()
		since, stale := s.StaleSince("b/leader")
		if !stale || !since.Equal(f.start) || s.CountStale() != 1 || s.Connection.State != election.Live {
			t.Errorf("after 30s: stale %v since %s, %+v", stale, since, s.Connection)
		}
		if _, stale := s.StaleSince("a/leader"); stale {
			t.Error("the part of the other shard is stale, too")
		}
		pass(time.Minute) // the next attempts fail as well
		if s := b.snapshot(); s.Connection.State != election.Live || s.CountStale() != 1 {
			t.Errorf("after further attempts: %+v", s.Connection)
		}
		dead.Store(false)
		pass(time.Minute)
		if s := b.snapshot(); len(s.Connection.Stale) > 0 || !s.Find("b/leader").Pair.Held() {
			t.Errorf("after it recovered: %+v", s.Connection)
		}
		for _, e := range b.of("") {
			t.Errorf("%s was reported for a part: %s", e.Type, e.Error)
		}
	})
}

// The same over real connections: a proxy holds back everything for one prefix.
func TestProxyThatSilencesOneShard(t *testing.T) {
	consul, err := memconsul.Start(memconsul.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = consul.Close() })
	b := newBackend(t, Config{Address: consul.Addr()})
	session := b.session(t, &api.SessionEntry{Name: "s"})
	for _, key := range []string{"mail/leader", "web/leader"} {
		b.acquire(t, api.KVPair{Key: key, Session: session})
	}
	var dead atomic.Bool
	addr := proxied(t, consul.Addr(), func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if dead.Load() && strings.HasPrefix(r.URL.Path, "/v1/kv/mail/") {
			<-r.Context().Done()
			return
		}
		forward.ServeHTTP(w, r)
	})
	board := observeWith(t, newClient(t, Config{Address: addr}), ObserverOptions{
		Patterns: patterns(t, "mail/*", "web/*"), Wait: 500 * time.Millisecond,
	})
	board.loaded()
	dead.Store(true)
	board.until("a stale part", func() bool {
		_, mail := board.last.StaleSince("mail/leader")
		_, web := board.last.StaleSince("web/leader")
		return mail && !web && board.last.Connection.State == election.Live && board.last.CountStale() == 1
	})
	n := board.count()
	b.acquire(t, api.KVPair{Key: "web/other", Session: session})
	_, _ = board.event(n, election.Elected, "web/other")
	for _, e := range board.of("") {
		t.Errorf("%s was reported for a part: %s", e.Type, e.Error)
	}
}
