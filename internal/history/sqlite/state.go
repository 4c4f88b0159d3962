package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// State reconstructs the state at a given time.
func (f *File) State(ctx context.Context, q history.StateQuery) (history.State, error) {
	if q.Window <= 0 {
		q.Window = time.Hour
	}
	st := history.State{At: q.At}
	seen, err := f.ids(ctx, "SELECT ifnull(max(min(seen, ?1)), 0) FROM observations WHERE started <= ?1", history.Nanos(q.At))
	if err != nil {
		return st, err
	}
	st.LastObserved = history.Moment(seen[0])
	st.Observed = seen[0] != 0 && q.At.Sub(st.LastObserved) < history.AliveWithin
	elections, err := f.electionsAt(ctx, q)
	if err != nil {
		return st, err
	}
	err = errors.Join(f.termsAt(ctx, q, elections), f.latestAt(ctx, q.At, elections), f.permissionsAt(ctx, q.At, elections))
	if err != nil {
		return st, err
	}
	for id, r := range elections {
		if err := f.settle(ctx, q.At, id, r); err != nil {
			return st, err
		}
	}
	st.Elections = listed(elections, q.At)
	return st, nil
}

// rebuilt is the state of an election while it is read from the history.
type rebuilt struct {
	e *election.Election
	// first is when the election was first observed. firstKnown is set if the state of the election began at that
	// time.
	first      int64
	firstKnown bool
	// last is the type of the latest event that is not of type explained. lastTime and lastTerm are its time and term.
	last     election.EventType
	lastTime int64
	lastTerm uint64
	// slotsTime is when the holders of a semaphore last changed, or 0 if they never changed. limit is 0 if the key is not
	// a semaphore at the given time.
	slotsTime int64
	limit     int
	// readable is the latest event about the permission to read the key.
	readable     election.EventType
	readableTime int64
	// overwritten is when a client last wrote the held key without the lock.
	overwritten int64
	// missed is the time of the latest missed event. missedGap is set if the event follows a gap: the missed terms may
	// then have ended before the time missed.
	missed    int64
	missedGap bool
	relabeled bool
	// lockDelayUntil is the end of the lock-delay after the last term. explained is when the cause of that term became
	// known.
	lockDelayUntil time.Time
	explained      int64
}

// selectElectionsAt reads the first event of each election, and three events up to the given time: the latest event,
// the latest about a semaphore's holders, and the latest about permissions.
const selectElectionsAt = `SELECT e.id, e.name, e.key, e.datacenter,
	ifnull(a.time, 0), a.initial IS NULL AND a.gap IS NULL,
	ifnull((SELECT started FROM terms WHERE election = e.id ORDER BY started LIMIT 1), 0),
	ifnull(z.type, ''), ifnull(z.time, 0), ifnull(z.term, 0), ifnull(z.create_index, 0), ifnull(z.modify_index, 0),
	ifnull(s.time, 0), ifnull(s.slots, 0), ifnull(r.type, ''), ifnull(r.time, 0)
	FROM elections e
	LEFT JOIN events a ON a.id = (SELECT id FROM events WHERE election = e.id ORDER BY time, id LIMIT 1)
	LEFT JOIN events z ON z.id = (SELECT id FROM events WHERE election = e.id AND time <= ?1 AND type <> 'explained' ORDER BY time DESC, id DESC LIMIT 1)
	LEFT JOIN events s ON s.id = (SELECT id FROM events WHERE election = e.id AND time <= ?1
		AND type IN ` + dbfile.StateTypes + ` AND type IN ('entered', 'left') ORDER BY time DESC, id DESC LIMIT 1)
	LEFT JOIN events r ON r.id = (SELECT id FROM events WHERE election = e.id AND time <= ?1
		AND type IN ` + dbfile.StateTypes + ` AND type IN ('unreadable', 'readable') ORDER BY time DESC, id DESC LIMIT 1)
	WHERE e.key <> ''`

