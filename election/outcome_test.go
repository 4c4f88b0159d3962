package election_test

import (
	"testing"
	"time"

	"electop/election"
)

// terms makes an election of these terms: each but the last has ended.
func terms(all ...election.Term) *election.Election {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range all {
		all[i].Start, all[i].StartKnown, all[i].CreateIndex = at, true, 1
		at = at.Add(time.Second)
		if i < len(all)-1 {
			all[i].End = at
		}
		at = at.Add(time.Second)
	}
	return &election.Election{Exists: true, Terms: all}
}

func term(session string, number uint64) election.Term {
	return election.Term{Session: session, Number: number, Leader: session}
}

// Only a term that follows the action is its result.
func TestFollowAcceptsOnlyATermAfterTheAction(t *testing.T) {
	for _, tt := range []struct {
		name   string
		action election.ActionKind
		number uint64
		terms  []election.Term
		kind   election.OutcomeKind
		next   string
	}{
		{"release, not observed yet", election.ActionRelease, 3, []election.Term{term("a", 3)}, election.OutcomeDone, ""},
		{"release, another leads", election.ActionRelease, 3, []election.Term{term("a", 3), term("b", 4)}, election.OutcomeMoved, "b"},
		{"release, the same leads", election.ActionRelease, 3, []election.Term{term("a", 3), term("a", 4)}, election.OutcomeReturned, "a"},
		{"release of a later term", election.ActionRelease, 4, []election.Term{term("a", 3), term("a", 4)}, election.OutcomeDone, ""},
		{"release of an overwritten term", election.ActionRelease, 0, []election.Term{term("a", 0), term("a", 1)}, election.OutcomeReturned, "a"},
		{"destroy, the session led again before it", election.ActionDestroy, 3, []election.Term{term("a", 3), term("a", 4)}, election.OutcomeDone, ""},
		{
			"destroy, another led before it", election.ActionDestroy, 3,
			[]election.Term{term("a", 3), term("b", 4), term("a", 5)}, election.OutcomeDone, "",
		},
		{
			"destroy, another leads after it", election.ActionDestroy, 3,
			[]election.Term{term("a", 3), term("b", 4), term("a", 5), term("c", 6)}, election.OutcomeMoved, "c",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := election.Outcome{
				Action: tt.action, Kind: election.OutcomeDone,
				Target: election.Target{Key: "k", Session: "a", CreateIndex: 1, LockIndex: tt.number},
			}
			got := o.Follow(terms(tt.terms...))
			if got.Kind != tt.kind || got.New.Session != tt.next {
				t.Errorf("%s, next %q", got.Kind, got.New.Session)
			}
			if tt.next != "" && (got.Vacancy != time.Second || !got.VacancyKnown) {
				t.Errorf("vacancy %s", got.Vacancy)
			}
		})
	}
}

// A write that Consul did not confirm was applied if another term follows; why it
// was in doubt no longer matters.
func TestFollowResolvesAnUnknownOutcome(t *testing.T) {
	o := election.Outcome{
		Action: election.ActionRelease, Kind: election.OutcomeUnknown, Reason: "no answer came",
		Target: election.Target{Key: "k", Session: "a", CreateIndex: 1, LockIndex: 3},
	}
	got := o.Follow(terms(term("a", 3), term("b", 4)))
	if got.Kind != election.OutcomeMoved || got.Reason != "" {
		t.Errorf("%+v", got)
	}
}
