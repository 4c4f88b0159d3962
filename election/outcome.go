package election

import (
	"encoding/json"
	"fmt"
	"time"
)

// OutcomeKind says how an operator's action on one election ended.
type OutcomeKind string

// The kinds of outcomes. [OutcomeDone] and [OutcomeUnknown] may still become
// another kind; see [Outcome.Follow].
const (
	OutcomeDone     OutcomeKind = "done"        // carried out; no later term was observed
	OutcomeMoved    OutcomeKind = "moved"       // carried out; another session leads
	OutcomeReturned OutcomeKind = "same_leader" // carried out; the same session leads again
	OutcomeVacant   OutcomeKind = "vacant"      // carried out; no leader within the time allowed
	OutcomeChanged  OutcomeKind = "changed"     // the lock state changed before the action; nothing was written
	OutcomeNoLeader OutcomeKind = "no_leader"   // there was no leader; nothing was written
	OutcomeRefused  OutcomeKind = "refused"     // electop refuses the action on this key; nothing was written
	OutcomeDenied   OutcomeKind = "denied"      // Consul's ACLs refuse the action; nothing was written
	OutcomeFailed   OutcomeKind = "failed"      // failed for another reason; nothing was written
	OutcomeUnknown  OutcomeKind = "unknown"     // Consul did not confirm the write: it may have been applied
)

// Holder names who holds a key. Its texts are safe to show.
type Holder struct {
	Leader  string `json:"leader"`
	Session string `json:"session"`
	// Node is empty when the session was not read.
	Node string `json:"node"`
}

// Outcome is what became of one action on one election.
type Outcome struct {
	Action ActionKind
	Target Target
	Kind   OutcomeKind
	// New is the first leader after the action, zero while none was observed.
	New Holder
	// Vacancy is the time between the two terms, exact when VacancyKnown.
	Vacancy      time.Duration
	VacancyKnown bool
	// Reason says in one line why there is no new leader or why nothing was
	// written; empty when there is nothing to add.
	Reason string
}

// Settled reports that observing the election further adds nothing.
func (o Outcome) Settled() bool { return o.Kind != OutcomeDone && o.Kind != OutcomeUnknown }

// Follow looks for the first term after the one that the action ended. e is the
// election as observed after the action, nil while it was not observed. An
// outcome that is settled stays as it is.
func (o Outcome) Follow(e *Election) Outcome {
	if o.Settled() || e == nil || o.Target.Key == "" {
		return o
	}
	for i := len(e.Terms) - 1; i > 0; i-- {
		ended, next := e.Terms[i-1], e.Terms[i]
		if o.Action == ActionDestroy && next.Session == o.Target.Session {
			return o // a destroyed session cannot lead again: this term began before the action
		}
		if ended.Over() && o.ends(ended) {
			return o.succeeded(ended, next)
		}
	}
	return o
}

// ends reports that the term is the one that the action ended. A release is
// bound to one term; a destroy ends the last one of the session. A term that was
// overwritten has no number, so its session and CreateIndex stand for it.
func (o Outcome) ends(t Term) bool {
	if o.Action == ActionDestroy {
		return t.Session == o.Target.Session
	}
	return t.Session == o.Target.Session &&
		(o.Target.CreateIndex == 0 || t.CreateIndex == o.Target.CreateIndex) &&
		(o.Target.LockIndex == 0 || t.Number == o.Target.LockIndex)
}

func (o Outcome) succeeded(ended, next Term) Outcome {
	o.Kind = OutcomeMoved
	if next.Session == o.Target.Session {
		o.Kind = OutcomeReturned
	}
	o.New = Holder{Leader: next.Leader, Session: next.Session, Node: next.Node}
	o.Vacancy = max(0, next.Start.Sub(ended.End))
	o.VacancyKnown = next.StartKnown && ended.SeenUntil.IsZero()
	o.Reason = ""
	return o
}

// Old names the leader that the action was about.
func (o Outcome) Old() Holder {
	return Holder{Leader: o.Target.Leader, Session: o.Target.Session, Node: Line(o.Target.Node, labelLength)}
}

// Summary says in one line how it ended: "web-1 → web-2 after 1.2s", or why not.
// The line is safe to show.
func (o Outcome) Summary() string {
	text := o.Target.Leader
	switch o.Kind {
	case OutcomeMoved:
		text += " → " + o.New.Leader + o.vacancyText()
	case OutcomeReturned:
		text += " leads again" + o.vacancyText() + ": the same session"
	case OutcomeVacant:
		text += " → no leader"
	case OutcomeDone:
		text += " → no leader yet"
	case OutcomeUnknown:
		text = "not known whether the " + string(o.Action) + " was applied"
	default:
		text = "nothing was changed"
	}
	if o.Reason != "" {
		text += ": " + Line(o.Reason, evidenceLength)
	}
	return text
}

func (o Outcome) vacancyText() string {
	text := " after " + FormatDuration(o.Vacancy)
	if !o.VacancyKnown {
		text = " after at most " + FormatDuration(o.Vacancy)
	}
	return text
}

type outcomeJSON struct {
	Election  string      `json:"election"`
	Key       string      `json:"key"`
	Action    ActionKind  `json:"action"`
	Result    OutcomeKind `json:"result"`
	Old       Holder      `json:"old"`
	New       *Holder     `json:"new,omitempty"`
	VacancyMS *int64      `json:"vacancy_ms,omitempty"`
	Reason    string      `json:"reason,omitempty"`
}

// MarshalJSON writes the outcome as `electop release -o json` does. vacancy_ms
// is there only when both ends of the vacancy were observed.
func (o Outcome) MarshalJSON() ([]byte, error) {
	j := outcomeJSON{
		Election: o.Target.Election, Key: o.Target.Key, Action: o.Action, Result: o.Kind, Old: o.Old(), Reason: o.Reason,
	}
	if o.New.Session != "" {
		j.New = &o.New
	}
	if o.VacancyKnown {
		ms := o.Vacancy.Milliseconds()
		j.VacancyMS = &ms
	}
	return json.Marshal(j)
}

// String is the outcome with its election, for logs.
func (o Outcome) String() string {
	return fmt.Sprintf("%s %s: %s", o.Action, o.Target.Election, o.Summary())
}
