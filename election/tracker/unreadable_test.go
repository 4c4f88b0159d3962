package tracker

import (
	"testing"
	"time"

	"electop/election"
)

func TestLostAndRegainedPermissionsAreEvents(t *testing.T) {
	s := newScene(t)
	pairs := []election.Pair{web("a 1 10 20 v"), web("a 1 10 20 v")}
	pairs[0].Key = "service/mail/leader"
	s.read(pairs...)
	for range 2 {
		s.now = s.now.Add(time.Second)
		s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Filtered: true, Pairs: election.Pairs(pairs[0]), Hidden: []string{"service/web/leader"}})
		if e := s.web(); !e.Unreadable || e.State(s.now) != election.Led || e.Leader != "v" || s.tracker.Snapshot(s.now).Elections[0].Unreadable || !s.tracker.Snapshot(s.now).Filtered {
			t.Errorf("%+v", e)
		}
	}
	s.read(pairs...)
	if e := s.web(); s.tracker.Snapshot(s.now).Filtered || e.Unreadable || len(e.Events) != 3 || e.Events[1].Type != election.Unreadable || e.Events[2].Type != election.Readable {
		t.Errorf("%+v", e)
	}
}
