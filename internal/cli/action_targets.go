package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// item is one election or session to act on, and the outcome of the action.
type item struct {
	election   *election.Election // nil if the session leads no watched election
	session    *election.Session  // set if election is nil and the token can read the session
	assessment assessment
	effect     insight.Effect
	outcome    insight.Outcome // the item is pending while Kind is empty
}

func (s *item) target() election.Target { return s.outcome.Target }

// pending reports whether the item has no outcome yet.
func (s *item) pending() bool { return s.outcome.Kind == "" }

// finish sets the outcome of an item on which electop does not act.
func (s *item) finish(kind insight.OutcomeKind, reason string) {
	s.outcome.Kind, s.outcome.Reason = kind, reason
}

// choose selects the items of the command line. It fails if any NAME is unknown.
func (b *batch) choose(ctx context.Context, names []string) error {
	if b.session != "" {
		return b.chooseSession(ctx)
	}
	chosen, err := b.elections(ctx, names)
	if err != nil {
		return err
	}
	if b.node != "" {
		hidden, err := b.warnSilent(ctx)
		if err != nil {
			return err
		}
		b.hidden = hidden
		if chosen, err = b.ledOn(ctx, chosen); err != nil {
			return err
		}
	}
	for i, e := range chosen {
		if !slices.Contains(chosen[:i], e) {
			b.add(e)
		}
	}
	return nil
}

func (b *batch) add(e *election.Election) {
	s := &item{election: e, outcome: insight.Outcome{Action: b.kind, Target: e.Target()}}
	b.items = append(b.items, s)
	switch {
	case e.State(b.snapshot.At) == election.Led:
	case e.IsSemaphore():
		s.finish(insight.OutcomeNoLeader, "the key belongs to a semaphore, which has holders and no leader")
	default:
		s.finish(insight.OutcomeNoLeader, "the election has no leader")
	}
}

// ledOn returns the elections whose leader's session is on the node of --node.
func (b *batch) ledOn(ctx context.Context, all []*election.Election) ([]*election.Election, error) {
	var found []*election.Election
	for _, e := range all {
		if !e.Exists || !e.Pair.Held() {
			continue
		}
		node, err := b.nodeOf(ctx, e)
		if err != nil {
			return nil, err
		}
		if election.SameNode(node, b.node) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no session on node %s leads an election", errNoElection, sanitize.Line(b.node, 60))
	}
	return found, nil
}

// nodeOf returns the node of the leader, or "" if the leader's session has ended. It fails if the token cannot read the
// session, because the leader could be on any node.
func (b *batch) nodeOf(ctx context.Context, e *election.Election) (string, error) {
	if e.Session != nil {
		return e.Session.Node, nil
	}
	session, err := b.readSession(ctx, e.Pair.Session)
	switch {
	case errors.Is(err, consulx.ErrNoSession):
		return "", nil
	case errors.Is(err, consulx.ErrDenied):
		return "", fmt.Errorf("%w: the node of %s's leader is unknown, because this token cannot read its session; use NAMEs without --node",
			consulx.ErrDenied, sanitize.Line(e.Name, 100))
	case err != nil:
		return "", err
	}
	return session.Node, nil
}

// chooseSession selects the elections that the session of --session leads. If the session leads no watched election,
// chooseSession selects only the session.
func (b *batch) chooseSession(ctx context.Context) error {
	session, err := b.readSession(ctx, b.session)
	switch {
	case session != nil:
		b.session = session.ID // Consul finds a session in any case of its ID
	case !errors.Is(err, consulx.ErrDenied):
		return err
	}
	for _, e := range b.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(b.session) {
			b.add(e)
		}
	}
	if len(b.items) > 0 {
		return nil
	}
	if b.wait > 0 {
		return usagef("--wait: session %s leads no election that the patterns match; remove --wait, or select its keys with -k", sanitize.Line(b.session, 40))
	}
	t := election.Target{Session: b.session}
	if session != nil {
		t.Node, t.Behavior, t.LockDelay = session.Node, session.Behavior, session.EnforcedLockDelay()
	}
	b.items = []*item{{session: session, outcome: insight.Outcome{Action: b.kind, Target: t}}}
	return nil
}

// readSession reads one session. It fails with ErrDenied if the token may not read it, and with ErrNoSession if there
// is no session with this ID.
func (b *batch) readSession(ctx context.Context, id string) (*election.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, hidden, err := b.client.SessionsByID(ctx, []string{id})
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return found[0], nil
	case hidden:
		return nil, consulx.ErrDenied
	}
	return nil, fmt.Errorf("%w: %s", consulx.ErrNoSession, sanitize.Line(id, 40))
}

// assessSession infers the effect of destroying a session that leads no watched
// election, from the keys that the search found.
func (b *batch) assessSession() {
	for _, s := range b.pending() {
		if s.election == nil {
			complete := b.held != nil && !b.held.incomplete
			s.effect = insight.EffectOfSession(s.session, b.held.of(s.target().Session), complete)
		}
	}
}

// sessions returns one target per session of the pending items.
func (b *batch) sessions() []election.Target {
	var all []election.Target
	for _, s := range b.pending() {
		same := func(t election.Target) bool { return strings.EqualFold(t.Session, s.target().Session) }
		if !slices.ContainsFunc(all, same) {
			all = append(all, s.target())
		}
	}
	return all
}

// exactPatterns returns patterns that match exactly the items' keys.
func exactPatterns(all []*item) election.Patterns {
	var ps election.Patterns
	for _, s := range all {
		if key := s.target().Key; key != "" {
			ps = append(ps, election.KeyPattern(key))
		}
	}
	return ps
}

func itemNames(all []*item) string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, s.name())
	}
	return strings.Join(texts, ", ")
}
