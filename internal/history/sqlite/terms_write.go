package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"electop/election"
	"electop/internal/history"
)

// termRow is a stored term.
type termRow struct {
	id, epoch, number   int64
	first, last         int64 // ModifyIndex of the key when the session's hold was first and last read
	started             int64
	startKnown          bool
	ended, seenUntil    sql.NullInt64
	session             string
	leader, node, cause string
	evidence            string
	guess               bool
}

const selectTerm = `SELECT id, epoch, number, first_index, last_index, started, start_known, ended, seen_until, session, leader, node, ifnull(cause, ''),
	ifnull(evidence, ''), guess FROM terms `

// term reads one term. Each query specifies an index: without statistics, SQLite could choose an index that reads
// every term of the election.
func (s *store) term(ctx context.Context, where string, args ...any) (*termRow, error) {
	var t termRow
	found, err := s.Row(ctx, selectTerm+where, args, &t.id, &t.epoch, &t.number, &t.first, &t.last, &t.started, &t.startKnown,
		&t.ended, &t.seenUntil, &t.session, &t.leader, &t.node, &t.cause, &t.evidence, &t.guess)
	if err != nil || !found {
		return nil, err
	}
	return &t, nil
}

// readWithin is the usual maximum time between the reads of the same change by two observers.
const readWithin = int64(time.Second)

// termOf returns the term of an event, or nil if it is not stored. After a restore, several terms can have the same
// number. termOf then returns the latest one that began before the event.
func (s *store) termOf(ctx context.Context, sub subject, e *election.Event) (*termRow, error) {
	create, number, at := index(e.CreateIndex), index(e.Term), history.Nanos(e.Time)+readWithin
	for _, q := range []struct {
		where string
		args  []any
	}{
		{"started <= ? ORDER BY started DESC, id DESC LIMIT 1", []any{at}},
		{"started > ? ORDER BY started LIMIT 1", []any{at}},
	} {
		t, err := s.term(ctx, "INDEXED BY terms_by_number WHERE election = ? AND create_index = ? AND number = ? AND session = ? AND "+q.where,
			append([]any{sub.id, create, number, e.Session}, q.args...)...)
		if err != nil || t != nil {
			return t, err
		}
	}
	// An observer that starts after a write without the lock reports term 0.
	t, err := s.term(ctx, `INDEXED BY terms_open WHERE election = ? AND create_index = ? AND session = ? AND ended IS NULL
		AND (? = 0 OR number = 0) LIMIT 1`, sub.id, create, e.Session, number)
	if err != nil || t != nil || number != 0 {
		return t, err
	}
	return s.term(ctx, `INDEXED BY terms_by_number WHERE election = ? AND create_index = ? AND session = ?
		AND first_index <= ? AND last_index >= ? LIMIT 1`, sub.id, create, e.Session, index(e.ModifyIndex), index(e.ModifyIndex))
}

// elected begins a term, unless the term is already stored.
func (s *store) elected(ctx context.Context, sub subject, e *election.Event) error {
	t, err := s.termOf(ctx, sub, e)
	if err != nil {
		return err
	}
	again, err := s.beganAgain(ctx, sub, t, e)
	if err != nil {
		return err
	}
	if t == nil || again {
		return s.begin(ctx, sub, e, !e.Gap)
	}
	if !t.startKnown && !e.Gap {
		at := min(history.Nanos(e.Time), t.started)
		if _, err := s.Exec(ctx, "UPDATE terms SET started = ?, start_known = 1 WHERE id = ?", at, t.id); err != nil {
			return err
		}
	}
	return s.insert(ctx, sub, t, e)
}

// beganAgain reports whether e begins a new term, although t, with the same number and session, has already ended.
// LockIndex restarts after a write without the lock and after a restore.
func (s *store) beganAgain(ctx context.Context, sub subject, t *termRow, e *election.Event) (bool, error) {
	switch {
	case t == nil || !t.ended.Valid:
		return false, nil
	case t.epoch < sub.epoch:
		return true, nil
	case e.Term == 0:
		return index(e.ModifyIndex) > t.last, nil
	}
	var one int
	return s.Row(ctx, `SELECT 1 FROM events WHERE election = ? AND epoch = ? AND create_index = ?
		AND type IN ('updated', 'overwritten', 'missed') AND type = 'overwritten' AND modify_index > ? AND modify_index <= ? LIMIT 1`,
		[]any{sub.id, sub.epoch, index(e.CreateIndex), t.first, index(e.ModifyIndex)}, &one)
}

