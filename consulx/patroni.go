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
	if t.Key[strings.LastIndexByte(t.Key, '/')+1:] != "leader" { // of every Patroni leader
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
	// If not all siblings were read, only the session can identify Patroni.
	switch hidden := err != nil && !Unanswered(err); {
	case hidden && e.Session != nil:
		return nil
	case hidden:
		return Fail(ErrRefused, "electop does not release Patroni's keys, and it is unknown whether %s belongs to Patroni: the token lacks %s; "+
			"nothing was written", sanitize.Line(t.Key, 80), rightTo("read", "session", "").rule())
	}
	return err
}

// refusal returns the reason why electop does not release a key, or "" if electop releases it.
func refusal(e *election.Election, around *election.Surroundings) string {
	return insight.EffectOf(election.ActionRelease, e, around, -1).Refusal
}
