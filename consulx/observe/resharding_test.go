package observe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/memconsul"
)

// slowly is a transport that delays every request and every response.
type slowly struct {
	http.RoundTripper
}

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	consulx.Sleep(context.Background(), rand.N(2*time.Millisecond))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer, err := s.RoundTripper.RoundTrip(r)
	consulx.Sleep(context.Background(), rand.N(2*time.Millisecond))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return answer, err
}

// workload changes keys and records the events that an observer must report.
type workload struct {
	t     *testing.T
	api   *api.Client
	names []string

	mu       sync.Mutex // guards one change at a time
	paused   bool       // changeOneOf changes nothing
	rng      *rand.Rand
	held     map[string]bool   // existing keys; true while a session holds the key
	sessions map[string]string // session by key
	touched  map[string]time.Time
	expected map[string][]expectation
	// busy reports whether the report of a change of a key may be pending. The workload does not change such a key.
	busy func(key string) bool
	// slack is additional time for a report if the test runs in real time.
	slack time.Duration
}

// expectation is an event that must be reported soon after its cause.
type expectation struct {
	kind election.EventType
	at   time.Time
	soon time.Duration
}

const (
	// soonSeen is the time limit for the report of a change of an existing key, soonFound for the report of a new or
	// deleted key.
	soonSeen  = 250 * time.Millisecond
	soonFound = time.Second
)

// quiet is the minimum time between two changes of a key, so that Consul does not merge them.
const quiet = time.Second

func newWorkload(t *testing.T, client *api.Client, rng *rand.Rand, names []string) *workload {
	t.Helper()
	s := &workload{
		t: t, api: client, rng: rng, names: names, held: map[string]bool{}, touched: map[string]time.Time{},
		expected: map[string][]expectation{}, sessions: map[string]string{},
	}
	s.busy = func(key string) bool { return time.Since(s.touched[key]) < quiet }
	return s
}

// newSession creates a session that the observer has not read yet.
func (s *workload) newSession() string {
	id, _, err := s.api.Session().CreateNoChecks(&api.SessionEntry{Name: "s", LockDelay: time.Nanosecond}, nil)
	s.check(true, err)
	return id
}

func (s *workload) check(ok bool, err error) {
	s.t.Helper()
	if err != nil || !ok {
		s.t.Fatal(ok, err)
	}
}

func (s *workload) expect(key string, soon time.Duration, kinds ...election.EventType) {
	now := time.Now()
	s.touched[key] = now
	for _, kind := range kinds {
		s.expected[key] = append(s.expected[key], expectation{kind, now, soon + s.slack})
	}
}

// step changes a random key.
func (s *workload) step(deletes float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stepOf(s.names[s.rng.IntN(len(s.names))], deletes)
}

// changeOneOf changes a key that one of these watches reads.
func (s *workload) changeOneOf(watches []watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused {
		return
	}
	from := s.rng.IntN(len(s.names))
	for i := range s.names {
		key := s.names[(from+i)%len(s.names)]
		if slices.ContainsFunc(watches, func(w watch) bool { return w.Range.Contains(key) }) && s.stepOf(key, 0.1) {
			return
		}
	}
}

func (s *workload) pause(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = paused
}

// stepOf makes one random change to a key that is not busy. The larger deletes is, the more changes are deletions.
func (s *workload) stepOf(key string, deletes float64) (done bool) {
	if s.busy(key) {
		return false
	}
	held, exists := s.held[key]
	pair := &api.KVPair{Key: key, Session: s.sessions[key], Value: []byte("v")}
	switch {
	case exists && s.rng.Float64() < deletes:
		_, err := s.api.KV().Delete(key, nil)
		s.check(true, err)
		delete(s.held, key)
		if held {
			s.expect(key, soonFound, election.Vacated)
		}
		s.expect(key, soonFound, election.Deleted)
	case held:
		ok, _, err := s.api.KV().Release(pair, nil)
		s.check(ok, err)
		s.held[key] = false
		s.expect(key, soonSeen, election.Vacated)
	case exists || s.rng.Float64() > deletes:
		pair.Session = s.newSession()
		ok, _, err := s.api.KV().Acquire(pair, nil)
		s.check(ok, err)
		s.held[key], s.sessions[key] = true, pair.Session
		soon := soonSeen
		if !exists {
			soon = soonFound
		}
		s.expect(key, soon, election.Elected)
	default:
		return false
	}
	return true
}

