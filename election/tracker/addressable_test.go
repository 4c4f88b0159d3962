package tracker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/election/insight"
)

// twin returns a key with bytes that Consul replaced. Several such keys look the same.
func twin(session string, lock, create, modify uint64, value string) election.Pair {
	p := web(session, lock, create, modify, value)
	p.Key = "service/w\uFFFDb/leader"
	return p
}

// twins formats the elections of these keys as "CreateIndex:leader".
func (s *scene) twins() (all []string) {
	for _, e := range s.tracker.Snapshot(s.now).Elections {
		if e.Unaddressable && e.Exists {
			all = append(all, fmt.Sprint(e.Pair.CreateIndex, ":", e.Leader))
		}
	}
	return all
}

// Keys that look the same have separate elections and events.
func TestKeysThatCannotBeDistinguishedAreSeparateElections(t *testing.T) {
	s := newScene(t)
	s.read(web("c", 1, 12, 22, "web"), twin("a", 1, 10, 20, "one"), twin("b", 1, 11, 21, "two"))
	if got := s.twins(); !slices.Equal(got, []string{"10:one", "11:two"}) {
		t.Fatalf("%v", got)
	}
	if got := brief(s.read(web("c", 1, 12, 22, "web"), twin("a", 1, 10, 20, "one"), twin("", 1, 11, 23, "two"))); got != "vacated(1)" {
		t.Errorf("events %s", got)
	}
	if got := brief(s.read(web("c", 1, 12, 22, "web"), twin("b", 2, 11, 24, "two"), twin("d", 1, 30, 30, "three"))); got != "vacated(1) deleted(1) elected(2) elected(1) explained(1 unknown)" {
		t.Errorf("events %s", got)
	}
	if got := s.twins(); !slices.Equal(got, []string{"11:two", "30:three"}) {
		t.Fatalf("%v", got)
	}
	for _, e := range s.tracker.Snapshot(s.now).Elections {
		for _, event := range e.Events {
			if event.CreateIndex != e.Pair.CreateIndex {
				t.Errorf("the election with CreateIndex %d has an event with CreateIndex %d", e.Pair.CreateIndex, event.CreateIndex)
			}
		}
	}
}

func TestEachKeyHasAnIDToBeFoundBy(t *testing.T) {
	s := newScene(t)
	s.read(web("c", 1, 12, 22, "web"), twin("a", 1, 10, 20, "one"), twin("b", 1, 11, 21, "two"))
	snapshot := s.tracker.Snapshot(s.now)
	ids := map[election.ID]bool{}
	for _, e := range snapshot.Elections {
		ids[e.ID()] = true
		if snapshot.Find(e.ID()) != e {
			t.Errorf("Find(%q) did not return the election with this ID", e.ID())
		}
		if e.Unaddressable == election.Addressable(e.Key()) || (e.Ident() == e.Key()) == e.Unaddressable {
			t.Errorf("%q: unaddressable %v", e.ID(), e.Unaddressable)
		}
	}
	if len(ids) != 3 {
		t.Errorf("got %d different IDs, want 3", len(ids))
	}
	if n := len(snapshot.Named(twin("", 0, 0, 0, "").Key)); n != 2 {
		t.Errorf("Named returned %d elections, want 2", n)
	}
	if e := snapshot.Find("service/w\uFFFDb/leader"); e == nil || e.Pair.CreateIndex != 10 {
		t.Errorf("Find with the key returned %v, want the election with CreateIndex 10", e)
	}
	for _, id := range []election.ID{"\x00service/w\uFFFDb/leader\x00#12", "service/w\uFFFDb", "service/x", "\x00service/web/leader\x00#12"} {
		if snapshot.Find(id) != nil {
			t.Errorf("Find(%q) returned an election, want nil", id)
		}
	}
}

func TestNoActionIsPossibleOnAnUnaddressableKey(t *testing.T) {
	s := newScene(t)
	s.read(web("c", 1, 12, 22, "web"), twin("a", 1, 10, 20, "one"))
	for _, e := range s.tracker.Snapshot(s.now).Elections {
		for _, kind := range []election.ActionKind{election.ActionRelease, election.ActionDestroy} {
			if refused := insight.EffectOf(kind, e, nil, -1).Refusal != ""; refused != e.Unaddressable {
				t.Errorf("%s of %q: refused %v, want %v", kind, e.Key(), refused, e.Unaddressable)
			}
		}
	}
}

// An explained event belongs to the key whose term ended.
func TestACauseBelongsToItsKey(t *testing.T) {
	s := newScene(t)
	s.sessions(session(nil))
	s.read(twin("b", 1, 10, 20, "one"), twin("a", 1, 11, 21, "two"))
	lost := s.read(twin("b", 1, 10, 20, "one"), twin("", 1, 11, 22, "two"))[0]
	s.observe(election.TermEvidence{At: s.now, Event: lost, Outcome: election.Evidence{SessionRead: true, SessionExists: true}})
	for _, e := range s.tracker.Snapshot(s.now).Elections {
		explained := slices.ContainsFunc(e.Events, func(e election.Event) bool { return e.Type == election.Explained })
		if explained != (e.Pair.CreateIndex == 11) {
			t.Errorf("the election with CreateIndex %d has an explained event: %v; want one only for 11", e.Pair.CreateIndex, explained)
		}
	}
}

// If a key that is not addressable is not in a filtered response, it may be deleted or unreadable.
func TestAFilteredResponseHidesUnaddressableKeys(t *testing.T) {
	for _, filtered := range []bool{false, true} {
		s := newScene(t)
		s.read(twin("a", 1, 10, 20, "one"))
		events := s.observe(election.KeysRead{At: s.now.Add(time.Second), Range: election.PrefixRange("service/"), Filtered: filtered})
		want := "vacated(1) deleted(1)"
		if filtered {
			want = "unreadable(1)"
		}
		if got := brief(events); got != want {
			t.Errorf("filtered %v: %s", filtered, got)
		}
	}
}
