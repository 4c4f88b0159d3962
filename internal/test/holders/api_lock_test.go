//go:build unix

package holders

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// apiLock is a candidate that uses Go's api.Lock.
type apiLock struct {
	*api.Lock
	lost <-chan struct{}
}

func newAPILock(s *stage, value string) *apiLock {
	s.t.Helper()
	l, err := s.client().LockOpts(&api.LockOptions{Key: s.key, Value: []byte(value), LockDelay: time.Second})
	must(s.t, err)
	return &apiLock{Lock: l}
}

// lead waits until the candidate has the lock. The cleanup of the test releases the lock.
func (l *apiLock) lead(t *testing.T) {
	t.Helper()
	lost, err := l.Lock.Lock(nil)
	must(t, err)
	l.lost = lost
	t.Cleanup(func() {
		if err := l.Unlock(); err != nil && !errors.Is(err, api.ErrLockNotHeld) {
			t.Error(err)
		}
		<-lost
	})
}

// Only the channel notifies a holder of the loss. The holder keeps its session and cannot compete again before it
// calls Unlock.
func TestAPILockAlone(t *testing.T) {
	eachVerb(t, "leader", func(s *stage, verb string) {
		t := s.t
		l := newAPILock(s, "web-1")
		l.lead(t)
		s.led()
		h := s.act(verb)
		t.Logf("the channel was closed %v after the action", await(t, "the close of the channel", closed(l.lost)).Round(time.Millisecond))
		pair := s.get()
		h.mustKeep(pair)
		if pair.Session != "" || pair.LockIndex != h.pair.LockIndex {
			t.Errorf("the lock was not released: the key is %+v", pair)
		}
		if got, want := s.sessionLives(h.pair.Session), verb == "release"; got != want {
			t.Errorf("the session exists after the action: %v", got)
		}
		if _, err := l.Lock.Lock(nil); !errors.Is(err, api.ErrLockHeld) {
			t.Errorf("Lock gives %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Errorf("Unlock gives %v", err)
		}
		h.mustEnd()
		l.lead(t)
		next := h.successor()
		h.mustKeep(next)
		if next.Session == h.pair.Session {
			t.Error("the application leads again with the same session")
		}
	})
}

func TestAPILockWithWaiter(t *testing.T) {
	eachVerb(t, "leader", func(s *stage, verb string) {
		t := s.t
		l, waiter := newAPILock(s, "web-1"), newAPILock(s, "web-2")
		l.lead(t)
		s.led()
		leads := make(chan error, 1)
		go func() {
			var err error
			waiter.lost, err = waiter.Lock.Lock(nil)
			leads <- err
		}()
		h := s.act(verb)
		await(t, "the close of the channel", closed(l.lost))
		must(t, <-leads)
		if next := h.successor(); string(next.Value) != "web-2" || next.Flags != h.pair.Flags {
			t.Errorf("the waiter does not lead: the key is %+v", next)
		}
		if err := waiter.Unlock(); err != nil {
			t.Error(err)
		}
		<-waiter.lost
	})
}

func closed(c <-chan struct{}) func() bool {
	return func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
}