// deleteTree deletes all keys under a prefix. All events that were expected before must have been reported.
func (s *workload) deleteTree(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.api.KV().DeleteTree(prefix, nil)
	s.check(true, err)
	for _, key := range s.names {
		held, exists := s.held[key]
		if !exists || !strings.HasPrefix(key, prefix) {
			continue
		}
		delete(s.held, key)
		if held {
			s.expect(key, soonFound, election.Vacated)
		}
		s.expect(key, soonFound, election.Deleted)
	}
}

// reported checks that the board reported every change of every key, in order.
func (s *workload) reported(b *board) {
	s.t.Helper()
	got := map[string][]election.Event{}
	b.mu.Lock()
	for _, e := range b.events {
		if e.Type != election.Explained {
			got[e.Key] = append(got[e.Key], e)
		}
	}
	b.mu.Unlock()
	for _, key := range s.names {
		if !slices.EqualFunc(got[key], s.expected[key], inTime) {
			s.t.Errorf("%s: reported %s, want %s", key, briefly(got[key]), s.expected[key])
		}
	}
}

func (x expectation) String() string { return x.at.Format("05.000 ") + string(x.kind) }

func briefly(events []election.Event) (all []expectation) {
	for _, e := range events {
		all = append(all, expectation{kind: e.Type, at: e.Time})
	}
	return all
}

func inTime(e election.Event, x expectation) bool {
	return e.Type == x.kind && e.Time.Sub(x.at) <= x.soon
}

// Every term of every key must be reported once and in order while keys and shards are added and removed.
func TestNoChangeIsLostBetweenTwoLayouts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { runWorkload(t, seed) }) })
	}
}

// randomLayouts returns an arrangement that selects any valid layout.
func randomLayouts(rng *rand.Rand) arrangement {
	return func(l layout, keys []listedKey, present []watch) []watch {
		if rng.IntN(3) == 0 {
			return l.Next(keys, present)
		}
		l.Limit = 1 + rng.IntN(l.Limit)
		return l.Next(keys, []watch{l.Root})
	}
}

// arrangement selects layouts, like layout.Next.
type arrangement func(l layout, keys []listedKey, present []watch) []watch

// changeRetired changes keys of watches that are about to be closed, and then waits for at most 2 ms.
func changeRetired(s *workload, arrange arrangement, changes *atomic.Int64) func(*Observer) {
	return func(o *Observer) {
		o.arrange = func(l layout, keys []listedKey, present []watch) []watch {
			want := arrange(l, keys, present)
			retired := slices.DeleteFunc(slices.Clone(present), func(w watch) bool { return slices.Contains(want, w) })
			if len(retired) > 0 {
				if len(present) > 1 {
					changes.Add(1)
				}
				for i := range 3 {
					s.changeOneOf(retired)
					consulx.Sleep(context.Background(), time.Duration(2-i)*time.Millisecond)
				}
			}
			return want
		}
	}
}

func runWorkload(t *testing.T, seed uint64) {
	agent := memconsul.New(memconsul.Config{})
	defer agent.Close()
	direct := over(t, agent)
	// The workload guards its random source with its own mutex, so this function needs another source.
	rng := rand.New(rand.NewPCG(seed, 3))
	var names []string
	for i := range 900 {
		names = append(names, fmt.Sprintf("service/%c%d/%03d/leader", 'a'+i%5, i%7, i))
	}
	var changes atomic.Int64
	enough := int64(20)
	arrange := randomLayouts(rand.New(rand.NewPCG(seed, 2)))
	if seed%2 == 1 { // as in production, layouts remain unchanged for a long time
		arrange, enough = layout.Next, 3
	}
	s := newWorkload(t, direct.API(), rand.New(rand.NewPCG(seed, 1)), names)
	b := observeWith(t, over(t, slowly{agent}), Options{Patterns: patterns(t, "service/**/leader"), Wait: time.Minute},
		changeRetired(s, arrange, &changes))
	b.until("a board", func() bool { return b.last.Loaded })
	for round := 0; round < 12 || changes.Load() < enough && round < 100; round++ {
		deletes := []float64{0.02, 0.6, 0.05, 0.9}[round%4]
		for range 250 {
			consulx.Sleep(context.Background(), time.Duration(rng.Int64N(int64(4*time.Millisecond))))
			s.step(deletes)
		}
		if round%3 == 0 {
			consulx.Sleep(context.Background(), quiet)
			s.deleteTree([]string{"service/a", "service/b1/", "service/", "service/c"}[rng.IntN(4)])
		}
	}
	s.pause(true)
	consulx.Sleep(context.Background(), 5*time.Second)
	synctest.Wait()
	b.stop()
	s.reported(b)
	if n := changes.Load(); n < enough {
		t.Errorf("the layout changed only %d times, want at least %d", n, enough)
	}
}
