package sqlite

import (
	"context"
	"database/sql"

	"electop/election"
	"electop/internal/history"
)

// missed stores how many terms began while no observer was running, according to LockIndex.
func (s *store) missed(ctx context.Context, sub subject, e *election.Event, held bool) error {
	latest, known, err := s.latestNumber(ctx, sub, e)
	if err != nil || !known {
		return err
	}
	count := index(e.Term) - latest
	if held {
		count--
	}
	if count <= 0 {
		return nil
	}
	m := *e
	m.Type, m.Initial, m.Count, m.Gap = election.Missed, false, uint64(count), true
	m.Leader, m.Session, m.Node = "", "", ""
	return s.insert(ctx, sub, nil, &m)
}

// latestNumber returns the LockIndex up to which the terms of a key are recorded or counted. It returns 0 if the key
// was created after the latest observation. known is false if the history does not contain this information.
func (s *store) latestNumber(ctx context.Context, sub subject, e *election.Event) (number int64, known bool, err error) {
	var term, event sql.NullInt64
	if _, err := s.Row(ctx, `SELECT number FROM terms INDEXED BY terms_by_number WHERE election = ? AND create_index = ?
		AND epoch = ? AND first_index <= ? ORDER BY number DESC LIMIT 1`,
		[]any{sub.id, index(e.CreateIndex), sub.epoch, index(e.ModifyIndex)}, &term); err != nil {
		return 0, false, err
	}
	// A key that was vacant when an observer started has an event but no term.
	if _, err := s.Row(ctx, `SELECT term FROM events INDEXED BY events_by_election WHERE election = ? AND create_index = ? AND epoch = ?
		AND modify_index <= ? AND type IN ('elected', 'vacated', 'missed') ORDER BY time DESC, id DESC LIMIT 1`,
		[]any{sub.id, index(e.CreateIndex), sub.epoch, index(e.ModifyIndex)}, &event); err != nil {
		return 0, false, err
	}
	if term.Valid || event.Valid {
		return max(term.Int64, event.Int64), true, nil
	}
	known, err = s.createdUnobserved(ctx, e)
	return 0, known, err
}

// createdUnobserved reports whether a key was created while no observer was running. The key's CreateIndex is then
// greater than all indexes that earlier observers recorded.
func (s *store) createdUnobserved(ctx context.Context, e *election.Event) (bool, error) {
	seen, err := s.lastObserved(ctx, e.Datacenter, e.Key, history.Nanos(e.Time))
	if err != nil || seen == 0 {
		return false, err
	}
	var newest int64
	found, err := s.Row(ctx, `SELECT v.modify_index FROM events v CROSS JOIN elections e ON e.id = v.election
		WHERE e.datacenter = ? AND v.observation IS NOT ? AND v.modify_index > 0 ORDER BY v.time DESC, v.id DESC LIMIT 1`,
		[]any{e.Datacenter, s.observation}, &newest)
	return found && index(e.CreateIndex) > newest, err
}

// begins reports whether e begins the term during which an observer detected missed terms.
func begins(e, missed *election.Event) bool {
	return e.Type == election.Elected && e.Key == missed.Key && e.ModifyIndex == missed.ModifyIndex
}

// unseen stores how many terms an observer missed. It does not count terms that another observer stored. If held is
// set, the latest term is the current term, which unseen does not count.
func (s *store) unseen(ctx context.Context, sub subject, e *election.Event, held bool) error {
	newest := index(e.Term)
	if held {
		newest--
	}
	var seen int64
	if _, err := s.Row(ctx, `SELECT count(DISTINCT number) FROM terms INDEXED BY terms_by_number WHERE election = ?1 AND create_index = ?2
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

// notMissed corrects the count of missed terms, because an observer can store a term that another observer has
// already counted as missed.
func (s *store) notMissed(ctx context.Context, sub subject, e *election.Event) error {
	const counted = `election = ? AND epoch = ? AND create_index = ? AND modify_index > ?
		AND type IN ('updated', 'overwritten', 'missed') AND type = 'missed'`
	at := []any{sub.id, sub.epoch, index(e.CreateIndex), index(e.ModifyIndex)}
	number := index(e.Term)
	r, err := s.Exec(ctx, "UPDATE events SET count = count - 1 WHERE "+counted+" AND ? > 0 AND ? BETWEEN term - count AND term",
		append(at, number, number)...)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = s.Exec(ctx, "DELETE FROM events WHERE "+counted+" AND count = 0", at...)
	return err
}
