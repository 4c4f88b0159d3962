package tracker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// After Consul lost or restored data, terms must not be counted. An operator may restore an older snapshot, and then the
// newer one.
func TestMissedTermsAreCountedForwardOnly(t *testing.T) {
	for _, tt := range []struct{ name, then, last, want string }{
		{"data lost, then restored", "", "a 118 40 13061 v", "elected(118)"},
		{"data lost, then restored from before", "", "a 7 40 700 v", "elected(7)"},
		{"restored from before, then from the newer snapshot", "b 1 40 50 v", "a 118 40 13061 v", "vacated(1) elected(118)"},
		{"created again and terms passed", "", "a 3 13070 13100 v", "missed(×2) elected(3)"},
	} {
		s := newScene(t)
		s.key("a 118 40 13061 v")
		s.key(tt.then)
		events := slices.DeleteFunc(s.key(tt.last), func(e election.Event) bool { return e.Type == election.Explained })
		if got := brief(events); got != tt.want || events[len(events)-1].Restored == (tt.name == "created again and terms passed") {
			t.Errorf("%s: events %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The list of names may find a key after other keys with later changes were read. The terms of this key must still be
// counted.
func TestTermsOfAKeyThatIsReadLateAreCounted(t *testing.T) {
	s := newScene(t)
	all := election.PrefixRange("service/")
	early := election.Pair{Key: "service/a/leader", CreateIndex: 10, ModifyIndex: 10, LockIndex: 1, Session: "s1"}
	s.observe(election.KeysRead{At: t0, Range: all, Pairs: election.Pairs(early)})
	later := early
	later.ModifyIndex, later.LockIndex, later.Session = 40, 2, "s2"
	s.observe(election.KeysRead{At: t0.Add(time.Second), Range: election.KeyRange(early.Key), Pairs: election.Pairs(later)})
	found := election.Pair{Key: "service/b/leader", CreateIndex: 20, ModifyIndex: 30, LockIndex: 3, Session: "s3"}
	events := s.observe(election.KeysRead{At: t0.Add(2 * time.Second), Range: all, Pairs: election.Pairs(later, found)})
	if len(events) < 2 || events[0].Type != election.Missed || events[0].Count != 2 || events[1].Type != election.Elected {
		t.Errorf("%+v", events)
	}
}

func TestNoOverwriteIsClaimedAcrossAGap(t *testing.T) {
	for _, gap := range []bool{false, true} {
		s := newScene(t)
		s.key("a 9 10 20 v")
		events := s.observe(election.KeysRead{
			At: s.now.Add(time.Minute), Range: election.PrefixRange("service/"), AfterGap: gap, Pairs: election.Pairs(web("b 2 10 30 v")),
		})
		if got := strings.Contains(brief(events), "overwritten"); got == gap {
			t.Errorf("gap %v: %s", gap, brief(events))
		}
	}
}
