package election

import (
	"testing"
	"time"
)

// TestEventsSayWhereTheyStandInConsulsLog checks what a history needs to tell events
// of several observers apart.
func TestEventsSayWhereTheyStandInConsulsLog(t *testing.T) {
	s := newScene(t)
	s.observe(LinkUp{At: s.now, Source: "keys"})
	s.read(web("a", 1, 10, 20, "a"))
	s.read(web("a", 1, 10, 22, "a2"))
	s.read(web("", 1, 10, 25, "a2"))
	s.read(web("b", 2, 10, 30, "b"))
	s.read(web("a", 1, 10, 20, "a")) // a snapshot is restored
	seen := s.now
	s.observe(LinkLost{At: s.now, Source: "keys", Error: "refused"})
	s.observe(LinkUp{At: seen, Source: "keys"})
	s.now = s.now.Add(time.Minute)
	s.observe(LinkLost{At: s.now, Source: "keys", Error: "refused"})
	s.now = s.now.Add(time.Minute)
	s.observe(KeysRead{At: s.now, Range: PrefixRange("service/"), AfterGap: true, Pairs: []Pair{}})
	want := []Event{
		{Type: Elected, ModifyIndex: 20},
		{Type: Updated, ModifyIndex: 22},
		{Type: Vacated, ModifyIndex: 22},
		{Type: Elected, ModifyIndex: 30},
		{Type: Vacated, ModifyIndex: 30},
		{Type: Elected, ModifyIndex: 20, Restored: true},
		{Type: Vacated, ModifyIndex: 20, Gap: true, SeenUntil: seen},
		{Type: Deleted, ModifyIndex: 20, Gap: true},
	}
	for _, e := range s.events {
		if e.Key == "" || e.Type == Explained {
			continue
		}
		if len(want) == 0 {
			t.Fatalf("one more: %+v", e)
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
