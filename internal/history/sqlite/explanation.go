package sqlite

import (
	"context"

	"electop/election"
	"electop/internal/history"
)

// explained stores why a term ended, unless the stored explanation is at least as certain.
func (s *store) explained(ctx context.Context, sub subject, e *election.Event) error {
	t, err := s.termOf(ctx, sub, e)
	if err != nil {
		return err
	}
	if t == nil {
		return s.insert(ctx, sub, nil, e)
	}
	x, by, err := s.byOperator(ctx, e)
	if err != nil {
		return err
	}
	return s.explain(ctx, sub, t, x, by)
}

func (s *store) explain(ctx context.Context, sub subject, t *termRow, e *election.Event, by string) error {
	if certainty(e.Cause, e.Guess) <= certainty(election.Cause(t.cause), t.guess) {
		return nil
	}
	if t.cause != "" { // the event of the earlier explanation must keep its evidence
		if _, err := s.Exec(ctx, "UPDATE events SET evidence = ? WHERE term_id = ? AND type = 'explained' AND evidence IS NULL",
			t.evidence, t.id); err != nil {
			return err
		}
	}
	t.evidence = e.Evidence
	if _, err := s.Exec(ctx, `UPDATE terms SET explained = ifnull(explained, ?), cause = ?, guess = ?, evidence = ?, by = ?,
		lock_delay_until = ifnull(?, lock_delay_until) WHERE id = ?`,
		history.Nanos(e.Time), string(e.Cause), e.Guess, e.Evidence, null(by), null(history.Nanos(e.LockDelayUntil)), t.id); err != nil {
		return err
	}
	return s.insert(ctx, sub, t, e)
}

// certainty ranks explanations. The explanation with the higher rank is kept.
func certainty(c election.Cause, guess bool) int {
	switch {
	case c == "":
		return 0
	case c == election.Unknown:
		return 1
	case guess:
		return 2
	case c == election.OperatorRelease || c == election.OperatorDestroy:
		return 4
	}
	return 3
}

// byOperator returns a copy of e whose cause is the recorded action that ended the term, and the name of the operator.
// If no recorded action ended the term, it returns e itself.
func (s *store) byOperator(ctx context.Context, e *election.Event) (x *election.Event, by string, err error) {
	var kind string
	found, err := s.Row(ctx, `SELECT action, by FROM actions WHERE session = ? AND result = 'done' AND (key = '' OR key = ?)
		AND (create_index = 0 OR create_index = ?) AND (term = 0 OR term = ?) AND time BETWEEN ? AND ? ORDER BY time DESC LIMIT 1`,
		[]any{e.Session, e.Key, index(e.CreateIndex), index(e.Term), history.Nanos(e.Time) - actionReach, history.Nanos(e.Time) + actionReach}, &kind, &by)
	if err != nil || !found {
		return e, "", err
	}
	c := *e
	c.Guess = false
	c.Cause, c.Evidence = operatorCause(kind, by)
	if e.Cause != c.Cause && !election.ActionKind(kind).Explains(e.Cause, e.Guess) {
		return e, "", nil
	}
	return &c, by, nil
}

func operatorCause(kind, by string) (cause election.Cause, evidence string) {
	if kind == string(election.ActionDestroy) {
		return election.OperatorDestroy, "the session was destroyed with electop by " + by
	}
	return election.OperatorRelease, "released with electop by " + by
}
