package observe

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/feed"
	"electop/internal/memconsul"
)

// Each of these tests covers one problem in the replacement of one shard by another.

// fixture is an in-process agent with many elections, and an observer that divides them into shards. Both run in a
// synctest bubble.
type fixture struct {
	t     *testing.T
	agent *memconsul.Agent
	backend
	board *board
	// intercept, if set, can change every request of the observer and its response.
	intercept func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error)
	// arrange, if set, selects the next layout instead of the observer.
	arrange atomic.Pointer[arrangement]
	layouts atomic.Int64 // number of layouts that differ from the previous layout
}

func (s *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	send := func() (*http.Response, error) { return s.agent.RoundTrip(r) }
	if s.intercept != nil {
		return s.intercept(r, send)
	}
	return send()
}

// withFixture runs a test with n keys service/<000>/leader.
func withFixture(t *testing.T, n int, test func(s *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &fixture{t: t, agent: memconsul.New(memconsul.Config{})}
		defer s.agent.Close()
		s.backend = backend{Backend: consultest.Backend{T: t, API: over(t, s.agent).API()}}
		for i := range n {
			s.Put(numberedKey(i), "v")
		}
		test(s)
		s.board.stop()
	})
}

func numberedKey(i int) string { return fmt.Sprintf("service/%03d/leader", i) }

// observe starts an observer. If there are many keys, it waits until they are divided into shards.
func (s *fixture) observe() {
	s.board = observeWith(s.T, over(s.T, s), Options{Patterns: patterns(s.T, "service/**/leader")}, func(o *Observer) {
		next := o.arrange
		o.arrange = func(l layout, keys []listedKey, present []watch) []watch {
			var want []watch
			if arrange := s.arrange.Load(); arrange != nil {
				want = (*arrange)(l, keys, present)
			} else {
				want = next(l, keys, present)
			}
			if shownLayout(want) != shownLayout(present) {
				s.layouts.Add(1)
			}
			return want
		}
	})
	s.board.loaded()
	pass(time.Second)
}

// rearrange sets the next layout: these watches, and further watches for the remaining keys.
func (s *fixture) rearrange(watches ...watch) {
	arrange := arrangement(func(l layout, keys []listedKey, _ []watch) []watch {
		l.Fixed = watches
		return l.Next(keys, watches)
	})
	s.arrange.Store(&arrange)
}

func (s *fixture) delete(key string) {
	s.T.Helper()
	s.Delete(key)
}

// soon checks that an event of a type is reported for a key within a time limit, and returns the event.
func (s *fixture) soon(within time.Duration, kind election.EventType, key string) (e election.Event) {
	s.T.Helper()
	start := time.Now()
	for n := 0; n == 0 || e.Initial; {
		e, n = s.board.event(n, kind, key)
	}
	if late := e.Time.Sub(start); late > within {
		s.T.Errorf("%s of %s was reported after %s, want at most %s", kind, key, late, within)
	}
	return e
}

// untilStale waits until n elections are stale, and checks that the connection is not lost.
func (s *fixture) untilStale(n int) {
	s.t.Helper()
	s.board.until(fmt.Sprint(n, " stale elections"), func() bool { return s.board.last.CountStale() == n })
	if c := s.board.snapshot().Connection; c.State != election.Live {
		s.t.Errorf("after the failure of one shard, the connection is %s: %s; want live", c.State, c.Error)
	}
}

func asksPrefix(r *http.Request, prefix string) bool {
	return r.URL.Query().Has("recurse") && r.URL.Path == "/v1/kv/"+prefix
}

// A recursive delete does not end the queries of the shards that lose all their keys. The list of names must detect
// it.
func TestKeysThatAreDeletedTogetherAreReported(t *testing.T) {
	for _, c := range []struct {
		n     int
		pause time.Duration
	}{{300, 0}, {300, 20 * time.Millisecond}, {300, 60 * time.Millisecond}, {300, 200 * time.Millisecond}, {3000, 0}, {3000, time.Second}} {
		n := c.n
		t.Run(fmt.Sprint(n, " ", c.pause), func(t *testing.T) {
			withFixture(t, n, func(s *fixture) {
				s.Put("service/stays/leader", "v")
				for i := 0; i < n; i += 7 { // these tombstones hide the tombstone of a later delete of a shorter prefix
					s.delete(numberedKey(i))
				}
				s.observe()
				s.DeleteTree("service/0")
				pass(c.pause)
				s.DeleteTree("service/")
				for i := range n {
					if i%7 > 0 {
						s.soon(time.Second, election.Deleted, numberedKey(i))
					}
				}
			})
		})
	}
}

// Lists of names that arrive continually must not delay the comparison with the keys of the shards.
func TestADeletedTreeIsReportedWhileOtherKeysChange(t *testing.T) {
	withFixture(t, 1200, func(s *fixture) {
		for i := 1000; i < 1200; i += 7 { // these tombstones hide that of the whole tree
			s.delete(numberedKey(i))
		}
		s.observe()
		start := time.Now()
		s.DeleteTree("service/1")
		for i := range 100 {
			s.Put(numberedKey(0), fmt.Sprint(i))
			pass(20 * time.Millisecond)
		}
		if e, _ := s.board.event(0, election.Deleted, numberedKey(1150)); e.Time.Sub(start) > time.Second {
			t.Errorf("the deletion was reported after %s, want at most 1s", e.Time.Sub(start))
		}
	})
}

