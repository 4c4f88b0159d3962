// Package rescue finds elections without an effective leader, and destroys the sessions of leaders whose node has
// failed. [insight.Board.Fix] finds the problems.
package rescue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Seen is how long electop must see that a node check is critical before it destroys a session: Consul does not report
// since when a check is critical, and a short loss of the network is no failure.
const Seen = 15 * time.Second

// shownKeys is the maximum number of keys that a sentence names.
const shownKeys = 10

// Item is one election with a problem.
type Item struct {
	Election *election.Election
	Fix      *insight.Fix
	// Facts contains the data from which the fix was inferred.
	Facts insight.FixFacts
	// Destroy is what electop can do, or has no keys if the user must do what Fix says. Its evidence is complete at the
	// time Ready.
	Destroy election.Destroy
	Ready   time.Time
	client  *consulx.Client
}

// Writes reports whether electop can apply the fix, which destroys the session of the election's leader.
func (i *Item) Writes() bool { return len(i.Destroy.Keys) > 0 }

// Kind returns "wait", "manual" or "destroy_session".
func (i *Item) Kind() string {
	switch {
	case i.Fix.Problem == insight.ProblemLockDelay:
		return "wait"
	case i.Writes():
		return "destroy_session"
	}
	return "manual"
}

// plan adds the keys that each fix affects: every key in the store that the session holds. A fix is manual if the
// session may hold a key that has no problem of its own.
func (in Inspector) plan(ctx context.Context, items []*Item) {
	diagnosed := map[string][]string{} // keys by session
	for _, i := range items {
		if i.Fix.Problem == insight.ProblemNodeGone {
			diagnosed[i.Election.Session.ID] = append(diagnosed[i.Election.Session.ID], i.Election.Key())
		}
	}
	if len(diagnosed) == 0 {
		return
	}
	shown := time.Now()
	pairs, err := consulx.Holdings(ctx, in.Client, slices.Collect(maps.Keys(diagnosed)), nil)
	held := map[string][]string{}
	for _, p := range pairs {
		id := strings.ToLower(p.Session) // a key keeps the spelling with which it was acquired
		held[id] = append(held[id], p.Key)
	}
	for _, i := range items {
		if i.Fix.Problem == insight.ProblemNodeGone {
			i.decide(shown, held[i.Election.Session.ID], diagnosed[i.Election.Session.ID], err)
		}
	}
}

// decide sets the keys of the fix, or makes it manual. held contains all keys of the session, and diagnosed its keys
// that have a problem of their own.
func (i *Item) decide(shown time.Time, held, diagnosed []string, err error) {
	others := slices.DeleteFunc(slices.Clone(held), func(key string) bool { return slices.Contains(diagnosed, key) })
	reason := ""
	switch {
	case err != nil:
		reason = "the search for the session's keys failed (" + consulx.Describe(err) + ")"
	case !slices.Contains(held, i.Election.Key()):
		i.Fix.Do = "Run the diagnosis again: the session no longer holds the key."
		return
	case len(others) > 0:
		reason = "the session also holds " + sanitize.Line(election.NameList(others, shownKeys), 1000) + ", which this diagnosis does not include"
	default:
		i.Destroy = election.Destroy{Target: i.Election.Target(), Keys: held, Shown: shown, Evidence: i.evidence}
		return
	}
	i.Fix.Do += " electop does not apply this fix: " + reason + ". electop destroy --session " + i.Election.Pair.Session + " shows its keys."
}

// evidence reads the checks of the leader's node again. It fails unless electop has seen for long enough that the node
// has failed.
func (i *Item) evidence(ctx context.Context) error {
	e, node := i.Election, i.Election.Session.Node
	known := consulx.NodeChecks(ctx, i.client, node)
	if reason := unread(e, known); reason != "" {
		return consulx.Fail(consulx.ErrRefused, "%s", reason)
	}
	was := insight.FailureOf(e, map[string]election.NodeChecks{node: {Checks: i.Facts.Checks}})
	is := insight.FailureOf(e, map[string]election.NodeChecks{node: known})
	switch {
	case is == nil || is.Check.ModifyIndex != was.Check.ModifyIndex:
		return consulx.Fail(consulx.ErrMoved, "the node check of %s changed", sanitize.Line(node, election.LabelLength))
	case known.At.Before(i.Ready):
		return consulx.Fail(consulx.ErrRefused, "electop has not seen for long enough that the node check of %s is critical", sanitize.Line(node, election.LabelLength))
	}
	return nil
}
