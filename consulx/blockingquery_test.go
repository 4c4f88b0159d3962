package consulx

import (
	"context"
	"errors"
	"net/http"
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

// CloseIdleConnections and RoundTrip make the poller the transport of the client.
func (s *fakePoller) CloseIdleConnections() { s.closed++ }
func (*fakePoller) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.ErrUnsupported
}

// A firewall drops all idle connections at the same time. If the client kept them, each of them would fail only after
// a deadline.
func TestIdleConnectionsAreClosedAfterAFailure(t *testing.T) {
	dead := errors.New("request timed out")
	for what, failing := range map[string]struct {
		poll, accept error
		cancelled    bool
		closed       int // the number of closed clients
	}{
		"the query failed":           {poll: dead, closed: 3},
		"the poller's Accept failed": {accept: dead, closed: 3},
		"the query was cancelled":    {poll: context.Canceled, cancelled: true},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s, epochs := &fakePoller{}, NewEpochs(ctx)
				s.poll = func(n int, q *api.QueryOptions) (uint64, error) {
					if n == 1 {
						if failing.cancelled {
							epochs.Next()
						}
						return 0, failing.poll
					}
					Sleep(q.Context(), q.WaitTime)
					return 7, ctx.Err()
				}
				s.accept = func(n int, _ Answer) error {
					if n == 1 {
						return failing.accept
					}
					if n == 2 && s.closed != failing.closed {
						t.Errorf("the idle connections of %d clients were closed, want %d", s.closed, failing.closed)
					}
					return nil
				}
				client, err := NewClient(Config{Transport: s})
				must(t, err)
				(&Loop{Poller: s, Client: client, Epochs: epochs, Wait: DefaultWait}).Run(ctx)
				if s.n < 3 {
					t.Errorf("only %d polls in a minute, want at least 3", s.n)
				}
			})
		})
	}
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
