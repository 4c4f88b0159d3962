package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// State rebuilds the state at a moment.
func (f *File) State(ctx context.Context, q history.StateQuery) (history.State, error) {
	if q.Window <= 0 {
		q.Window = time.Hour
	}
	st := history.State{At: q.At}
	seen, err := f.ids(ctx, "SELECT ifnull(max(min(seen, ?1)), 0) FROM observations WHERE started <= ?1", nanos(q.At))
	if err != nil {
		return st, err
	}
	st.LastObserved = moment(seen[0])
	st.Observed = seen[0] != 0 && q.At.Sub(st.LastObserved) < history.AliveWithin
	elections, err := f.electionsAt(ctx, q)
	if err != nil {
		return st, err
	}
	if err := f.termsAt(ctx, q, elections); err != nil {
		return st, err
	}
	for id, r := range elections {
		if err := f.settle(ctx, q.At, id, r); err != nil {
			return st, err
		}
		st.Elections = append(st.Elections, r.e)
	}
	slices.SortFunc(st.Elections, election.Compare)
	return st, nil
}

// rebuilt is an election while its state is read from the file.
type rebuilt struct {
	e         *election.Election
	first     int64 // when the election was first observed
	change    string
	last      election.EventType // the latest event except explanations
	relabeled bool
	delays    map[int]time.Time // by index of the term
}

