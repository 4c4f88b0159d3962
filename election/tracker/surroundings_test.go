package tracker

import (
	"testing"

	"electop/election"
)

func TestTheLatestSurroundingsAreKept(t *testing.T) {
	s := newScene(t)
	if s.tracker.Snapshot(s.now).Surroundings != nil {
		t.Fatal("the snapshot contains surroundings before the first read")
	}
	for _, key := range []string{"service/web/leader", "service/mail/leader"} {
		if events := s.observe(election.SurroundingsRead{Surroundings: election.Surroundings{At: t0, Key: key}}); len(events) != 0 {
			t.Errorf("%v", events)
		}
		if got := s.tracker.Snapshot(s.now).Surroundings; got == nil || got.Key != key {
			t.Errorf("%+v", got)
		}
	}
}