// begin stores a new term with its event.
func (s *store) begin(ctx context.Context, sub subject, e *election.Event, known bool) error {
	if err := s.endUnobserved(ctx, sub, e); err != nil {
		return err
	}
	if err := s.measureVacancy(ctx, sub, e); err != nil {
		return err
	}
	if e.VacancyKnown {
		if _, err := s.Exec(ctx, `UPDATE terms SET vacancy = ? WHERE vacancy IS NULL AND id =
			(SELECT id FROM terms WHERE election = ? AND started <= ? AND ended IS NOT NULL ORDER BY started DESC, id DESC LIMIT 1)`,
			int64(e.Vacancy), sub.id, history.Nanos(e.Time)); err != nil {
			return err
		}
	}
	t, err := s.insertTerm(ctx, sub, e, e.Time, known)
	if err != nil {
		return err
	}
	return s.insert(ctx, sub, t, e)
}

// measureVacancy adds the vacancy to an event if another observer observed the end of the previous term, and
// LockIndex shows that there was no term in between.
func (s *store) measureVacancy(ctx context.Context, sub subject, e *election.Event) error {
	if e.VacancyKnown || e.Initial || e.Gap || e.Term == 0 {
		return nil
	}
	before, err := s.term(ctx, `INDEXED BY terms_by_number WHERE election = ? AND create_index = ? AND number = ? AND epoch = ?
		AND ended <= ? AND seen_until IS NULL ORDER BY started DESC LIMIT 1`,
		sub.id, index(e.CreateIndex), index(e.Term)-1, sub.epoch, history.Nanos(e.Time))
	if err != nil || before == nil {
		return err
	}
	e.Vacancy, e.VacancyKnown = duration(history.Nanos(e.Time)-before.ended.Int64), true
	return nil
}

