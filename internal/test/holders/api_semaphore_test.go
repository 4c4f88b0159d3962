//go:build unix

package holders

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// newSemaphore returns a contender for one of n slots.
func newSemaphore(s *stage, n int) *api.Semaphore {
	s.t.Helper()
	sem, err := s.client().SemaphoreOpts(&api.SemaphoreOptions{Prefix: s.prefix, Limit: n})
	must(s.t, err)
	return sem
}

func holdSlot(t *testing.T, sem *api.Semaphore) <-chan struct{} {
	t.Helper()
	lost, err := sem.Acquire(nil)
	must(t, err)
	t.Cleanup(func() {
		if err := sem.Release(); err != nil && !errors.Is(err, api.ErrSemaphoreNotHeld) {
			t.Error(err)
		}
		<-lost
	})
	return lost
}

// If a session is destroyed, its holder loses its contender key and its slot. The slot is free immediately, because
// the lock-delay applies only to the contender key.
func TestAPISemaphoreDestroy(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	lost := holdSlot(t, newSemaphore(s, 1))
	session := s.contender(1)
	waiter := newSemaphore(s, 1)
	leads := make(chan time.Time, 1)
	go func() {
		waiterLost, err := waiter.Acquire(nil)
		leads <- time.Now()
		if err == nil {
			_ = waiter.Release()
			<-waiterLost
		}
	}()
	s.contender(2)
	own := observe(t, s.agent, s.prefix+"/"+session)
	own.await(t, "the contender key", func(st state) bool { return st.session() == session })
	if r := s.electop("destroy", "--session", session, "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	gone := own.await(t, "the deletion of the contender key", func(st state) bool { return st.pair == nil })
	t.Logf("the waiter held the slot %v after the contender key was deleted", (<-leads).Sub(gone.at).Round(100*time.Microsecond))
	await(t, "the close of the channel", closed(lost))
}

// If the contender key of a holder is released, the holder loses its slot, because the client also reads the
// contender keys. The session remains, and the slot counts as taken until another contender writes the semaphore's
// key.
func TestAPISemaphoreRelease(t *testing.T) {
	t.Parallel()
	s := newStage(t, ".lock")
	lost := holdSlot(t, newSemaphore(s, 1))
	session := s.contender(1)
	before := s.get()
	contenderKey := s.prefix + "/" + session
	if r := s.electopOn(contenderKey, "release", contenderKey, "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	await(t, "the close of the channel", closed(lost))
	if pair, _, err := s.client().KV().Get(contenderKey, nil); err != nil || pair == nil || pair.Session != "" {
		t.Errorf("the contender key is not unlocked: %+v, %v", pair, err)
	}
	if after := s.get(); after.ModifyIndex != before.ModifyIndex {
		t.Errorf("the semaphore's key changed: %s", after.Value)
	}
	if !s.sessionLives(session) {
		t.Error("the session ended")
	}
	holdSlot(t, newSemaphore(s, 1))
	if after := s.get(); string(after.Value) == string(before.Value) {
		t.Errorf("the value still contains the old holder: %s", after.Value)
	}
}