// electionsAt returns the elections that were known at the given time.
func (f *File) electionsAt(ctx context.Context, q history.StateQuery) (map[int64]*rebuilt, error) {
	rows, err := f.db.QueryContext(ctx, selectElectionsAt, history.Nanos(q.At))
	if err != nil {
		return nil, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	all := map[int64]*rebuilt{}
	for rows.Next() {
		id, r, err := scanRebuilt(rows)
		if err != nil {
			return nil, dbfile.Wrap(f.path, err)
		}
		if r.first != 0 && r.first <= history.Nanos(q.At) {
			all[id] = r
		}
	}
	return all, dbfile.Wrap(f.path, rows.Err())
}

func scanRebuilt(rows *sql.Rows) (id int64, r *rebuilt, err error) {
	var term, lastTerm, create, modify int64
	r = &rebuilt{e: &election.Election{Exists: true}}
	err = rows.Scan(&id, &r.e.Name, &r.e.Pair.Key, &r.e.Datacenter, &r.first, &r.firstKnown, &term, &r.last, &r.lastTime, &lastTerm, &create, &modify,
		&r.slotsTime, &r.limit, &r.readable, &r.readableTime)
	if r.first == 0 || term != 0 && term < r.first {
		r.first, r.firstKnown = term, false
	}
	r.lastTerm, r.e.Pair.CreateIndex, r.e.Pair.ModifyIndex = unsigned(lastTerm), unsigned(create), unsigned(modify)
	r.e.Unaddressable = !election.Addressable(r.e.Pair.Key)
	return id, r, err
}

// latestAt adds to each election the time at which the held key was last written without the lock, and the time of the
// latest missed event.
func (f *File) latestAt(ctx context.Context, at time.Time, elections map[int64]*rebuilt) error {
	type latest struct {
		election, at int64
		kind         election.EventType
		gap          bool
	}
	scan := func(rows *sql.Rows) (l latest, err error) {
		err = rows.Scan(&l.kind, &l.election, &l.at, &l.gap)
		return l, err
	}
	// The last condition of each part selects the index events_by_type.
	all, err := list(ctx, f, scan, `SELECT type, election, max(time), gap IS NOT NULL FROM events
		WHERE type = 'overwritten' AND session IS NOT NULL AND time <= ?1 AND type NOT IN ('elected', 'vacated', 'explained') GROUP BY election
		UNION ALL SELECT type, election, max(time), gap IS NOT NULL FROM events
		WHERE type = 'missed' AND time <= ?1 AND type NOT IN ('elected', 'vacated', 'explained') GROUP BY election`, history.Nanos(at))
	for _, l := range all {
		switch r := elections[l.election]; {
		case r == nil:
		case l.kind == election.Missed:
			r.missed, r.missedGap = l.at, l.gap
		default:
			r.overwritten = l.at
		}
	}
	return err
}

// permissionsAt applies the events which report that all elections of a prefix became unreadable or readable at the
// same time.
func (f *File) permissionsAt(ctx context.Context, at time.Time, elections map[int64]*rebuilt) error {
	type turn struct {
		kind               election.EventType
		at                 int64
		datacenter, prefix string
	}
	scan := func(rows *sql.Rows) (x turn, err error) {
		err = rows.Scan(&x.kind, &x.at, &x.datacenter, &x.prefix)
		return x, err
	}
	all, err := list(ctx, f, scan, `SELECT v.type, v.time, e.datacenter, ifnull(v.prefix, '') FROM elections e JOIN events v ON v.election = e.id
		WHERE e.key = '' AND v.type IN `+dbfile.StateTypes+` AND v.type IN ('unreadable', 'readable') AND v.time <= ? ORDER BY v.time, v.id`, history.Nanos(at))
	for _, x := range all {
		for _, r := range elections {
			if x.at >= max(r.first, r.readableTime) && r.e.Datacenter == x.datacenter && strings.HasPrefix(r.e.Key(), x.prefix) {
				r.readable, r.readableTime = x.kind, x.at
			}
		}
	}
	return err
}

// termsAt adds the terms that overlap the window and the two latest terms of each election, with the causes that were
// known at the given time.
func (f *File) termsAt(ctx context.Context, q history.StateQuery, elections map[int64]*rebuilt) error {
	rows, err := f.db.QueryContext(ctx, selectTermsAt, history.Nanos(q.At), history.Nanos(q.At.Add(-q.Window)))
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
		if explained == 0 || explained > history.Nanos(q.At) {
			t.Cause, t.Evidence, t.Guess, t.LockDelayUntil = "", "", false, time.Time{}
		}
		r.e.Terms = append(r.e.Terms, t.Term)
		r.lockDelayUntil, r.explained = t.LockDelayUntil, explained
		r.relabeled = relabeled
	}
	return dbfile.Wrap(f.path, rows.Err())
}

const selectTermsAt = `SELECT t.id, '', '', '', t.number, t.create_index, t.session, t.leader, t.node, t.started, t.start_known,
	ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), t.guess, ifnull(t.evidence, ''), ifnull(t.by, ''),
	ifnull(t.lock_delay_until, 0), t.election, ifnull(t.explained, 0), t.relabeled
	FROM terms t WHERE t.id IN (
		SELECT id FROM terms WHERE started BETWEEN ?2 AND ?1
		UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started < ?2 ORDER BY started DESC, id DESC LIMIT 1) FROM elections e
		UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started <= ?1 ORDER BY started DESC, id DESC LIMIT 1) FROM elections e
		UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started <= ?1 ORDER BY started DESC, id DESC LIMIT 1 OFFSET 1) FROM elections e)
	ORDER BY t.election, t.started, t.id`

// A live board keeps deleted elections for a day, and at most 1000 of them (package tracker).
const (
	keepDeleted = 24 * time.Hour
	maxDeleted  = 1000
)

