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

// subject is one election to act on.
type subject struct {
	election *election.Election // nil for a session that leads no watched election
	session  *election.Session  // set without an election, if the token may read it
	insight  assessment
	effect   insight.Effect
	outcome  insight.Outcome // its Kind is empty until it is known
}

func (s *subject) target() election.Target { return s.outcome.Target }

// pending reports that the action has not been tried yet.
func (s *subject) pending() bool { return s.outcome.Kind == "" }

// settle ends a subject without an action.
func (s *subject) settle(kind insight.OutcomeKind, reason string) {
	s.outcome.Kind, s.outcome.Reason = kind, reason
}

// choose finds what the command line names. Every NAME must be known before
// anything is done.
func (j *job) choose(ctx context.Context, names []string) error {
	if j.session != "" {
		return j.chooseSession(ctx)
	}
	chosen, err := lookup{j.d, j.client, j.patterns, j.snapshot}.choose(ctx, names)
	if err != nil {
		return err
	}
	if j.node != "" {
		if chosen, err = j.ledOn(ctx, chosen); err != nil {
			return err
		}
	}
	for i, e := range chosen {
		if !slices.Contains(chosen[:i], e) {
			j.add(e)
		}
	}
	return nil
}

func (j *job) add(e *election.Election) {
	s := &subject{election: e, outcome: insight.Outcome{Action: j.kind, Target: e.Target()}}
	j.subjects = append(j.subjects, s)
	switch {
	case e.State(j.snapshot.At) == election.Led:
	case e.IsSemaphore():
		s.settle(insight.OutcomeNoLeader, "the key belongs to a semaphore, which has holders and no leader")
	default:
		s.settle(insight.OutcomeNoLeader, "the election has no leader")
	}
}

// ledOn keeps the elections that a session on the node of --node leads.
func (j *job) ledOn(ctx context.Context, all []*election.Election) ([]*election.Election, error) {
	var found []*election.Election
	for _, e := range all {
		if !e.Exists || !e.Pair.Held() {
			continue
		}
		node, err := j.nodeOf(ctx, e)
		if err != nil {
			return nil, err
		}
		if node == j.node {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no session on node %s leads one", errNoElection, sanitize.Line(j.node, 60))
	}
	return found, nil
}

// nodeOf gives the node of the leader, empty when its session has ended. A leader
// whose session the token may not read could be on any node: that is an error.
func (j *job) nodeOf(ctx context.Context, e *election.Election) (string, error) {
	if e.Session != nil {
		return e.Session.Node, nil
	}
	session, err := j.readSession(ctx, e.Pair.Session)
	switch {
	case errors.Is(err, consulx.ErrNoSession):
		return "", nil
	case errors.Is(err, consulx.ErrDenied):
		return "", fmt.Errorf("%w: the node of %s's leader is unknown, because this token may not read its session",
			consulx.ErrDenied, sanitize.Line(e.Name, 100))
	case err != nil:
		return "", err
	}
	return session.Node, nil
}

// chooseSession finds what --session stands for: the elections that the session
// leads, or the session alone.
func (j *job) chooseSession(ctx context.Context) error {
	for _, e := range j.snapshot.Elections {
		if e.Exists && e.Pair.Session == j.session {
			j.add(e)
		}
	}
	if len(j.subjects) > 0 {
		return nil
	}
	if j.wait > 0 {
		return usagef("--wait: session %s leads no election that the patterns match", sanitize.Line(j.session, 40))
	}
	session, err := j.readSession(ctx, j.session)
	if err != nil && !errors.Is(err, consulx.ErrDenied) {
		return err
	}
	t := election.Target{Session: j.session}
	if session != nil {
		t.Node, t.Behavior, t.LockDelay = session.Node, session.Behavior, session.EnforcedLockDelay()
	}
	j.subjects = []*subject{{session: session, outcome: insight.Outcome{Action: j.kind, Target: t}}}
	return nil
}

// readSession reads one session. It fails with ErrDenied where the token may not
// read all sessions, and with ErrNoSession where there is none with this ID.
func (j *job) readSession(ctx context.Context, id string) (*election.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	sessions, err := consulx.Sessions(ctx, j.client)
	for _, s := range sessions {
		if s.ID == id {
			return s, nil
		}
	}
	switch {
	case errors.Is(err, consulx.ErrIncomplete):
		return nil, consulx.ErrDenied
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s", consulx.ErrNoSession, sanitize.Line(id, 40))
}

// surveySession says what destroying a session that leads no watched election
// does, from the keys that the search found.
func (j *job) surveySession() {
	for _, s := range j.pending() {
		if s.election == nil {
			complete := j.held != nil && !j.held.incomplete
			s.effect = insight.EffectOfSession(s.session, j.held.of(s.target().Session), complete)
		}
	}
}

// sessions gives one target for each session of the pending subjects.
func (j *job) sessions() []election.Target {
	var all []election.Target
	for _, s := range j.pending() {
		same := func(t election.Target) bool { return t.Session == s.target().Session }
		if !slices.ContainsFunc(all, same) {
			all = append(all, s.target())
		}
	}
	return all
}

// exactPatterns are patterns that match exactly the subjects' keys.
func exactPatterns(all []*subject) election.Patterns {
	var ps election.Patterns
	for _, s := range all {
		if key := s.target().Key; key != "" {
			ps = append(ps, election.KeyPattern(key))
		}
	}
	return ps
}

// names joins the names of several elections.
func names(all []*subject) string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, s.name())
	}
	return strings.Join(texts, ", ")
}
