package act

import (
	"cmp"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Item is one election or session of a plan, with its outcome. What is inferred is only shown.
type Item struct {
	Outcome // Kind is empty if the item is pending
	// Election is nil if the action is on a session that leads no watched election. Session is then this session, or
	// nil if it was not read.
	Election *election.Election
	Session  *election.Session
	// Next contains the candidates on other nodes, most likely first. Likely is the number of these candidates that are
	// not weak, or -1 if unknown. Rivals is the number of candidates on the drained nodes.
	Next   []insight.Candidate
	Likely int
	Rivals int
	// Around contains the surroundings of the election, or nil if they were not read.
	Around *election.Surroundings
	// Effect describes the effect of the action. Last describes the effect of a destroy.
	Effect, Last insight.Effect
	// Held are the keys of the session that a search found.
	Held []election.Pair
	Diagnosis
}

// Diagnosis is what is wrong with an election, and what to do. An action without a diagnosis uses only Destroy.
type Diagnosis struct {
	// Fix is nil if no problem was found.
	Fix *insight.Finding
	// Facts and Checks (of the leader's node) contain the data from which Fix was inferred.
	Facts  insight.Facts
	Checks map[string]election.NodeChecks
	// Destroy is what the user was shown about the session to destroy. Without keys, the fix needs no write of electop.
	Destroy election.Destroy
	// Ready is the earliest time at which the fix can be applied.
	Ready time.Time
}

// NewItem returns the plan for one election. nodes are the drained nodes, which no candidate in Next is on.
func NewItem(kind election.ActionKind, e *election.Election, nodes []string, board *insight.Board, around *election.Surroundings) *Item {
	i := &Item{Outcome: Outcome{Action: kind, Target: e.Target()}, Election: e, Around: around}
	for _, c := range board.Candidates(e, around) {
		if Among(c.Session.Node, nodes) {
			i.Rivals++
		} else {
			i.Next = append(i.Next, c)
		}
	}
	i.Likely = insight.Likely(e, i.Next, around)
	others := cmp.Or(i.Likely, -min(1, i.Rivals)) // with candidates on the drained nodes only, it will not stay without a leader
	i.Effect = insight.EffectOf(election.ActionRelease, e, around, others)
	i.Last = insight.EffectOf(election.ActionDestroy, e, around, others)
	if kind == election.ActionDestroy {
		i.Effect = i.Last
	}
	drains, refusal := kind == election.ActionDrain, i.Effect.Refusal
	if drains {
		i.Better = i.Effect.Better
	}
	switch {
	case drains && e.Pair.Flags == election.SemaphoreFlag:
		i.Refuse("", "a semaphore has slots and no leader; stop the program that holds a slot, or destroy its session")
	case drains && i.Effect.Kind == insight.HolderPatroniMember:
		i.Refuse("", refusal)
	case refusal != "":
		i.Refuse(OutcomeRefused, refusal)
	}
	return i
}

// Fixes warns about a leader whose node has failed, and notes that the action ends its hold.
func (i *Item) Fixes(e *election.Election, checks map[string]election.NodeChecks) {
	if failed := insight.FailureOf(e, checks); failed.Current() {
		i.Effect.Warnings = append(i.Effect.Warnings, failed.Why())
		i.Target.Note = FixNote(insight.LeaderFailed, i.Target)
	}
}

// FixNote is the note of an action that fixes a problem.
func FixNote(code string, t election.Target) string {
	return election.FixOf + code + " on " + election.Label(t.Node)
}

// Refuse ends the item before any action. kind is the kind of the failure, or "" if a drain skips the election for a
// reason that is no failure.
func (i *Item) Refuse(kind OutcomeKind, reason string) {
	i.Kind, i.Reason = kind, reason
	if i.Action == election.ActionDrain {
		i.Kind, i.Failure = OutcomeSkipped, kind
	}
}

// Pending returns the items that have no outcome yet.
func Pending(items []*Item) []*Item {
	return election.Without(items, func(i *Item) bool { return i.Kind != "" })
}

// nextShown is the maximum number of candidates that a row of the plan names.
const nextShown = 2

// NextText names the likely candidates on other nodes in one line.
func (i *Item) NextText() string {
	text := "none seen"
	switch {
	case len(i.Next) > 0:
		text = insight.Names(i.Next, nextShown)
	case len(i.Around.Unread()) > 0:
		return "unknown: " + strings.Join(i.Around.Unread(), "; ")
	}
	if i.Rivals > 0 {
		text += "; " + election.Plural(i.Rivals, "candidate") + " on the drained node"
	}
	return text
}

// NamedEffect is the effect of an action on the election or session with this name.
type NamedEffect struct {
	Name   string
	Effect insight.Effect
}

// Sentences returns each of these sentences of the effects once; see [insight.Effect.Sentences]. If a sentence does not
// apply to all effects, up to limit names of its effects precede it.
func Sentences(effects []NamedEffect, limit int, labels ...string) []string {
	var order []string
	about := map[string][]string{}
	for _, e := range effects {
		for _, label := range labels {
			for _, text := range e.Effect.Sentences(label) {
				if about[text] == nil {
					order = append(order, text)
				}
				about[text] = append(about[text], e.Name)
			}
		}
	}
	for i, text := range order {
		if names := about[text]; len(names) < len(effects) {
			order[i] = election.NameList(names, limit) + ": " + text
		}
	}
	return order
}