// listed returns the elections that a live board would have shown, in the same order.
func listed(all map[int64]*rebuilt, at time.Time) []*election.Election {
	elections, deleted := make([]*election.Election, 0, len(all)), []*rebuilt(nil)
	for _, r := range all {
		switch {
		case r.e.Exists:
			elections = append(elections, r.e)
		case at.Sub(history.Moment(r.lastTime)) <= keepDeleted:
			deleted = append(deleted, r)
		}
	}
	slices.SortFunc(deleted, func(a, b *rebuilt) int { return cmp.Compare(b.lastTime, a.lastTime) })
	for _, r := range deleted[:min(len(deleted), maxDeleted)] {
		elections = append(elections, r.e)
	}
	slices.SortFunc(elections, election.Compare)
	return elections
}

// settle derives the state of an election from its terms and its latest events.
func (f *File) settle(ctx context.Context, at time.Time, id int64, r *rebuilt) error {
	e := r.e
	last := len(e.Terms) - 1
	e.Exists = r.last != election.Deleted
	e.Unreadable = r.readable == election.Unreadable && r.lastTime <= r.readableTime // a later event shows a successful read
	if last >= 0 && !e.Terms[last].Over() {
		return f.settleLed(ctx, at, id, r)
	}
	r.settleVacant()
	if r.slotsTime <= history.Nanos(e.VacantSince) && last >= 0 || r.slotsTime == 0 {
		return nil
	}
	e.LockDelayUntil, e.LockDelayDoubtful = time.Time{}, false
	if r.limit == 0 || !e.Exists {
		e.VacantSince, e.VacantSinceKnown = history.Moment(r.slotsTime), true
		return nil
	}
	return f.semaphoreAt(ctx, at, id, e)
}

// settleVacant derives the state of an election without a leader.
func (r *rebuilt) settleVacant() {
	e, last := r.e, len(r.e.Terms)-1
	if e.Term = r.lastTerm; r.last != election.Overwritten { // an overwrite resets LockIndex
		e.Pair.LockIndex = e.Term
	}
	e.VacantSince, e.VacantSinceKnown = history.Moment(r.first), r.firstKnown
	if last < 0 {
		return
	}
	t := &e.Terms[last]
	e.VacantSince, e.VacantSinceKnown = t.End, t.SeenUntil.IsZero()
	if e.LockDelayUntil = r.lockDelayUntil; !e.LockDelayUntil.IsZero() {
		e.LockDelayDoubtful = t.Guess || t.Cause == election.Unknown || !t.SeenUntil.IsZero()
	}
	if r.last == "" {
		e.Term, e.Pair.LockIndex, e.Pair.CreateIndex = t.Number, t.Number, t.CreateIndex
	}
	if r.missed < history.Nanos(t.End) {
		return
	}
	e.VacantSince, e.VacantSinceKnown = history.Moment(r.missed), !r.missedGap // the vacancy began after the missed terms
	if r.explained < r.missed {
		e.LockDelayUntil, e.LockDelayDoubtful = time.Time{}, false
	}
}

// settleLed derives the state of an election with a leader.
func (f *File) settleLed(ctx context.Context, at time.Time, id int64, r *rebuilt) error {
	e := r.e
	t := &e.Terms[len(e.Terms)-1]
	e.Exists = true
	e.Term, e.Since, e.SinceKnown = t.Number, t.Start, t.StartKnown
	e.Pair.Session, e.Pair.LockIndex, e.Pair.CreateIndex = t.Session, t.Number, t.CreateIndex
	if r.overwritten >= history.Nanos(t.Start) {
		e.Pair.LockIndex = 0
	}
	if r.relabeled {
		if err := f.labelAt(ctx, at, id, t); err != nil {
			return err
		}
	}
	e.Leader = t.Leader
	return nil
}

// labelAt sets the label that the holder had at the given time. A holder can change its label during its term.
func (f *File) labelAt(ctx context.Context, at time.Time, id int64, t *election.Term) error {
	labels, err := list(ctx, f, scanOne[string], `SELECT leader FROM events WHERE election = ? AND time BETWEEN ? AND ? AND (session IS NULL OR session = ?)
		AND leader IS NOT NULL ORDER BY time DESC, id DESC LIMIT 1`, id, history.Nanos(t.Start), history.Nanos(at), t.Session)
	if len(labels) > 0 {
		t.Leader = labels[0]
	}
	return err
}

// slotEvents is the maximum number of events from which the holders of a semaphore are reconstructed.
const slotEvents = 1000

// semaphoreAt derives a semaphore's holders from its entered and left events.
func (f *File) semaphoreAt(ctx context.Context, at time.Time, id int64, e *election.Election) error {
	//nolint:gosec // StateTypes is a constant
	rows, err := f.db.QueryContext(ctx, `SELECT type, ifnull(session, ''), ifnull(holders, 0), ifnull(slots, 0) FROM events
		WHERE election = ? AND type IN `+dbfile.StateTypes+` AND type IN ('entered', 'left') AND time <= ? ORDER BY time DESC, id DESC LIMIT ?`, id, history.Nanos(at), slotEvents)
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