func (s *store) insertTerm(ctx context.Context, sub subject, e *election.Event, started time.Time, known bool) (*termRow, error) {
	r, err := s.Exec(ctx, `INSERT INTO terms (election, epoch, create_index, number, first_index, last_index, session, leader, node,
		started, start_known) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		sub.id, sub.epoch, index(e.CreateIndex), index(e.Term), index(e.ModifyIndex), index(e.ModifyIndex),
		e.Session, e.Leader, e.Node, history.Nanos(started), known)
	if err != nil {
		return nil, err
	}
	t := &termRow{session: e.Session, leader: e.Leader, node: e.Node}
	if t.id, err = r.LastInsertId(); err != nil {
		return nil, err
	}
	return t, s.notMissed(ctx, sub, e)
}

// endUnobserved ends the current terms of an election if an event shows that the key has another holder or no holder.
func (s *store) endUnobserved(ctx context.Context, sub subject, e *election.Event) error {
	open, err := s.term(ctx, "INDEXED BY terms_open WHERE election = ? AND ended IS NULL AND started <= ? AND (first_index <= ? OR epoch < ?) LIMIT 1",
		sub.id, history.Nanos(e.Time), index(e.ModifyIndex), sub.epoch)
	if err != nil || open == nil {
		return err
	}
	seen, err := s.lastObserved(ctx, e.Datacenter, e.Key, history.Nanos(e.Time))
	if err != nil {
		return err
	}
	_, err = s.Exec(ctx, `UPDATE terms INDEXED BY terms_open SET ended = ?, seen_until = max(started, ?) WHERE election = ? AND ended IS NULL
		AND started <= ? AND (first_index <= ? OR epoch < ?)`,
		history.Nanos(e.Time), seen, sub.id, history.Nanos(e.Time), index(e.ModifyIndex), sub.epoch)
	return err
}

// endDeleted ends a term that has no stored end although its key was deleted. The end was not observed.
func (s *store) endDeleted(ctx context.Context, sub subject, e *election.Event) error {
	open, err := s.term(ctx, "INDEXED BY terms_open WHERE election = ? AND ended IS NULL AND create_index = ? AND started <= ? LIMIT 1",
		sub.id, index(e.CreateIndex), history.Nanos(e.Time))
	if err != nil || open == nil {
		return err
	}
	seen, err := s.lastObserved(ctx, e.Datacenter, e.Key, history.Nanos(e.Time))
	if err != nil {
		return err
	}
	_, err = s.Exec(ctx, "UPDATE terms SET ended = ?, seen_until = max(started, ?) WHERE id = ?", history.Nanos(e.Time), seen, open.id)
	return err
}

// vacated ends a term, unless its end is already stored.
func (s *store) vacated(ctx context.Context, sub subject, e *election.Event) error {
	t, err := s.termOf(ctx, sub, e)
	if err != nil {
		return err
	}
	if t == nil {
		// The start of the term was dropped, or retention deleted it.
		if t, err = s.insertTerm(ctx, sub, e, e.Time.Add(-e.Held), e.HeldKnown); err != nil {
			return err
		}
	}
	exact := t.ended.Valid && t.seenUntil.Valid && !e.Gap
	if !t.ended.Valid || exact {
		if _, err := s.Exec(ctx, "UPDATE terms SET ended = ?, seen_until = ?, last_index = max(last_index, ?) WHERE id = ?",
			max(history.Nanos(e.Time), t.started), null(history.Nanos(e.SeenUntil)), index(e.ModifyIndex), t.id); err != nil {
			return err
		}
	}
	if err := s.name(ctx, t, e, false); err != nil {
		return err
	}
	measureHeld(t, e)
	return s.insert(ctx, sub, t, e)
}

// measureHeld extends the duration in an event if another observer observed a longer part of the term.
func measureHeld(t *termRow, e *election.Event) {
	end := history.Nanos(e.Time)
	if !e.SeenUntil.IsZero() {
		end = history.Nanos(e.SeenUntil)
	}
	e.Held = max(e.Held, duration(end-t.started))
	e.HeldKnown = e.HeldKnown || t.startKnown && e.SeenUntil.IsZero()
}

// foundLed processes an initial event of a held key. It stores the event only if the history does not contain this
// state.
func (s *store) foundLed(ctx context.Context, sub subject, e *election.Event) error {
	t, err := s.termOf(ctx, sub, e)
	if err != nil {
		return err
	}
	switch {
	case t == nil:
	case !t.ended.Valid:
		if err := s.name(ctx, t, e, false); err != nil {
			return err
		}
		_, err := s.Exec(ctx, "UPDATE terms SET last_index = max(last_index, ?) WHERE id = ?", index(e.ModifyIndex), t.id)
		return err
	case history.Nanos(e.Time) <= t.ended.Int64, index(e.ModifyIndex) <= t.last && history.Nanos(e.Time) <= t.ended.Int64+readWithin:
		return nil // another observer has stored the end of the term, and the end is later than this read
	default:
		if err := s.restored(ctx, &sub, history.Nanos(e.Time)); err != nil {
			return err
		}
	}
	if err := s.missed(ctx, sub, e, true); err != nil {
		return err
	}
	return s.begin(ctx, sub, e, false)
}

// foundVacant processes an initial event of a free key.
func (s *store) foundVacant(ctx context.Context, sub subject, e *election.Event) error {
	if err := s.missed(ctx, sub, e, false); err != nil {
		return err
	}
	if err := s.endUnobserved(ctx, sub, e); err != nil {
		return err
	}
	var last string
	var ended bool
	if _, err := s.Row(ctx, "SELECT type FROM events WHERE election = ? ORDER BY time DESC, id DESC LIMIT 1", []any{sub.id}, &last); err != nil {
		return err
	}
	if _, err := s.Row(ctx, "SELECT 1 FROM terms WHERE election = ? AND ended = ?", []any{sub.id, history.Nanos(e.Time)}, &ended); err != nil {
		return err
	}
	if !sub.isNew && !ended && last != string(election.Deleted) {
		return nil
	}
	return s.insert(ctx, sub, nil, e)
}

// relabel stores the new label of a holder that wrote another value.
func (s *store) relabel(ctx context.Context, sub subject, e *election.Event) error {
	if e.Session == "" {
		return nil
	}
	t, err := s.termOf(ctx, sub, e)
	if err != nil || t == nil {
		return err
	}
	if err := s.name(ctx, t, e, true); err != nil {
		return err
	}
	_, err = s.Exec(ctx, "UPDATE terms SET last_index = max(last_index, ?) WHERE id = ?", index(e.ModifyIndex), t.id)
	return err
}

// name stores the leader's label and node. changed is set if the holder wrote another value. Otherwise, the label
// differs because the session was read after the key.
func (s *store) name(ctx context.Context, t *termRow, e *election.Event, changed bool) error {
	leader, node := cmp.Or(e.Leader, t.leader), cmp.Or(e.Node, t.node)
	if leader == t.leader && node == t.node {
		return nil
	}
	if leader != t.leader {
		// The earlier events must keep the previous label.
		if _, err := s.Exec(ctx, "UPDATE events SET leader = ? WHERE term_id = ? AND type = 'elected' AND leader IS NULL", t.leader, t.id); err != nil {
			return err
		}
	}
	relabeled := changed && leader != t.leader
	t.leader, t.node = leader, node
	_, err := s.Exec(ctx, "UPDATE terms SET leader = ?, node = ?, relabeled = relabeled OR ? WHERE id = ?", leader, node, relabeled, t.id)
	return err
}
