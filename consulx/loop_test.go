package consulx

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"
)

// fakePoller is a poller whose responses a test sets.
type fakePoller struct {
	poll   func(n int, q *api.QueryOptions) (index uint64, err error)
	accept func(n int, a Answer) error
	n      int
	closed int
}

func (s *fakePoller) Poll(q *api.QueryOptions) (*api.QueryMeta, error) {
	s.n++
	index, err := s.poll(s.n, q)
	return &api.QueryMeta{LastIndex: index}, err
}

func (s *fakePoller) Accept(_ context.Context, a Answer) (bool, error) { return true, s.accept(s.n, a) }
func (s *fakePoller) Failed(error, time.Time)                          {}
func (s *fakePoller) Reserve(bool) (func(time.Duration), bool)         { return func(time.Duration) {}, true }
func (s *fakePoller) Close()                                           { s.closed++ }

func (s *fakePoller) Read(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{}).WithContext(ctx)
}

func (s *fakePoller) Consistent(ctx context.Context) *api.QueryOptions { return s.Read(ctx) }

// A firewall drops all idle connections at the same time. If the client kept them, each of them would fail only after
// a deadline.
func TestIdleConnectionsAreClosedAfterAFailure(t *testing.T) {
	dead := errors.New("request timed out")
	for what, failing := range map[string]struct{ poll, accept error }{
		"the query failed":           {poll: dead},
		"the poller's Accept failed": {accept: dead},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s := &fakePoller{}
				s.poll = func(n int, q *api.QueryOptions) (uint64, error) {
					if n == 1 {
						return 0, failing.poll
					}
					Sleep(q.Context(), q.WaitTime)
					return 7, ctx.Err()
				}
				s.accept = func(n int, _ Answer) error {
					if n == 1 {
						return failing.accept
					}
					if n == 2 && s.closed != 1 {
						t.Errorf("idle connections were closed %d times after a failure, want once", s.closed)
					}
					return nil
				}
				(&Loop{Poller: s, Client: s, Epochs: NewEpochs(ctx), Wait: DefaultWait}).Run(ctx)
				if s.n < 3 {
					t.Errorf("only %d polls in a minute, want at least 3", s.n)
				}
			})
		})
	}
}

// counting is a client with a number of free connections. It records the releases.
type counting struct {
	*fakePoller
	free     atomic.Int32
	releases []time.Duration
}

func (c *counting) Reserve(bool) (func(time.Duration), bool) {
	if c.free.Load() == 0 {
		return nil, false
	}
	c.free.Add(-1)
	return func(after time.Duration) {
		if after <= 0 {
			c.free.Add(1)
			return
		}
		c.releases = append(c.releases, after)
		time.AfterFunc(after, func() { c.free.Add(1) })
	}, true
}

// Consul counts the connection of a cancelled query until its wait ends. Until then, the loop must not block on
// another connection, but must still read changes.
func TestACancelledQueryKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start, epochs := time.Now(), NewEpochs(ctx)
		s := &fakePoller{accept: func(int, Answer) error { return nil }}
		c := &counting{fakePoller: s}
		c.free.Store(1)
		var reads, blocks []time.Duration
		s.poll = func(_ int, q *api.QueryOptions) (uint64, error) {
			if q.WaitIndex == 0 {
				reads = append(reads, time.Since(start))
				return 7, nil
			}
			blocks = append(blocks, time.Since(start))
			Sleep(q.Context(), q.WaitTime)
			return 7, q.Context().Err()
		}
		const cancelled = 5 * time.Second
		time.AfterFunc(cancelled, epochs.Next)
		(&Loop{Poller: s, Client: c, Epochs: epochs, Wait: DefaultWait}).Run(ctx)
		if len(blocks) < 2 || len(c.releases) == 0 {
			t.Fatalf("blocked at %s, released after %s; want a second blocking query", blocks, c.releases)
		}
		free := cancelled + c.releases[0]
		if least := DefaultWait * 7 / 8 * 17 / 16; free < least || blocks[1] < free || blocks[1] > free+maxPause {
			t.Errorf("the query that was cancelled after %s is counted until %s, and the next one begins at %s", cancelled, free, blocks[1])
		}
		for i, at := range append(reads[1:], blocks[1]) {
			if at-max(reads[i], cancelled) > 2*maxPause {
				t.Errorf("read at %s and then at %s", reads[i], at)
			}
		}
	})
}

func TestPace(t *testing.T) {
	const soon, ms = time.Millisecond, time.Millisecond
	var p loopPace
	for i, tt := range []struct {
		changed    bool
		took, want time.Duration
	}{
		{false, soon, 5 * ms}, {false, soon, 10 * ms}, {false, soon, 20 * ms}, {false, soon, 40 * ms}, {false, soon, 80 * ms}, {false, soon, 80 * ms},
		{true, soon, 0}, {false, soon, 5 * ms}, {false, time.Second, 0},
	} {
		if got := p.next(tt.changed, tt.took); got != tt.want {
			t.Errorf("the pause after response %d is %s, want %s", i+1, got, tt.want)
		}
	}
}
