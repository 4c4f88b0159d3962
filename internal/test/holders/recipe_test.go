//go:build unix

package holders

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// guide is a candidate that follows Consul's leader election tutorial with plain requests: its session has no check
// except the default one, and its value is JSON.
type guide struct {
	s       *stage
	session string
	value   string
}

func newGuide(s *stage, name string) *guide {
	s.t.Helper()
	id, _, err := s.client().Session().Create(&api.SessionEntry{Name: "web", LockDelay: time.Second}, nil)
	must(s.t, err)
	s.t.Cleanup(func() { _, _ = s.client().Session().Destroy(id, nil) })
	return &guide{s: s, session: id, value: `{"Node":"` + name + `","Port":80}`}
}

// acquire sends one request with ?acquire=.
func (g *guide) acquire() bool {
	g.s.t.Helper()
	ok, _, err := g.s.client().KV().Acquire(&api.KVPair{Key: g.s.key, Value: []byte(g.value), Session: g.session}, nil)
	must(g.s.t, err)
	return ok
}

// If a holder refreshes its key with ?acquire=, its next write acquires the released key and begins a new term, even
// if other sessions wait for the key.
func TestRecipeThatRefreshesLeadsAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, "leader")
	g := newGuide(s, "web-1")
	if !g.acquire() {
		t.Fatal("not acquired")
	}
	h := s.act("release")
	pair := s.get()
	h.mustKeep(pair)
	if pair.Session != "" {
		t.Fatalf("the key is not unlocked: %+v", pair)
	}
	if !g.acquire() {
		t.Fatal("the next write did not acquire the key")
	}
	again := s.get()
	h.mustKeep(again)
	if again.Session != g.session || again.LockIndex != h.pair.LockIndex+1 {
		t.Errorf("the write did not begin a new term: %+v", again)
	}
}

// After a destroy, no write with the same session succeeds. During the lock-delay, Consul returns `false`, as for a
// key that another session holds; afterwards, Consul returns an error that contains the session's ID.
func TestRecipeAfterDestroy(t *testing.T) {
	t.Parallel()
	s := newStage(t, "leader")
	g := newGuide(s, "web-1")
	if !g.acquire() {
		t.Fatal("not acquired")
	}
	h := s.act("destroy")
	h.mustKeep(s.get())
	if s.sessionLives(g.session) {
		t.Error("the session still exists")
	}
	var err error
	await(t, "an error", func() bool {
		var ok bool
		if ok, _, err = s.client().KV().Acquire(&api.KVPair{Key: s.key, Session: g.session}, nil); ok {
			t.Fatal("the destroyed session acquired the key")
		}
		return err != nil
	})
	if !strings.Contains(err.Error(), "invalid session") {
		t.Error(err)
	}
	next := newGuide(s, "web-2")
	await(t, "the end of the lock-delay", next.acquire)
	h.successor()
}

// A holder that only renews its session does not detect the loss: the renewal also succeeds while another session
// leads.
func TestRecipeThatOnlyRenewsDoesNotNoticeTheLoss(t *testing.T) {
	t.Parallel()
	s := newStage(t, "leader")
	id, _, err := s.client().Session().CreateNoChecks(&api.SessionEntry{Name: "web", TTL: "15s"}, nil)
	must(t, err)
	t.Cleanup(func() { _, _ = s.client().Session().Destroy(id, nil) })
	old := &guide{s: s, session: id, value: `{"Node":"web-1"}`}
	if !old.acquire() {
		t.Fatal("not acquired")
	}
	h := s.act("release")
	if next := newGuide(s, "web-2"); !next.acquire() {
		t.Fatal("the next candidate did not acquire the key")
	}
	h.successor()
	for range 3 {
		if entry, _, err := s.client().Session().Renew(old.session, nil); err != nil || entry == nil {
			t.Errorf("the old holder's renewal returns %v, %v", entry, err)
		}
	}
}
