package campaign

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/internal/consultest"
)

// A health check invalidates the session as soon as the leader's agent freezes. Then only the lock-delay prevents
// another candidate from leading, so the leader must stop before the lock-delay ends.
func TestLeadershipIsLostBeforeAnotherCandidateLeads(t *testing.T) {
	const stop = 3 * time.Second
	tests := map[string]struct {
		session SessionOptions
		latency time.Duration // latency of each response
	}{
		"defaults":                          {},
		"slow responses":                    {latency: 2 * time.Second},
		"TTL longer than the lock-delay":    {session: SessionOptions{TTL: time.Hour}},
		"lock-delay longer than the TTL":    {session: SessionOptions{TTL: 10 * time.Second, LockDelay: time.Minute}},
		"lock-delay above Consul's maximum": {session: SessionOptions{TTL: time.Hour, LockDelay: time.Hour}},
		"shortest delay":                    {session: SessionOptions{LockDelay: MinLockDelay}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, _ := fails(t, everything, hang)
				first := New(over(t, &delayed{to: network, by: tt.latency}), Options{Key: "k", Session: tt.session, StopTime: stop})
				second := New(over(t, network.to), Options{Key: "k", Session: tt.session, StopTime: stop})
				l := campaign(t, first)
				consulx.Sleep(context.Background(), 20*time.Minute+1234*time.Millisecond)
				if l.Err() != nil || l.Remaining() <= stop {
					t.Fatalf("after 20m: error %v, remaining %s; want a leadership with more than %s", l.Err(), l.Remaining(), stop)
				}
				for range 30 { // a response shows the state at the time of the request
					if consulx.Sleep(context.Background(), 100*time.Millisecond); l.Remaining() > tt.session.Hold()-tt.latency {
						t.Fatalf("%s remain after a response that took %s", l.Remaining(), tt.latency)
					}
				}
				network.on.Store(true)
				began := time.Now()
				_, err := second.client.API().Session().Destroy(l.Pair.Session, nil)
				must(t, err)
				next := make(chan time.Time, 1)
				go func() {
					if _, err := second.Campaign(t.Context()); err != nil {
						t.Error(err)
					}
					next <- time.Now()
				}()
				<-l.Lost()
				lost, left := time.Since(began), l.Remaining()
				if left < stop || !unread(l) {
					t.Errorf("the leadership was lost with %s remaining: %v; want at least %s and an error about reads", left, l.Err(), stop)
				}
				led := (<-next).Sub(began)
				if led < lost+left {
					t.Errorf("another candidate led %s after the freeze; the first one lost its leadership after %s with %s remaining, want no overlap", led, lost, left)
				}
				t.Logf("the leadership was lost %s after the freeze; the other candidate led after %s", lost, led)
				network.on.Store(false)
				for _, c := range []*Candidate{first, second} {
					if err := c.Close(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestHold(t *testing.T) {
	const s = time.Second
	tests := []struct {
		ttl, delay, want time.Duration
	}{
		{0, 0, 13 * s}, {10 * s, 60 * s, 13 * s}, {time.Hour, 2 * time.Hour, 13 * s}, {0, 10 * s, 8 * s},
		{0, -1, 13 * s}, {15 * s, 9 * s, 13 * s}, {15 * s, 14 * s, 12 * s},
	}
	for _, tt := range tests {
		if got := (SessionOptions{TTL: tt.ttl, LockDelay: tt.delay}).Hold(); got != tt.want {
			t.Errorf("TTL %s, lock-delay %s: %s, want %s", tt.ttl, tt.delay, got, tt.want)
		}
	}
}

// unread reports whether a leadership was lost because no read succeeded.
func unread(l *Leadership) bool {
	return l.Err() != nil && strings.Contains(l.Err().Error(), "no read of k succeeded in time")
}

// delayed is a transport that delays every response.
type delayed struct {
	to http.RoundTripper
	by time.Duration
}

func (d *delayed) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.to.RoundTrip(r)
	select {
	case <-time.NewTimer(d.by).C:
		return answer, err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestCloseEndsWithItsContextWhileConsulHangs(t *testing.T) {
	tests := map[string]struct {
		before, later bool
		at            string
	}{
		"before the session exists": {before: true},
		"while leading":             {later: true},
		"at the release":            {at: `"unlock"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, _ := fails(t, everything, hang)
				network.only = func(r *http.Request) bool {
					if tt.at != "" && r.Body != nil {
						body, _ := io.ReadAll(r.Body)
						if r.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte(tt.at)) {
							network.on.Store(true)
						}
					}
					return true
				}
				network.on.Store(tt.before)
				c := New(over(t, network), Options{Key: "k"})
				done := make(chan error, 1)
				go func() {
					_, err := c.Campaign(t.Context())
					done <- err
				}()
				synctest.Wait()
				network.on.Store(tt.before || tt.later)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				began := time.Now()
				err := c.Close(ctx)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("Close returned %s after its context had ended", took-2*time.Second)
				}
				if !tt.before && err == nil {
					t.Error("Close returned no error, although it could not release the key")
				}
				if err := <-done; tt.before && !errors.Is(err, ErrClosed) {
					t.Errorf("Campaign returned %v, want ErrClosed", err)
				}
			})
		})
	}
}

// Remaining limits how long the supervisor lets a program run after the loss.
func TestAReadOfAnotherHolderDoesNotExtendALeadership(t *testing.T) {
	c := candidate(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		return consultest.Answer(r, 200, 2, `{"Results":[{"KV":{"Key":"k","Session":"b","CreateIndex":1,"ModifyIndex":2,"LockIndex":2}}]}`), nil
	}), Options{Key: "k"})
	l := &Leadership{hold: time.Hour, held: time.Now().Add(-time.Hour)}
	l.Pair.Session = "a"
	l.ctx, l.lose = context.WithCancelCause(t.Context())
	if err := c.read(t.Context(), l); err != nil || l.Err() == nil || l.Remaining() > 0 {
		t.Errorf("error %v, loss %v, %s remaining; want a loss and no remaining time", err, l.Err(), l.Remaining())
	}
}
