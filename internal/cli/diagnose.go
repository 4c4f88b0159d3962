package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
)

// failureSeen is how long electop must see that a node check is critical before it destroys a session: Consul does not
// report since when a check is critical, and a short loss of the network is no failure.
const failureSeen = 15 * time.Second

// fixable reports whether electop can apply the fix, which destroys the session of the election's leader.
func fixable(i *act.Item) bool { return len(i.Destroy.Keys) > 0 }

// inspector finds elections without an effective leader at the time now. All its reads are consistent.
type inspector struct {
	client    *consulx.Client
	elections []*election.Election // all that are known at the time now
	now       time.Time
	probe     bool          // probe for lock-delays, which requires write permission on the keys
	seen      time.Duration // replaces failureSeen if it is not 0
}

// inspect returns the chosen elections that have a problem, in the order of chosen.
func (in inspector) inspect(ctx context.Context, chosen []*election.Election) []*act.Item {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	in.client = in.client.Consistently()
	var vacant, held []*election.Election
	for _, e := range chosen {
		switch insight.FixNeeds(e, in.now) {
		case insight.NeedsSurroundings:
			vacant = append(vacant, e)
		case insight.NeedsChecks:
			held = append(held, e)
		default:
		}
	}
	facts, sessions := in.readVacant(ctx, vacant)
	checks := leaderChecks(ctx, in.client, held)
	for _, e := range held {
		facts[e] = &insight.Facts{Now: in.now, Unread: unread(e, checks)}
	}
	board := insight.NewBoard(in.elections, sessions).WithChecks(checks)
	var items []*act.Item
	for _, e := range chosen {
		if f := facts[e]; f != nil {
			if fix := board.Fix(e, *f); fix != nil {
				o, d := insight.Outcome{Action: election.ActionDestroy, Target: e.Target()}, act.Diagnosis{Fix: fix, Facts: *f, Checks: checks}
				if e.Session != nil {
					d.Ready = checks[e.Session.Node].At.Add(cmp.Or(in.seen, failureSeen))
				}
				items = append(items, &act.Item{Election: e, Outcome: o, Diagnosis: d})
			}
		}
	}
	in.plan(ctx, items)
	return items
}

// readVacant reads the facts about elections without a leader, and all sessions. It probes each election for a
// lock-delay; if the probe fails, for example because a permission is missing, the lock-delay remains unknown. It omits
// an election that a session has acquired.
func (in inspector) readVacant(ctx context.Context, vacant []*election.Election) (facts map[*election.Election]*insight.Facts, sessions []*election.Session) {
	facts = map[*election.Election]*insight.Facts{}
	if len(vacant) == 0 {
		return facts, nil
	}
	keys := make([]string, len(vacant))
	for i, e := range vacant {
		keys[i] = e.Key()
	}
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for i, around := range consulx.Surveys(ctx, in.client, keys) {
		f := &insight.Facts{Now: in.now, Around: &around}
		facts[vacant[i]], sessions = f, around.Sessions // all elections share one list of sessions
		if !in.probe || vacant[i].Unreadable {
			continue
		}
		g.Go(func() error {
			found, err := consulx.ProbeLockDelay(ctx, in.client, keys[i])
			switch {
			case err != nil:
				f.DelayErr = consulx.Describe(err)
			case found.State == consulx.LockDelayed:
				f.Delay = insight.DelayActive
			case found.State == consulx.LockFree:
				f.Delay = insight.DelayNone
			default:
				*f = insight.Facts{} // a session has acquired the key
			}
			return nil
		})
	}
	_ = g.Wait() // the facts contain the errors
	maps.DeleteFunc(facts, func(_ *election.Election, f *insight.Facts) bool { return f.Now.IsZero() })
	return facts, sessions
}

// unread returns the reason why it is unknown whether the leader's node has failed, or "" if the checks were read. A token
// that can read any check of a node can read its node checks.
func unread(e *election.Election, checks map[string]election.NodeChecks) string {
	if e.Session == nil {
		return "its session could not be read"
	}
	if err := checks[e.Session.Node].Err; err != "" {
		return fmt.Sprintf("the checks of %s could not be read (%s)", sanitize.Line(e.Session.Node, election.LabelLength), sanitize.Line(err, 200))
	}
	return ""
}

// plan adds the keys that each fix affects: every key in the store that the session holds. A fix is manual if the
// session may hold a key that has no problem of its own.
func (in inspector) plan(ctx context.Context, items []*act.Item) {
	gone := slices.DeleteFunc(slices.Clone(items), func(i *act.Item) bool { return i.Fix.Code != insight.LeaderFailed })
	if len(gone) == 0 {
		return
	}
	err := searchHoldings(ctx, in.client, gone, nil)
	for _, i := range gone {
		others := slices.DeleteFunc(slices.Clone(i.Destroy.Keys), func(key string) bool {
			return slices.ContainsFunc(gone, func(other *act.Item) bool { return other.Target.Key == key && sameSession(other, i) })
		})
		reason := ""
		switch {
		case err != nil:
			reason = "the search for the session's keys failed (" + consulx.Describe(err) + ")"
		case !slices.Contains(i.Destroy.Keys, i.Target.Key):
			i.Fix.Fix, i.Destroy = "Run the diagnosis again: the session no longer holds the key.", election.Destroy{}
			continue
		case len(others) > 0:
			reason = "the session also holds " + lineNames(others) + ", which this diagnosis does not include"
		default:
			i.Destroy.Evidence = in.evidence(i)
			continue
		}
		i.Destroy = election.Destroy{}
		i.Fix.Fix += " electop does not apply this fix: " + reason + ". electop destroy --session " + i.Target.Session + " shows its keys."
	}
}

// evidence returns a function that reads the checks of the leader's node again. The function fails unless electop has
// seen for long enough that the node has failed.
func (in inspector) evidence(s *act.Item) func(context.Context) error {
	e, node, name := s.Election, s.Election.Session.Node, sanitize.Line(s.Election.Session.Node, election.LabelLength)
	return func(ctx context.Context) error {
		known := consulx.NodeChecks(ctx, in.client, node)
		again := map[string]election.NodeChecks{node: known}
		if reason := unread(e, again); reason != "" {
			return consulx.Fail(consulx.ErrRefused, "%s", reason)
		}
		was := insight.FailureOf(e, s.Checks)
		is := insight.FailureOf(e, again)
		switch {
		case is == nil || is.Check.ModifyIndex != was.Check.ModifyIndex:
			return consulx.Fail(consulx.ErrMoved, "the node check of %s changed", name)
		case known.At.Before(s.Ready):
			return consulx.Fail(consulx.ErrRefused, "electop has not seen for long enough that the node check of %s is critical", name)
		}
		return nil
	}
}

// Diagnose finds the problem with an election of a snapshot, as electop rescue does. A fix destroys a session, so the
// diagnosis includes all elections that the session leads.
func (b *dashboard) Diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) act.Diagnosis {
	c, err := b.in(e.Datacenter)
	if err != nil {
		return act.Diagnosis{}
	}
	chosen := []*election.Election{e}
	for _, other := range s.Elections {
		if other.ID() != e.ID() && e.Pair.Held() && other.Pair.HeldBy(e.Pair.Session) {
			chosen = append(chosen, other)
		}
	}
	for _, i := range (inspector{client: c.client, elections: s.Elections, now: time.Now(), probe: !b.o.readOnly}).inspect(ctx, chosen) {
		if i.Election == e {
			return i.Diagnosis
		}
	}
	return act.Diagnosis{}
}
