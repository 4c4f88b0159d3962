package blocking

import (
	"context"
	"errors"
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
