package sqlite

import (
	"context"
	"database/sql"

	"electop/election"
)

// missed counts the unobserved terms since the latest known one, from LockIndex.
func (s *store) missed(ctx context.Context, sub subject, e *election.Event, held bool) error {
	var latest sql.NullInt64
	if _, err := s.row(ctx, `SELECT number FROM terms INDEXED BY terms_by_number WHERE election = ? AND create_index = ?
		AND epoch = ? AND first_index <= ? ORDER BY number DESC LIMIT 1`,
		[]any{sub.id, index(e.CreateIndex), sub.epoch, index(e.ModifyIndex)}, &latest); err != nil {
		return err
	}
	count := index(e.Term) - latest.Int64
	if held {
		count--
	}
	if !latest.Valid || count <= 0 {
		return nil
	}
	m := *e
	m.Type, m.Initial, m.Count, m.Gap = election.Missed, false, uint64(count), true
	m.Leader, m.Session, m.Node = "", "", ""
	return s.insert(ctx, sub, nil, &m)
}

// begins reports whether an event begins the term that an observer read when it missed
// others.
func begins(e, missed *election.Event) bool {
	return e.Type == election.Elected && e.Key == missed.Key && e.ModifyIndex == missed.ModifyIndex
}

// unseen stores how many terms an observer missed, without those that another one saw. held
// says that the event counts only the terms before its number.
func (s *store) unseen(ctx context.Context, sub subject, e *election.Event, held bool) error {
	newest := index(e.Term)
	if held {
		newest--
	}
	var seen int64
	if _, err := s.row(ctx, `SELECT count(DISTINCT number) FROM terms INDEXED BY terms_by_number WHERE election = ?1 AND create_index = ?2
		AND number BETWEEN ?3 AND ?4 AND epoch = ?5 AND first_index <= ?6 AND first_index > (SELECT ifnull(max(modify_index), 0) FROM events
			WHERE election = ?1 AND epoch = ?5 AND create_index = ?2 AND modify_index <= ?6
			AND type IN ('updated', 'overwritten', 'missed') AND type = 'overwritten')`,
		[]any{sub.id, index(e.CreateIndex), newest - index(e.Count) + 1, newest, sub.epoch, index(e.ModifyIndex)}, &seen); err != nil {
		return err
	}
	if seen >= index(e.Count) {
		return nil
	}
	m := *e
	m.Count -= unsigned(seen)
	return s.insert(ctx, sub, nil, &m)
}

// notMissed corrects the count of missed terms for one that an observer saw and stores
// later than another observer counted it.
func (s *store) notMissed(ctx context.Context, sub subject, e *election.Event) error {
	const counted = `election = ? AND epoch = ? AND create_index = ? AND modify_index > ?
		AND type IN ('updated', 'overwritten', 'missed') AND type = 'missed'`
	at := []any{sub.id, sub.epoch, index(e.CreateIndex), index(e.ModifyIndex)}
	number := index(e.Term)
	r, err := s.exec(ctx, "UPDATE events SET count = count - 1 WHERE "+counted+" AND ? > 0 AND ? BETWEEN term - count AND term",
		append(at, number, number)...)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = s.exec(ctx, "DELETE FROM events WHERE "+counted+" AND count = 0", at...)
	return err
}
