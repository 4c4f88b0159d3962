package observe

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
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

// A new consensus leader may respond with an older state while it replays its log. A consistent read waits until the
// replay has ended.
func TestALeaderThatReplaysItsLogRestoresNoEarlierLeader(t *testing.T) {
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	before := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":1,"Session":"s1"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case n == 0 || r.URL.Query().Has("consistent"):
			return 200, 20, led
		case asked != "" && n < 4:
			hang(r, 5*time.Second)
			return 500, 0, "No cluster leader"
		case asked == "" && time.Since(f.start) < 20*time.Second:
			return 200, 9, before
		}
		hang(r, waitOf(r))
		return 200, 20, led
	}
	inBubble(t, f, func(b *board) {
		pass(time.Minute)
		for _, e := range b.of("a/leader") {
			if e.Session == "s1" || e.Type == election.Vacated {
				t.Errorf("an older state caused the event %+v, want no event", e)
			}
		}
	})
}

// The bounds for the time of a change during an outage must be known, even if an outdated response was dropped first.
func TestADroppedResponseKeepsTheGap(t *testing.T) {
	vacant := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2`)
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case n == 0:
			return 200, 20, led
		case r.URL.Query().Has("consistent"):
			return 200, 30, strings.ReplaceAll(vacant, `"ModifyIndex":5`, `"ModifyIndex":30`)
		case asked == "20":
			hang(r, 5*time.Second)
			return 500, 0, "No cluster leader"
		case asked == "":
			return 200, 9, oneKey
		}
		hang(r, waitOf(r))
		return 200, 30, strings.ReplaceAll(vacant, `"ModifyIndex":5`, `"ModifyIndex":30`)
	}
	inBubble(t, f, func(b *board) {
		pass(time.Minute)
		e, _ := b.event(0, election.Vacated, "a/leader")
		if e.HeldKnown {
			t.Errorf("the duration of a term that ended in a gap is reported as known: %+v", e)
		}
	})
}

// A query that replaces others must inherit the newest index of their responses and drop older responses, such as
// those of a leader that replays its log.
func TestTheNewestIndexIsInherited(t *testing.T) {
	withFixture(t, 300, func(s *fixture) {
		held := api.KVPair{Key: numberedKey(7), Session: s.Session(t, &api.SessionEntry{})}
		old := &outdated{agent: s.agent}
		old.record(t, "service/")
		s.intercept = func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if asksPrefix(r, "service/") && old.on.Load() && !r.URL.Query().Has("consistent") {
				old.used.Store(true)
				return consultest.Answer(r, 200, old.index, old.body), nil
			}
			return send()
		}
		s.rearrange(prefixWatch("service/0"), prefixWatch("service/1"), prefixWatch("service/2"))
		s.observe()
		s.Acquire(t, held)
		s.soon(soonSeen, election.Elected, held.Key)
		old.on.Store(true)
		s.rearrange(prefixWatch("service/"))
		s.delete(numberedKey(250)) // the deletion requests a new layout
		s.board.until("an outdated response", old.used.Load)
		pass(100 * time.Millisecond)
		old.on.Store(false)
		pass(5 * time.Second)
		for _, e := range s.board.of(held.Key) {
			if e.Type == election.Vacated && !e.Initial {
				t.Errorf("an older state caused the event %+v, want no event", e)
			}
		}
	})
}

// outdated is an old response for a prefix.
type outdated struct {
	agent    http.RoundTripper
	index    int
	body     string
	on, used atomic.Bool
}

func (o *outdated) record(t *testing.T, prefix string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://consul.test/v1/kv/"+prefix+"?recurse=", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := o.agent.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	o.body = string(body)
	if o.index, err = strconv.Atoi(response.Header.Get("X-Consul-Index")); err != nil {
		t.Fatal(err)
	}
}