// After a lost connection, a watch that replaces another one must read all keys again and report the gap.
func TestAGapIsInherited(t *testing.T) {
	for what, then := range map[string][]watch{
		"split":  {prefixWatch("service/00"), prefixWatch("service/01"), prefixWatch("service/02"), prefixWatch("service/1"), prefixWatch("service/2")},
		"merged": {prefixWatch("service/")},
	} {
		t.Run(what, func(t *testing.T) {
			withFixture(t, 300, func(s *fixture) {
				session := s.Session()
				lost := api.KVPair{Key: numberedKey(7), Session: session}
				var broken, slow atomic.Bool
				var asked sync.Map // paths of the queries after the gap
				s.intercept = func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
					if slow.Load() && r.URL.Query().Has("recurse") {
						_, before := asked.LoadOrStore(r.URL.Path, true)
						if index := r.URL.Query().Get("index"); !before && index != "" {
							t.Errorf("the query for %s used the index %s from before the gap", r.URL.Path, index)
						}
					}
					if slow.Load() && asksPrefix(r, "service/0") {
						hang(r, time.Second)
					}
					answer, err := send()
					if broken.Load() {
						hang(r, time.Hour)
						return nil, r.Context().Err()
					}
					return answer, err
				}
				s.rearrange(prefixWatch("service/0"), prefixWatch("service/1"), prefixWatch("service/2"))
				s.observe()
				s.Acquire(lost)
				s.soon(soonSeen, election.Elected, lost.Key)
				broken.Store(true)
				pass(time.Second)
				if ok, _, err := s.API.KV().Release(&lost, nil); err != nil || !ok {
					t.Fatal(ok, err)
				}
				s.Put("service/2/new/leader", "v") // the new key causes a new layout
				s.Put("service/z/leader", "v")
				s.rearrange(then...)
				pass(5 * time.Second)
				slow.Store(true)
				broken.Store(false)
				e := s.soon(10*time.Second, election.Vacated, lost.Key)
				if e.HeldKnown {
					t.Errorf("the duration of a term that ended in a gap is reported as known: %+v", e)
				}
				if s.layouts.Load() < 2 {
					t.Error("the layout did not change")
				}
				s.board.until("the new key", func() bool { return s.board.last.Find("service/z/leader") != nil })
				if s.board.snapshot().Find("service/z/leader").VacantSinceKnown {
					t.Error("the start of the vacancy of a key that was created in a gap is reported as known")
				}
			})
		})
	}
}

// A shard that cannot be read remains in the layout with its known keys. The other shards continue.
func TestAFailingShardDelaysNoOther(t *testing.T) {
	withFixture(t, 450, func(s *fixture) {
		var failing atomic.Bool
		s.intercept = func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if failing.Load() && (asksPrefix(r, "service/0") || asksPrefix(r, "service/")) {
				return consultest.Answer(r, 500, 0, "rpc error making call"), nil
			}
			return send()
		}
		s.observe()
		failing.Store(true)
		s.Put(numberedKey(7), "w") // the write ends the blocking query
		s.untilStale(100)
		s.Put(numberedKey(7), "missed")
		for i := range 300 { // new keys that no shard reads yet
			key := fmt.Sprintf("service/x%03d/leader", i)
			s.Put(key, "v")
			pass(10 * time.Millisecond)
		}
		pass(time.Second)
		changed := "service/x299/leader"
		s.Put(changed, "w")
		s.soon(soonSeen, election.Overwritten, changed)
		s.delete(numberedKey(399))
		s.soon(soonFound, election.Deleted, numberedKey(399))
		for i := range 300 {
			s.delete(fmt.Sprintf("service/x%03d/leader", i))
			pass(10 * time.Millisecond)
		}
		for i := 100; i < 450; i++ { // the remaining keys fit into one shard
			s.delete(numberedKey(i))
		}
		pass(time.Second)
		s.Put("service/z/leader", "v")
		pass(soonFound)
		if s.board.snapshot().Find("service/z/leader") == nil || s.layouts.Load() < 4 {
			t.Errorf("after %d layouts, service/z/leader was not found; want it found after at least 4 layouts", s.layouts.Load())
		}
		pass(time.Minute)
		failing.Store(false)
		s.untilStale(0)
		s.board.until("the missed changes", func() bool { return string(s.board.last.Find(election.KeyID(numberedKey(7))).Pair.Value) == "missed" })
		s.checkLosses()
	})
}

// checkLosses checks that the observer reported neither a lost connection nor unreadable keys.
func (s *fixture) checkLosses() {
	s.T.Helper()
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	for _, e := range s.board.events {
		if e.Key == "" || strings.HasPrefix(e.Key, "service/0") && e.Type == election.Deleted {
			s.t.Errorf("%s %s was reported: %s; want neither a lost connection nor a deletion", e.Type, e.Key, e.Error)
		}
	}
}

// Elections that no shard reads must be found soon, even if keys change continually: within 100 ms if there are few
// keys.
func TestNewElectionsAreFoundSoon(t *testing.T) {
	for _, c := range []struct {
		n, rounds int
		soon      time.Duration
	}{{300, 20, 100 * time.Millisecond}, {10_000, 4, time.Second}} {
		if testing.Short() && c.n > 300 {
			continue
		}
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			withFixture(t, c.n, func(s *fixture) {
				s.observe()
				for i := range c.rounds {
					for j := range 37 {
						s.Put(numberedKey((100*i+j)%c.n), fmt.Sprint(i))
						pass(time.Duration(j) * time.Millisecond)
					}
					key := fmt.Sprintf("service/%c%d/leader", 'a'+i, i)
					start := time.Now()
					s.Put(key, "v")
					s.board.until("the key", func() bool { return s.board.last.Find(election.KeyID(key)) != nil })
					e := s.board.snapshot().Find(election.KeyID(key))
					if late := e.VacantSince.Sub(start); late+feed.SnapshotGap > c.soon {
						t.Errorf("%s was found after %s, want at most %s", key, late, c.soon)
					}
				}
			})
		})
	}
}
