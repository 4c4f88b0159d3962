package sqlite

import (
	"context"
	"math"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// store writes to the file through one connection. All methods except openStore, leave and those of Conn must run
// inside a transaction. The transaction excludes other writers, so data that a method reads remains current until the
// method writes.
type store struct {
	*dbfile.Conn
	// observation is the ID of the current period, or 0 if there is none. latest is the ID of this process's latest
	// period.
	observation, latest int64
}

func openStore(ctx context.Context, path string) (*store, error) {
	conn, err := dbfile.Connect(ctx, path)
	if err != nil {
		return nil, err
	}
	return &store{Conn: conn}, nil
}

// subject is the stored election of an event.
type subject struct {
	id    int64
	epoch int64 // number of restores before the event
	isNew bool
}

// subjectOf finds the row of the event's election, or creates it.
func (s *store) subjectOf(ctx context.Context, e *election.Event) (subject, error) {
	var sub subject
	ident := ""
	if e.Key != "" {
		ident = e.Ident()
	}
	found, err := s.Row(ctx, `SELECT id, (SELECT count(*) FROM restores r WHERE r.election = e.id AND r.at <= ?)
		FROM elections e WHERE datacenter = ? AND ident = ?`, []any{history.Nanos(e.Time), e.Datacenter, ident}, &sub.id, &sub.epoch)
	if err != nil {
		return sub, err
	}
	if !found {
		r, err := s.Exec(ctx, "INSERT INTO elections (datacenter, ident, key, name) VALUES (?, ?, ?, ?)",
			e.Datacenter, ident, e.Key, e.Election)
		if err != nil {
			return sub, err
		}
		sub.isNew = true
		if sub.id, err = r.LastInsertId(); err != nil {
			return sub, err
		}
	}
	if e.Restored {
		err = s.restored(ctx, &sub, history.Nanos(e.Time))
	}
	return sub, err
}

// sameRestore is the maximum time between the reports of two observers about the same restore. An observer detects a
// restore within 30 s (docs/reliability.md).
const sameRestore = int64(time.Minute)

// restored begins another epoch, unless another observer has already reported the same restore.
func (s *store) restored(ctx context.Context, sub *subject, at int64) error {
	var known int64
	found, err := s.Row(ctx, "SELECT at FROM restores WHERE election = ? AND at BETWEEN ? AND ? ORDER BY at LIMIT 1",
		[]any{sub.id, at - sameRestore, at + sameRestore}, &known)
	if err != nil {
		return err
	}
	if !found {
		known = at
		_, err = s.Exec(ctx, "INSERT INTO restores (election, at) VALUES (?, ?)", sub.id, at)
	} else if at < known {
		_, err = s.Exec(ctx, "UPDATE restores SET at = ? WHERE election = ? AND at = ?", at, sub.id, known)
		known = at
	}
	if err != nil {
		return err
	}
	_, err = s.Row(ctx, "SELECT count(*) FROM restores WHERE election = ? AND at <= ?", []any{sub.id, known}, &sub.epoch)
	return err
}

// event stores the first of several events, unless this event is already stored. It also updates the terms.
func (s *store) event(ctx context.Context, events []election.Event) error {
	own := events[0] // change a copy, because the queue must keep the event
	e := &own
	sub, err := s.subjectOf(ctx, e)
	if err != nil {
		return err
	}
	switch e.Type {
	case election.Elected:
		if e.Initial {
			return s.foundLed(ctx, sub, e)
		}
		return s.elected(ctx, sub, e)
	case election.Vacated:
		if e.Initial {
			return s.foundVacant(ctx, sub, e)
		}
		return s.vacated(ctx, sub, e)
	case election.Explained:
		return s.explained(ctx, sub, e)
	case election.Updated, election.Overwritten:
		if err := s.relabel(ctx, sub, e); err != nil {
			return err
		}
	case election.Missed:
		return s.unseen(ctx, sub, e, len(events) > 1 && begins(&events[1], e))
	case election.Entered, election.Left:
		return s.slot(ctx, sub, e)
	case election.Unreadable, election.Readable:
		return s.permission(ctx, sub, e)
	case election.Deleted:
		if err := s.endDeleted(ctx, sub, e); err != nil {
			return err
		}
	default:
	}
	return s.insert(ctx, sub, nil, e)
}

// insert stores an event. The unique indexes reject an event that is already stored. Values that equal those of the
// term t are stored as NULL. t may be nil.
func (s *store) insert(ctx context.Context, sub subject, t *termRow, e *election.Event) error {
	var own termRow
	if t != nil {
		own = *t
	}
	_, err := s.Exec(ctx, `INSERT INTO events (time, type, election, term_id, observation, epoch, create_index, modify_index,
		term, leader, session, node, evidence, initial, gap, vacancy, held, held_known, cause, guess, lock_delay_until, count,
		prefix, holders, slots, error)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		history.Nanos(e.Time), string(e.Type), sub.id, null(own.id), null(s.observation), sub.epoch, index(e.CreateIndex), index(e.ModifyIndex),
		index(e.Term), unless(e.Leader, own.leader), unless(e.Session, own.session), unless(e.Node, own.node),
		unless(e.Evidence, own.evidence), null(e.Initial), null(e.Gap),
		known(e.VacancyKnown, e.Vacancy), known(e.Type == election.Vacated && !e.Initial, e.Held), null(e.HeldKnown),
		null(string(e.Cause)), null(e.Guess), null(history.Nanos(e.LockDelayUntil)), null(index(e.Count)),
		null(e.Prefix), known(e.OfSlot(), e.Holders), known(e.OfSlot(), e.Limit), null(e.Error))
	return err
}

// unless returns text, or NULL if text equals the text of the term.
func unless(text, ofTerm string) any {
	if text == ofTerm {
		return nil
	}
	return text
}

// slot stores that a session entered or left a semaphore. It compares the event with the stored state of the session,
// because observers that miss writes report different indexes for the same change.
func (s *store) slot(ctx context.Context, sub subject, e *election.Event) error {
	var before string
	var modified, epoch int64
	found, err := s.Row(ctx, `SELECT type, modify_index, epoch FROM events INDEXED BY events_of_slots
		WHERE election = ? AND type IN ('entered', 'left') AND session IS ? AND create_index = ? ORDER BY time DESC, id DESC LIMIT 1`,
		[]any{sub.id, null(e.Session), index(e.CreateIndex)}, &before, &modified, &epoch)
	if err != nil {
		return err
	}
	late := epoch == sub.epoch && modified > index(e.ModifyIndex)
	if found && (before == string(e.Type) || late) {
		return nil
	}
	return s.insert(ctx, sub, nil, e)
}

// permission stores that a key became unreadable or readable. It ignores the event if another observer has already
// stored it.
func (s *store) permission(ctx context.Context, sub subject, e *election.Event) error {
	var before string
	found, err := s.Row(ctx, `SELECT type FROM events
		WHERE election = ? AND type IN `+dbfile.StateTypes+` AND type IN ('unreadable', 'readable', 'deleted') AND ifnull(prefix, '') = ? ORDER BY time DESC, id DESC LIMIT 1`,
		[]any{sub.id, e.Prefix}, &before)
	if err != nil || found && before == string(e.Type) {
		return err
	}
	return s.insert(ctx, sub, nil, e)
}

// since and until return the limits of a range as Unix nanoseconds.
func since(r history.Range) int64 {
	if r.Since.IsZero() {
		return math.MinInt64
	}
	return history.Nanos(r.Since)
}

func until(r history.Range) int64 {
	if r.Until.IsZero() {
		return math.MaxInt64
	}
	return history.Nanos(r.Until)
}

// index returns the stored form of a Raft index or a count. SQLite has only signed integers.
func index(n uint64) int64 { return int64(min(n, 1<<63-1)) }

func unsigned(n int64) uint64 { return uint64(max(0, n)) }

func duration(n int64) time.Duration { return time.Duration(n) }

// null returns NULL for the zero value, to save space.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// known returns NULL for a number that does not apply.
func known[T ~int | ~int64](applies bool, v T) any {
	if !applies {
		return nil
	}
	return int64(v)
}
