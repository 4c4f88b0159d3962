package observe

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// contend creates a contender that holds a slot of Consul's own semaphore.
func contend(t *testing.T, b backend, prefix, session string) *api.Semaphore {
	t.Helper()
	s, err := b.API.SemaphoreOpts(&api.SemaphoreOptions{Prefix: prefix, Limit: 2, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	if lost, err := s.Acquire(t.Context().Done()); err != nil || lost == nil {
		t.Fatal(lost, err)
	}
	t.Cleanup(func() { _ = s.Release() })
	return s
}

// A full semaphore is not vacant. The observer must report the names of its holders.
func TestObserverReportsHoldersOfASemaphore(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "gpu/.lock"
		first := contend(t, b, p+"gpu", b.Session(t, &api.SessionEntry{Name: "job-1"}))
		board := observePatiently(t, b.client, p+"*/.lock")
		e, n := board.event(0, election.Entered, key)
		if !e.Initial || e.Leader != "job-1" || e.Node != b.Node || e.Holders != 1 || e.Limit != 2 || e.Session == "" {
			t.Errorf("the first event is %+v, want an initial event of holder job-1 on node %s with 1 of 2 slots", e, b.Node)
		}
		contend(t, b, p+"gpu", b.Session(t, &api.SessionEntry{Name: "job-2"}))
		if e, n = board.event(n, election.Entered, key); e.Initial || e.Leader != "job-2" || e.Node != b.Node || e.Holders != 2 {
			t.Errorf("%+v", e)
		}
		board.until("a full semaphore", func() bool {
			full := board.last.Find(election.KeyID(key))
			return full != nil && full.State(board.last.At) == election.OfSemaphore
		})
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		if e, _ = board.event(n, election.Left, key); e.Leader != "job-1" || e.Holders != 1 {
			t.Errorf("%+v", e)
		}
		for _, e := range board.of(key) {
			if !e.OfSlot() {
				t.Errorf("a semaphore has the event %s, want only events of slots", e.Type)
			}
		}
	})
}
