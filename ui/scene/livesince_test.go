package scene_test

import (
	"testing"
	"time"

	"electop/election"
	"electop/ui/scene"
)

// A busy datacenter keeps only its latest events: older ones must be read from the history.
func TestLiveSinceIsThatOfTheBusiestDatacenter(t *testing.T) {
	at := func(minute int) election.Event {
		return election.Event{Time: time.Date(2026, 11, 20, 3, minute, 0, 0, time.UTC)}
	}
	quiet := &election.Snapshot{Datacenter: "dc1", Events: []election.Event{at(1)}}
	busy := &election.Snapshot{Datacenter: "dc2", Events: []election.Event{at(5), at(6)}}
	joined := &election.Snapshot{Parts: []*election.Snapshot{quiet, busy}, Events: []election.Event{at(1), at(5), at(6)}}
	for _, c := range []struct {
		shown *election.Snapshot
		want  time.Time
	}{{joined, at(5).Time}, {quiet, at(1).Time}, {&election.Snapshot{}, time.Time{}}} {
		if got := (&scene.Scene{Shown: c.shown}).LiveSince(); !got.Equal(c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
