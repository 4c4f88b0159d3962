package tracker

import (
	"testing"
	"time"

	"electop/election"
)

// TestEventsContainRaftIndexes checks the fields by which a history recognises that two observers reported the same
// event.
func TestEventsContainRaftIndexes(t *testing.T) {
	s := newScene(t)
	s.observe(election.LinkUp{At: s.now, Source: "keys"})
	s.read(web("a", 1, 10, 20, "a"))
	s.read(web("a", 1, 10, 22, "a2"))
	s.read(web("", 1, 10, 25, "a2"))
	s.read(web("b", 2, 10, 30, "b"))
	s.read(web("a", 1, 10, 20, "a")) // as after a restored snapshot
	seen := s.now
	s.observe(election.LinkLost{At: s.now, Source: "keys", Error: "refused"})
	s.observe(election.LinkUp{At: seen, Source: "keys"})
	s.now = s.now.Add(time.Minute)
	s.observe(election.LinkLost{At: s.now, Source: "keys", Error: "refused"})
	s.now = s.now.Add(time.Minute)
	s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), AfterGap: true, Pairs: []election.Pair{}})
	want := []election.Event{
		{Type: election.Elected, ModifyIndex: 20},
		{Type: election.Updated, ModifyIndex: 22},
		{Type: election.Vacated, ModifyIndex: 22},
		{Type: election.Elected, ModifyIndex: 30},
		{Type: election.Vacated, ModifyIndex: 30},
		{Type: election.Elected, ModifyIndex: 20, Restored: true},
		{Type: election.Vacated, ModifyIndex: 20, Gap: true, SeenUntil: seen},
		{Type: election.Deleted, ModifyIndex: 20, Gap: true, SeenUntil: seen},
	}
	for _, e := range s.events {
		if e.Key == "" || e.Type == election.Explained {
			continue
		}
		if len(want) == 0 {
			t.Fatalf("got the additional event %+v", e)
		}
		w := want[0]
		want = want[1:]
		if e.Type != w.Type || e.ModifyIndex != w.ModifyIndex || e.Gap != w.Gap || e.Restored != w.Restored || !e.SeenUntil.Equal(w.SeenUntil) {
			t.Errorf("%s: modify index %d, gap %t, restored %t, seen until %s; want %+v", e.Type, e.ModifyIndex, e.Gap, e.Restored, e.SeenUntil, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %+v", want)
	}
}
