package feed

import (
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
)

// A mark that is requested after the process was stopped waits until every key was read again.
func TestAMarkAfterAStopIsCurrent(t *testing.T) {
	var marks []string
	f := New(Options{Patterns: consultest.Patterns(t, "web/leader"), OnMark: func(s *election.Snapshot, _ election.Patterns) {
		marks = append(marks, s.Elections[0].Pair.Session)
	}})
	jumps := 0
	f.hooks.Jumped = func() { jumps++ }
	read := func(session string) {
		pair := election.Pair{Key: "web/leader", Session: session, CreateIndex: 7, ModifyIndex: 7, LockIndex: 1}
		f.Send(true, election.DatacenterRead{At: time.Now(), Datacenter: "dc1"},
			election.KeysRead{At: time.Now(), Range: election.KeyRange(pair.Key), Pairs: election.Pairs(pair)})
	}
	read("s1")
	f.beat = time.Now().Add(-10 * time.Second)
	f.Mark()
	if jumps != 1 || !slices.Equal(marks, []string{"s1"}) {
		t.Errorf("%d jumps, marks %q before the keys were read again", jumps, marks)
	}
	read("s2")
	if !slices.Equal(marks, []string{"s1", "s2"}) {
		t.Errorf("%q", marks)
	}
}