// electionsAt lists the elections that were known at the moment, with the latest event that shows whether the key
// exists, is readable, or is a semaphore.
func (f *File) electionsAt(ctx context.Context, q history.StateQuery) (map[int64]*rebuilt, error) {
	//nolint:gosec // StateTypes is a constant
	rows, err := f.db.QueryContext(ctx, `SELECT e.id, e.name, e.key, e.datacenter,
		ifnull((SELECT time FROM events WHERE election = e.id ORDER BY time LIMIT 1), 0) AS event,
		ifnull((SELECT started FROM terms WHERE election = e.id ORDER BY started LIMIT 1), 0) AS term,
		ifnull((SELECT type FROM events WHERE election = e.id AND time <= ?1
			AND type IN `+dbfile.StateTypes+` ORDER BY time DESC, id DESC LIMIT 1), ''),
		ifnull(l.type, ''), ifnull(l.create_index, 0), ifnull(l.modify_index, 0)
		FROM elections e LEFT JOIN events l ON l.id = (SELECT id FROM events
			WHERE election = e.id AND time <= ?1 AND type <> 'explained' ORDER BY time DESC, id DESC LIMIT 1)
		WHERE e.key <> ''`, nanos(q.At))
	if err != nil {
		return nil, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	all := map[int64]*rebuilt{}
	for rows.Next() {
		var id, event, term, create, modify int64
		r := &rebuilt{e: &election.Election{Exists: true}, delays: map[int]time.Time{}}
		if err := rows.Scan(&id, &r.e.Name, &r.e.Pair.Key, &r.e.Datacenter, &event, &term, &r.change, &r.last, &create, &modify); err != nil {
			return nil, dbfile.Wrap(f.path, err)
		}
		if r.first = event; event == 0 || term != 0 && term < event {
			r.first = term
		}
		if r.first == 0 || r.first > nanos(q.At) {
			continue
		}
		r.e.Pair.CreateIndex, r.e.Pair.ModifyIndex = unsigned(create), unsigned(modify)
		r.e.Unaddressable = !election.Addressable(r.e.Pair.Key)
		all[id] = r
	}
	return all, dbfile.Wrap(f.path, rows.Err())
}

// termsAt adds the terms of the window, and the latest two of each election, as they were known at the moment.
func (f *File) termsAt(ctx context.Context, q history.StateQuery, elections map[int64]*rebuilt) error {
	rows, err := f.db.QueryContext(ctx, selectTermsAt, nanos(q.At), nanos(q.At.Add(-q.Window)))
	if err != nil {
		return dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, explained int64
		var relabeled bool
		t, _, err := scanTerm(rows, &id, &explained, &relabeled)
		if err != nil {
			return dbfile.Wrap(f.path, err)
		}
		r := elections[id]
		if r == nil {
			continue
		}
		if t.End.After(q.At) {
			t.End, t.SeenUntil = time.Time{}, time.Time{}
		}
		if explained == 0 || explained > nanos(q.At) {
			t.Cause, t.Evidence, t.Guess, t.LockDelayUntil = "", "", false, time.Time{}
		}
		r.e.Terms = append(r.e.Terms, t.Term)
		r.delays[len(r.e.Terms)-1] = t.LockDelayUntil
		r.relabeled = relabeled
	}
	return dbfile.Wrap(f.path, rows.Err())
}

const selectTermsAt = `SELECT t.id, '', '', '', t.number, t.create_index, t.session, t.leader, t.node, t.started, t.start_known,
	ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), t.guess, ifnull(t.evidence, ''), ifnull(t.by, ''),
	ifnull(t.lock_delay_until, 0), t.election, ifnull(t.explained, 0), t.relabeled
	FROM terms t WHERE t.id IN (
		SELECT id FROM terms WHERE started BETWEEN ?2 AND ?1
		UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started <= ?1 ORDER BY started DESC, id DESC LIMIT 1) FROM elections e
		UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started <= ?1 ORDER BY started DESC, id DESC LIMIT 1 OFFSET 1) FROM elections e)
	ORDER BY t.election, t.started, t.id`

// settle completes an election from its terms and its latest change.
func (f *File) settle(ctx context.Context, at time.Time, id int64, r *rebuilt) error {
	e := r.e
	switch last := len(e.Terms) - 1; {
	case last >= 0 && !e.Terms[last].Over():
		t := &e.Terms[last]
		e.Leader, e.Term, e.Since, e.SinceKnown = t.Leader, t.Number, t.Start, t.StartKnown
		e.Pair.Session, e.Pair.LockIndex, e.Pair.CreateIndex = t.Session, t.Number, t.CreateIndex
		if r.relabeled {
			if err := f.labelAt(ctx, at, id, t); err != nil {
				return err
			}
			e.Leader = t.Leader
		}
	case last >= 0:
		t := &e.Terms[last]
		if e.Term = t.Number; r.last != election.Overwritten { // that write reset LockIndex
			e.Pair.LockIndex = t.Number
		}
		e.VacantSince, e.VacantSinceKnown = t.End, t.SeenUntil.IsZero()
		e.LockDelayUntil, e.LockDelayDoubtful = r.delays[last], t.Guess
	default:
		e.VacantSince = moment(r.first)
	}
	switch election.EventType(r.change) {
	case election.Deleted:
		e.Exists = e.Leader != ""
	case election.Unreadable:
		e.Unreadable = true
	case election.Entered, election.Left:
		if e.Leader == "" {
			return f.semaphoreAt(ctx, at, id, e)
		}
	default: // readable, or no event
	}
	return nil
}

// labelAt returns the label of a holder that changed it during its term.
func (f *File) labelAt(ctx context.Context, at time.Time, id int64, t *election.Term) error {
	labels, err := list(ctx, f, scanOne[string], `SELECT leader FROM events WHERE election = ? AND time BETWEEN ? AND ? AND (session IS NULL OR session = ?)
		AND leader IS NOT NULL ORDER BY time DESC, id DESC LIMIT 1`, id, nanos(t.Start), nanos(at), t.Session)
	if len(labels) > 0 {
		t.Leader = labels[0]
	}
	return err
}

// slotEvents is the maximum number of events from which the holders of a semaphore are rebuilt.
const slotEvents = 1000

// semaphoreAt rebuilds a semaphore's holders from its entered and left events.
func (f *File) semaphoreAt(ctx context.Context, at time.Time, id int64, e *election.Election) error {
	//nolint:gosec // StateTypes is a constant
	rows, err := f.db.QueryContext(ctx, `SELECT type, ifnull(session, ''), ifnull(holders, 0), ifnull(slots, 0) FROM events
		WHERE election = ? AND type IN `+dbfile.StateTypes+` AND type IN ('entered', 'left') AND time <= ? ORDER BY time DESC, id DESC LIMIT ?`, id, nanos(at), slotEvents)
	if err != nil {
		return dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	value := struct {
		Limit   int
		Holders map[string]bool
	}{Holders: map[string]bool{}}
	left, holders := map[string]bool{}, -1
	for rows.Next() && (holders < 0 || len(value.Holders) < holders) {
		var kind election.EventType
		var session string
		var now, limit int
		if err := rows.Scan(&kind, &session, &now, &limit); err != nil {
			return dbfile.Wrap(f.path, err)
		}
		if holders < 0 {
			holders, value.Limit = now, limit
		}
		if kind == election.Left {
			left[session] = true
		} else if !left[session] {
			value.Holders[session] = true
		}
	}
	if err := rows.Err(); err != nil {
		return dbfile.Wrap(f.path, err)
	}
	e.VacantSince, e.VacantSinceKnown = time.Time{}, false
	e.Pair.Flags = election.SemaphoreFlag
	e.Pair.Value, err = json.Marshal(value)
	return err
}
