package memconsul_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// campaign stands for the lock in the background, as a waiting candidate does.
type campaign struct {
	lock *api.Lock
	won  chan error // one value: nil when the lock is held
}

func (f *fixture) campaign(key, name string) *campaign {
	f.Helper()
	lock, err := f.client.LockOpts(&api.LockOptions{Key: key, Value: []byte(name), SessionName: name, SessionTTL: "10s"})
	if err != nil {
		f.Fatal(err)
	}
	c := &campaign{lock: lock, won: make(chan error, 1)}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := lock.Lock(stop)
		c.won <- err
	}()
	f.Cleanup(func() {
		close(stop)
		<-ended
		if err := lock.Unlock(); err != nil && !errors.Is(err, api.ErrLockNotHeld) {
			f.Error(err)
		}
	})
	return c
}

func (c *campaign) result(f *fixture) error {
	f.Helper()
	select {
	case err := <-c.won:
		return err
	case <-time.After(patience):
		f.Fatal("the candidate neither won nor failed")
		return nil
	}
}

func TestLockHandOver(t *testing.T) {
	contract(t, func(f *fixture) {
		key := f.key("leader")
		first := f.campaign(key, "first")
		if err := first.result(f); err != nil {
			f.Fatal(err)
		}
		second := f.campaign(key, "second")
		e := f.entry(key)
		ops := api.KVTxnOps{
			{Verb: api.KVCheckIndex, Key: key, Index: e.ModifyIndex},
			{Verb: api.KVCheckSession, Key: key, Session: e.session()},
			{Verb: api.KVUnlock, Key: key, Session: e.session(), Value: *e.Value, Flags: e.Flags},
		}
		if ok, answer, _, err := f.client.KV().Txn(ops, nil); err != nil || !ok {
			f.Fatalf("%v %+v", err, answer)
		}
		if err := second.result(f); err != nil {
			f.Fatal(err)
		}
		if e := f.entry(key); e.value() != "second" || e.LockIndex != 2 {
			f.Errorf("the key is %+v", e)
		}
	})
}

func TestReleaseWithoutFlagsBreaksWaitingLocks(t *testing.T) {
	contract(t, func(f *fixture) {
		key := f.key("leader")
		first := f.campaign(key, "first")
		if err := first.result(f); err != nil {
			f.Fatal(err)
		}
		second := f.campaign(key, "second")
		f.mustPut("/v1/kv/"+key+"?release="+f.entry(key).session(), "first")
		if err := second.result(f); !errors.Is(err, api.ErrLockConflict) {
			f.Errorf("the waiting candidate got %v", err)
		}
	})
}

func TestSemaphore(t *testing.T) {
	contract(t, func(f *fixture) {
		slot := func() *api.Semaphore {
			s, err := f.client.SemaphoreOpts(&api.SemaphoreOptions{Prefix: f.key("sem"), Limit: 1, SessionTTL: "10s"})
			if err != nil {
				f.Fatal(err)
			}
			return s
		}
		first, second := slot(), slot()
		if held, err := first.Acquire(nil); err != nil || held == nil {
			f.Fatal(err)
		}
		won := make(chan error, 1)
		go func() {
			_, err := second.Acquire(nil)
			won <- err
		}()
		f.eventually(patience, "the second contender has its key", func() bool {
			keys, _, err := f.client.KV().Keys(f.key("sem/"), "", nil)
			return err == nil && len(keys) == 3
		})
		if lock := f.entry(f.key("sem/.lock")); lock.Flags != api.SemaphoreFlagValue || lock.session() != "" {
			f.Errorf("the semaphore's key is %+v", lock)
		}
		select {
		case err := <-won:
			f.Fatalf("two hold one slot: %v", err)
		default:
		}
		if err := first.Release(); err != nil {
			f.Fatal(err)
		}
		select {
		case err := <-won:
			if err != nil {
				f.Fatal(err)
			}
		case <-time.After(patience):
			f.Fatal("the second contender waits for ever")
		}
		if err := second.Release(); err != nil {
			f.Error(err)
		}
	})
}

func TestRenewPeriodic(t *testing.T) {
	contract(t, func(f *fixture) {
		id, _, err := f.client.Session().Create(&api.SessionEntry{TTL: "10s"}, nil)
		if err != nil {
			f.Fatal(err)
		}
		done, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- f.client.Session().RenewPeriodic("1s", id, nil, done) }()
		close(done)
		if err := <-ended; err != nil {
			f.Error(err)
		}
		if info := f.sessionInfo(id); info != "[]" {
			f.Errorf("the session outlives its renewal: %s", info)
		}
	})
}
