package consulx

import (
	"context"
	"errors"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// refuse fails with ErrRefused if a release would be harmful: Patroni stores the leader's name in the key's value, and
// a release keeps the value. No option disables this check.
func (op *Operator) refuse(ctx context.Context, t election.Target) error {
	if t.Key[strings.LastIndexByte(t.Key, '/')+1:] != patroniKey {
		return nil
	}
	pair, err := op.client.held(ctx, t)
	if err != nil {
		return err
	}
	e := &election.Election{Exists: true, Pair: *pair}
	if e.Session, err = op.client.session(ctx, t.Session); err != nil && !IsDenied(err) && !errors.Is(err, ErrNoSession) {
		return err
	}
	if e.Session != nil && e.Session.Behavior != election.BehaviorDelete {
		return nil // Patroni's sessions have Behavior delete
	}
	around := &election.Surroundings{Key: t.Key}
	if refusal(e, nil) == "" {
		around.Siblings, _, err = op.client.Siblings(ctx, t.Key)
	}
	if text := refusal(e, around); text != "" {
		text = sanitize.Line(strings.TrimSuffix(text, ".")+"; nothing was written", sentenceLength)
		return &lineError{text: text, kind: ErrRefused}
	}
	return op.unrecognised(t, e.Session, err)
}

// patroniKey is the last segment of every key that names a Patroni leader.
const patroniKey = "leader"

// unrecognised decides whether to release a key that was not recognised as Patroni's. If not all of its siblings were
// read, only the session can identify Patroni.
func (op *Operator) unrecognised(t election.Target, session *election.Session, err error) error {
	switch {
	case err == nil, session != nil && (IsDenied(err) || errors.Is(err, ErrIncomplete)):
		return nil
	case IsDenied(err) || errors.Is(err, ErrIncomplete):
		return Fail(ErrRefused, "electop does not release Patroni's keys, and it is unknown whether %s belongs to Patroni: the token lacks %s; "+
			"nothing was written", sanitize.Line(t.Key, 80), rightTo("read", "session", "").rule())
	}
	return err
}

// refusal returns the reason why electop does not release a key, or "" if electop releases it.
func refusal(e *election.Election, around *election.Surroundings) string {
	return insight.EffectOf(election.ActionRelease, e, around, -1).Refusal
}
