package memconsul_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// campaign acquires the lock in a goroutine, like a waiting candidate.
type campaign struct {
	lock *api.Lock
	won  chan error // receives one value, which is nil if the lock is held
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

func (c *campaign) result(f *fixture) error { return receive(f, c.won) }

// receive waits at most patience for a result.
func receive(f *fixture, result <-chan error) error {
	f.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case err := <-result:
		return err
	case <-timeout.C:
		f.Fatal("the campaign has not returned")
		return nil
	}
}

// waitingCampaign starts a leader of the key, and returns a candidate that waits for the key.
func (f *fixture) waitingCampaign(key string) *campaign {
	f.Helper()
	if err := f.campaign(key, "first").result(f); err != nil {
		f.Fatal(err)
	}
	return f.campaign(key, "second")
}

func TestLockHandOver(t *testing.T) {
	contract(t, func(f *fixture) {
		key := f.key("leader")
		second := f.waitingCampaign(key)
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
			f.Errorf("the second candidate does not hold the key: %+v", e)
		}
	})
}

func TestReleaseWithoutFlagsBreaksWaitingLocks(t *testing.T) {
	contract(t, func(f *fixture) {
		key := f.key("leader")
		second := f.waitingCampaign(key)
		f.mustPut("/v1/kv/"+key+"?release="+f.entry(key).session(), "first")
		if err := second.result(f); !errors.Is(err, api.ErrLockConflict) {
			f.Errorf("the waiting candidate's campaign returned %v", err)
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
			f.Errorf("the semaphore's key has other flags or a holder: %+v", lock)
		}
		select {
		case err := <-won:
			f.Fatalf("two contenders hold one slot: %v", err)
		default:
		}
		if err := first.Release(); err != nil {
			f.Fatal(err)
		}
		if err := receive(f, won); err != nil {
			f.Fatal(err)
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
			f.Errorf("the session still exists after its renewal stopped: %s", info)
		}
	})
}
