package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"time"

	"electop/election"
	"electop/internal/history"
)

// termRow is a stored term.
type termRow struct {
	id, create, number  int64
	started             int64
	startKnown          bool
	session             string
	leader, node, cause string
	evidence, by        string
	guess               bool
}

const selectTerm = `SELECT id, create_index, number, started, start_known, session, leader, node, ifnull(cause, ''), ifnull(evidence, ''), ifnull(by, ''), guess FROM terms `

// term reads one term. It returns nil if there is none.
func (w *Writer) term(ctx context.Context, where string, args ...any) (*termRow, error) {
	var t termRow
	found, err := w.row(ctx, selectTerm+where, args, &t.id, &t.create, &t.number, &t.started, &t.startKnown, &t.session, &t.leader, &t.node, &t.cause, &t.evidence, &t.by, &t.guess)
	if err != nil || !found {
		return nil, err
	}
	return &t, nil
}

// election finds or creates the row of an event's election.
func (w *Writer) election(ctx context.Context, e *election.Event) (id int64, err error) {
	ident := ""
	if e.Key != "" {
		ident = e.Key
	}
	var deleted bool
	found, err := w.row(ctx, "SELECT id, deleted IS NOT NULL FROM elections WHERE ident = ? AND datacenter = ?", []any{ident, w.datacenter}, &id, &deleted)
	if err == nil && !found {
		id, err = w.insertElection(ctx, ident, e.Key, e.Election, e.Time)
	}
	// The cause of a term can become known after its key was deleted.
	if gone := e.Type == election.Deleted; err == nil && deleted != gone && e.Type != election.Explained {
		_, _, err = w.exec(ctx, "UPDATE elections SET deleted = ? WHERE id = ?", known(gone, nanos(e.Time)), id)
	}
	return id, err
}

func (w *Writer) insertElection(ctx context.Context, ident, key, name string, at time.Time) (id int64, err error) {
	_, id, err = w.exec(ctx, "INSERT INTO elections (datacenter, ident, key, name, found) VALUES (?, ?, ?, ?, ?)", w.datacenter, ident, key, name, nanos(at))
	return id, err
}

// store stores an event and updates the terms.
func (w *Writer) store(ctx context.Context, e *election.Event) error {
	id, err := w.election(ctx, e)
	if err != nil {
		return err
	}
	var t *termRow
	switch e.Type {
	case election.Elected:
		t, err = w.elected(ctx, id, e)
	case election.Vacated:
		t, err = w.vacated(ctx, id, e)
	case election.Explained:
		return w.explained(ctx, id, e)
	case election.Updated, election.Overwritten:
		err = w.relabel(ctx, id, e)
	case election.Deleted:
		err = w.endOpen(ctx, id, nanos(e.Time))
	default:
	}
	if err != nil {
		return err
	}
	return w.insert(ctx, id, cmp.Or(t, &termRow{}), e)
}

// insert stores the row of an event. Values that equal those of the term t are stored as NULL.
func (w *Writer) insert(ctx context.Context, id int64, t *termRow, e *election.Event) error {
	_, _, err := w.exec(ctx, `INSERT INTO events (time, type, election, term_id, create_index, modify_index, term, leader, session, node, evidence, by,
		gap, seen_until, restored, vacancy, held, held_known, cause, guess, lock_delay_until, count, prefix, holders, slots, error)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		nanos(e.Time), string(e.Type), id, null(t.id), index(e.CreateIndex), index(e.ModifyIndex),
		index(e.Term), unless(e.Leader, t.leader), unless(e.Session, t.session), unless(e.Node, t.node), unless(e.Evidence, t.evidence), null(e.By),
		null(e.Gap), null(nanos(e.SeenUntil)), null(e.Restored), known(e.VacancyKnown, e.Vacancy), known(e.Type == election.Vacated, e.Held), null(e.HeldKnown),
		null(string(e.Cause)), null(e.Guess), null(nanos(e.LockDelayUntil)), null(index(e.Count)),
		null(e.Prefix), known(e.OfSlot(), e.Holders), known(e.OfSlot(), e.Limit), null(e.Error))
	return err
}

// elected begins a term.
func (w *Writer) elected(ctx context.Context, id int64, e *election.Event) (*termRow, error) {
	if err := w.endOpen(ctx, id, nanos(e.Time)); err != nil {
		return nil, err
	}
	if e.VacancyKnown {
		if _, _, err := w.exec(ctx, `UPDATE terms SET vacancy = ? WHERE vacancy IS NULL AND id =
			(SELECT id FROM terms WHERE election = ? AND started <= ? AND ended IS NOT NULL ORDER BY started DESC, id DESC LIMIT 1)`,
			int64(e.Vacancy), id, nanos(e.Time)); err != nil {
			return nil, err
		}
	}
	return w.begin(ctx, id, &election.Term{
		Number: e.Term, CreateIndex: e.CreateIndex, Session: e.Session, Leader: e.Leader, Node: e.Node, Start: e.Time, StartKnown: !e.Gap, NotBefore: e.SeenUntil,
	})
}

// begin stores a new term.
func (w *Writer) begin(ctx context.Context, id int64, t *election.Term) (*termRow, error) {
	row := &termRow{create: index(t.CreateIndex), number: index(t.Number), session: t.Session, leader: t.Leader, node: t.Node, started: nanos(t.Start), startKnown: t.StartKnown}
	_, added, err := w.exec(ctx, "INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known, not_before) VALUES (?,?,?,?,?,?,?,?,?)",
		id, row.create, row.number, t.Session, t.Leader, t.Node, row.started, t.StartKnown, null(nanos(t.NotBefore)))
	row.id = added
	return row, err
}

// endOpen ends a current term whose end was not recorded.
func (w *Writer) endOpen(ctx context.Context, id, at int64) error {
	_, _, err := w.exec(ctx, "UPDATE terms INDEXED BY terms_open SET ended = max(started, ?), seen_until = started WHERE election = ? AND ended IS NULL", at, id)
	return err
}

// vacated ends the current term.
func (w *Writer) vacated(ctx context.Context, id int64, e *election.Event) (*termRow, error) {
	t, err := w.term(ctx, "INDEXED BY terms_open WHERE election = ? AND ended IS NULL AND session = ? LIMIT 1", id, e.Session)
	if err == nil && t == nil { // the start of the term was dropped
		t, err = w.begin(ctx, id, &election.Term{
			Number: e.Term, CreateIndex: e.CreateIndex, Session: e.Session, Leader: e.Leader, Node: e.Node, Start: e.Time.Add(-e.Held), StartKnown: e.HeldKnown,
		})
	}
	if err != nil {
		return nil, err
	}
	t.leader, t.node = cmp.Or(e.Leader, t.leader), cmp.Or(e.Node, t.node)
	_, _, err = w.exec(ctx, "UPDATE terms SET ended = ?, seen_until = ?, leader = ?, node = ? WHERE id = ?",
		max(nanos(e.Time), t.started), null(nanos(e.SeenUntil)), t.leader, t.node, t.id)
	return t, err
}

// actionReach is the maximum time between an action and the observed end of its target's term. A write times out after
// 15 s, and a change is observed within 30 s.
const actionReach = time.Minute

// explained stores why a term ended. If an operator's recorded action can have ended it, this is the cause.
func (w *Writer) explained(ctx context.Context, id int64, e *election.Event) error {
	t, err := w.term(ctx, "WHERE election = ? AND session = ? AND create_index = ? AND number = ? ORDER BY started DESC, id DESC LIMIT 1",
		id, e.Session, index(e.CreateIndex), index(e.Term))
	if err != nil {
		return err
	}
	if t == nil {
		return w.insert(ctx, id, &termRow{}, e)
	}
	var kind, by string
	found, err := w.row(ctx, `SELECT action, by FROM actions WHERE time BETWEEN ? AND ? AND session = ? AND result = 'done' AND (key = '' OR key = ?)
		AND (create_index = 0 OR create_index = ?) AND (term = 0 OR term = ?) ORDER BY time DESC LIMIT 1`,
		[]any{nanos(e.Time.Add(-actionReach)), nanos(e.Time.Add(actionReach)), e.Session, e.Key, index(e.CreateIndex), index(e.Term)}, &kind, &by)
	if err != nil {
		return err
	}
	cause, evidence := election.ActionKind(kind).Cause(by)
	if found && (e.Cause == cause || election.ActionKind(kind).Explains(e.Cause, e.Guess)) {
		own := *e // the queue keeps the event
		own.Cause, own.Evidence, own.Guess, own.By = cause, evidence, false, by
		e = &own
	}
	return w.explain(ctx, id, t, e)
}

// explain stores the cause of the end of a term with its event, unless the term has this cause already. An operator's own
// action is certain, so another cause does not replace it.
func (w *Writer) explain(ctx context.Context, id int64, t *termRow, e *election.Event) error {
	if history.Certain(election.Cause(t.cause), e.Cause) || t.cause == string(e.Cause) && (t.by == e.By || e.By == "") && t.guess == e.Guess {
		return nil
	}
	if t.cause != "" { // the event of the earlier explanation must keep its evidence
		if _, _, err := w.exec(ctx, "UPDATE events SET evidence = ? WHERE election = ? AND time >= ? AND term_id = ? AND type = 'explained' AND evidence IS NULL",
			t.evidence, id, t.started, t.id); err != nil {
			return err
		}
	}
	t.evidence = e.Evidence
	if _, _, err := w.exec(ctx, "UPDATE terms SET cause = ?, guess = ?, evidence = ?, by = ?, lock_delay_until = ifnull(?, lock_delay_until) WHERE id = ?",
		string(e.Cause), e.Guess, e.Evidence, null(e.By), null(nanos(e.LockDelayUntil)), t.id); err != nil {
		return err
	}
	return w.insert(ctx, id, t, e)
}

// relabel stores the new label of a holder that wrote another value. The event of its election keeps the previous label.
func (w *Writer) relabel(ctx context.Context, id int64, e *election.Event) error {
	if e.Session == "" {
		return nil
	}
	t, err := w.term(ctx, "INDEXED BY terms_open WHERE election = ? AND ended IS NULL AND session = ? LIMIT 1", id, e.Session)
	if err != nil || t == nil || (e.Leader == "" || e.Leader == t.leader) && (e.Node == "" || e.Node == t.node) {
		return err
	}
	if e.Leader != "" && e.Leader != t.leader {
		if err := w.keepLabel(ctx, id, t); err != nil {
			return err
		}
	}
	_, _, err = w.exec(ctx, "UPDATE terms SET leader = ?, node = ? WHERE id = ?", cmp.Or(e.Leader, t.leader), cmp.Or(e.Node, t.node), t.id)
	return err
}

// keepLabel stores the label of a term in the event of its election, before the label or the start of the term changes.
func (w *Writer) keepLabel(ctx context.Context, id int64, t *termRow) error {
	_, _, err := w.exec(ctx, "UPDATE events SET leader = ? WHERE election = ? AND time = ? AND type = 'elected' AND leader IS NULL", t.leader, id, t.started)
	return err
}

// reconcile makes the elections and the current terms equal to those of a complete snapshot: it ends terms whose end no
// event reports, and begins the terms that the observer found.
func (w *Writer) reconcile(ctx context.Context, m *mark) error {
	open, err := w.openTerms(ctx)
	if err != nil {
		return err
	}
	ids, err := w.electionIDs(ctx)
	if err != nil {
		return err
	}
	for _, e := range m.snapshot.Elections {
		if !e.Exists || e.Recorded() {
			continue
		}
		ident := e.Key()
		id, known := ids[ident]
		delete(ids, ident)
		if !known && !e.Pair.OfSemaphore() {
			if id.id, err = w.insertElection(ctx, ident, e.Key(), e.Name, m.snapshot.At); err != nil {
				return err
			}
		}
		if id.deleted {
			if _, _, err := w.exec(ctx, "UPDATE elections SET deleted = NULL WHERE id = ?", id.id); err != nil {
				return err
			}
		}
		n := len(e.Terms)
		if !e.Pair.Held() || n == 0 || e.Terms[n-1].Over() {
			continue
		}
		t := e.Terms[n-1]
		if row := open[ident]; row != nil && row.session == t.Session && row.create == index(t.CreateIndex) && row.number == index(t.Number) {
			delete(open, ident)
			err = w.correct(ctx, row, &t)
		} else {
			_, err = w.begin(ctx, id.id, &t)
		}
		if err != nil {
			return err
		}
	}
	return w.endAbsent(ctx, m, ids, open)
}

// endAbsent ends the terms of open, which the snapshot does not contain, and marks the elections of ids, which it does
// not contain either, as deleted. It skips those about which the observer knows nothing.
func (w *Writer) endAbsent(ctx context.Context, m *mark, ids map[string]electionID, open map[string]*openRow) error {
	var seen int64
	if _, err := w.row(ctx, "SELECT ifnull(max(seen), 0) FROM observations WHERE datacenter = ?", []any{w.datacenter}, &seen); err != nil {
		return err
	}
	hidden := func(ident, key string) bool {
		_, absent := ids[ident]
		_, watched := m.patterns.Match(key)
		return !watched || absent && m.snapshot.Filtered
	}
	for ident, row := range open {
		if hidden(ident, row.key) {
			continue
		}
		if _, _, err := w.exec(ctx, "UPDATE terms SET ended = max(started, ?), seen_until = max(started, ?) WHERE id = ?", nanos(m.snapshot.At), seen, row.id); err != nil {
			return err
		}
	}
	for ident, e := range ids {
		if e.deleted || hidden(ident, e.key) {
			continue
		}
		if _, _, err := w.exec(ctx, "UPDATE elections SET deleted = ? WHERE id = ?", nanos(m.snapshot.At), e.id); err != nil {
			return err
		}
	}
	return nil
}

type electionID struct {
	id         int64
	ident, key string
	deleted    bool
}

// electionIDs returns the stored elections of the datacenter, by ident.
func (w *Writer) electionIDs(ctx context.Context) (map[string]electionID, error) {
	scan := func(rows *sql.Rows) (e electionID, err error) {
		err = rows.Scan(&e.ident, &e.id, &e.key, &e.deleted)
		return e, err
	}
	all, err := list(ctx, w.reading(), scan, "SELECT ident, id, key, deleted IS NOT NULL FROM elections WHERE datacenter = ? AND key <> ''", w.datacenter)
	ids := make(map[string]electionID, len(all))
	for _, e := range all {
		ids[e.ident] = e
	}
	return ids, err
}

// correct stores what the observer knows about a current term: its label, its node and, after the clock was set, its
// beginning.
func (w *Writer) correct(ctx context.Context, row *openRow, t *election.Term) error {
	leader, node, started := cmp.Or(t.Leader, row.leader), cmp.Or(t.Node, row.node), row.started
	if t.StartKnown || w.jumped {
		started = nanos(t.Start)
	}
	if leader == row.leader && node == row.node && started == row.started {
		return nil
	}
	if started != row.started || leader != row.leader && row.leader != "" {
		if err := w.keepLabel(ctx, row.election, &row.termRow); err != nil {
			return err
		}
	}
	_, _, err := w.exec(ctx, "UPDATE terms SET leader = ?, node = ?, started = ?, start_known = start_known OR ? WHERE id = ?", leader, node, started, t.StartKnown, row.id)
	return err
}

type openRow struct {
	termRow
	election   int64
	ident, key string
}

// openTerms returns the current terms of the datacenter, by ident.
func (w *Writer) openTerms(ctx context.Context) (map[string]*openRow, error) {
	scan := func(rows *sql.Rows) (*openRow, error) {
		r := &openRow{}
		return r, rows.Scan(&r.id, &r.election, &r.ident, &r.key, &r.create, &r.number, &r.session, &r.leader, &r.node, &r.started)
	}
	all, err := list(ctx, w.reading(), scan, `SELECT t.id, t.election, e.ident, e.key, t.create_index, t.number, t.session, t.leader, t.node, t.started
		FROM terms t INDEXED BY terms_open CROSS JOIN elections e ON e.id = t.election WHERE t.ended IS NULL AND e.datacenter = ?`, w.datacenter)
	open := make(map[string]*openRow, len(all))
	for _, r := range all {
		open[r.ident] = r
	}
	return open, err
}

// action stores an operator's action. For each term that the action ended, it stores the operator as the cause.
func (w *Writer) action(ctx context.Context, a *history.Action) error {
	if _, _, err := w.exec(ctx, `INSERT INTO actions (time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, nanos(a.Time), a.By, string(a.Kind), a.Datacenter, a.Key, a.Session,
		index(a.CreateIndex), index(a.Term), a.Leader, a.Node, a.Result, a.Detail); err != nil || a.Result != history.ResultDone {
		return err
	}
	ended, err := w.endedBy(ctx, a)
	for _, x := range ended {
		t, err := w.term(ctx, "WHERE id = ?", x.term)
		if err != nil {
			return err
		}
		cause := election.Cause(t.cause)
		if cause != x.event.Cause && !a.Kind.Explains(cause, t.guess) { // the term had already ended for another reason
			continue
		}
		if err := w.explain(ctx, x.election, t, &x.event); err != nil {
			return err
		}
	}
	return err
}

// endedTerm is an explained term that an action may have ended, with the event that says so.
type endedTerm struct {
	term, election int64
	event          election.Event
}

func (w *Writer) endedBy(ctx context.Context, a *history.Action) ([]endedTerm, error) {
	scan := func(rows *sql.Rows) (x endedTerm, err error) {
		x.event = election.Event{Time: a.Time, Type: election.Explained, Session: a.Session, By: a.By}
		x.event.Cause, x.event.Evidence = a.Kind.Cause(a.By)
		var number, create, delay int64
		err = rows.Scan(&x.term, &x.election, &number, &create, &x.event.Leader, &x.event.Node, &delay)
		x.event.Term, x.event.CreateIndex, x.event.LockDelayUntil = unsigned(number), unsigned(create), moment(delay)
		return x, err
	}
	return list(ctx, w.reading(), scan, `SELECT t.id, t.election, t.number, t.create_index, t.leader, t.node, ifnull(t.lock_delay_until, 0)
		FROM terms t INDEXED BY terms_by_end CROSS JOIN elections e ON e.id = t.election
		WHERE t.ended BETWEEN ?1 AND ?2 AND t.session = ?3 AND (?4 = '' OR e.key = ?4) AND (?5 = 0 OR t.create_index = ?5) AND (?6 = 0 OR t.number = ?6)
		AND t.cause IS NOT NULL`, nanos(a.Time.Add(-actionReach)), nanos(a.Time.Add(actionReach)), a.Session, a.Key, index(a.CreateIndex), index(a.Term))
}

const (
	// trimEvery is the interval of retention. trimStep is the maximum number of rows that one transaction deletes from
	// each table.
	trimEvery = 10 * time.Minute
	trimStep  = 2000
	// DefaultKeep is the retention period of a file for which no period was set.
	DefaultKeep = 90 * 24 * time.Hour
	// jumpLimit is the jump of the clock after which retention waits for the same time.
	jumpLimit = 24 * time.Hour
)

// trim runs a step of retention if it is due. It deletes whole periods: everything before the newest checkpoint that is
// older than the limit. The checkpoint contains what still applies.
func (w *Writer) trim(ctx context.Context, now time.Time) (more bool, err error) {
	if now.Before(w.trimAt) {
		return false, nil
	}
	err = w.transaction(ctx, func(ctx context.Context) error {
		before, err := w.trimBefore(ctx, now)
		if err != nil || before.id == 0 {
			return err
		}
		more, err = w.deleteBefore(ctx, before)
		return err
	})
	if err != nil {
		return false, err
	}
	if !more {
		w.trimAt = now.Add(trimEvery)
	}
	_, err = w.conn.conn.ExecContext(ctx, "PRAGMA incremental_vacuum(1000)")
	return more, wrap(w.path, err)
}

// oldest is the checkpoint before which data must be deleted. Its ID is 0 if there is nothing to delete.
type oldest struct{ id, at, event int64 }

func (w *Writer) trimBefore(ctx context.Context, now time.Time) (before oldest, err error) {
	keep, text := DefaultKeep, ""
	if found, err := w.row(ctx, "SELECT value FROM settings WHERE name = 'keep'", nil, &text); err != nil {
		return before, err
	} else if found {
		if keep, err = time.ParseDuration(text); err != nil {
			return before, err
		}
	}
	limit := int64(math.MinInt64)
	if keep > 0 {
		if now, err = w.confirmed(ctx, now); err != nil {
			return before, err
		}
		limit = nanos(now.Add(-keep))
	}
	var used int64
	if _, err := w.row(ctx, `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`, nil, &used); err != nil {
		return before, err
	}
	if w.o.MaxBytes > 0 && used > w.o.MaxBytes { // delete the oldest period
		if _, err := w.row(ctx, "SELECT max(?, ifnull(min(at), 0)) FROM checkpoints WHERE at > (SELECT min(at) FROM checkpoints)", []any{limit}, &limit); err != nil {
			return before, err
		}
	}
	// Of each datacenter that is still observed, the newest checkpoint before the limit remains. The row numbers, not the
	// times, show the order after the clock was set.
	_, err = w.row(ctx, `SELECT ifnull(min(id), 0), ifnull(min(at), 0), ifnull(min(event), 0) FROM checkpoints WHERE id IN (SELECT max(id) FROM checkpoints
		WHERE at <= ?1 AND datacenter IN (SELECT datacenter FROM observations WHERE seen > ?1) GROUP BY datacenter)`, []any{limit}, &before.id, &before.at, &before.event)
	return before, err
}

// confirmed returns the time for retention. After a jump of the clock by more than a day, or after a day without
// observation, it is the time before the jump until the writer has observed for the same time.
func (w *Writer) confirmed(ctx context.Context, now time.Time) (time.Time, error) {
	var before, since int64
	found, err := w.row(ctx, `SELECT b, s FROM (SELECT max(seen) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b, started AS s, id FROM observations)
		WHERE s - b > ? ORDER BY id DESC LIMIT 1`, []any{int64(jumpLimit)}, &before, &since)
	if err != nil || !found || nanos(now)-since >= int64(jumpLimit) {
		return now, err
	}
	return moment(before + nanos(now) - since), nil
}

// deleteBefore deletes a step of the data before a checkpoint. more is set if more must be deleted.
func (w *Writer) deleteBefore(ctx context.Context, before oldest) (more bool, err error) {
	for _, q := range []struct {
		query string
		limit int64
	}{
		{"DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id <= ? ORDER BY id LIMIT ?)", before.event},
		// The events after the checkpoint may refer to a term that ended shortly before it.
		{"DELETE FROM terms WHERE id IN (SELECT id FROM terms WHERE ended < ? ORDER BY ended LIMIT ?)", before.at - int64(time.Hour)},
		{"DELETE FROM observations WHERE id IN (SELECT id FROM observations WHERE seen < ? ORDER BY seen LIMIT ?)", before.at},
		{"DELETE FROM checkpoints WHERE id IN (SELECT id FROM checkpoints WHERE id < ? LIMIT ?)", before.id},
		{"DELETE FROM actions WHERE id IN (SELECT id FROM actions WHERE time < ? ORDER BY time LIMIT ?)", before.at},
	} {
		n, _, err := w.exec(ctx, q.query, q.limit, trimStep)
		if err != nil {
			return false, err
		}
		more = more || n == trimStep
	}
	if more {
		return true, nil
	}
	n, _, err := w.exec(ctx, `DELETE FROM elections WHERE id IN (SELECT id FROM elections e WHERE deleted < ? AND NOT EXISTS (SELECT 1 FROM events WHERE election = e.id)
		AND NOT EXISTS (SELECT 1 FROM terms WHERE election = e.id) LIMIT ?)`, before.at, trimStep)
	return n == trimStep, err
}

// nanos and moment convert a time to and from Unix nanoseconds. 0 is the zero time. Times outside the range are
// limited to it.
func nanos(t time.Time) int64 { return history.Nanos(t) }

func moment(n int64) time.Time { return history.Moment(n) }

// since and until return the limits of a range as Unix nanoseconds.
func since(r history.Range) int64 {
	if r.Since.IsZero() {
		return math.MinInt64
	}
	return nanos(r.Since)
}

func until(r history.Range) int64 {
	if r.Until.IsZero() {
		return math.MaxInt64
	}
	return nanos(r.Until)
}

// index returns the stored form of a Raft index or a count. SQLite has only signed integers.
func index(n uint64) int64 { return int64(min(n, 1<<63-1)) }

func unsigned(n int64) uint64 { return uint64(max(0, n)) }

// unless returns text, or NULL if text equals the text of the term.
func unless(text, ofTerm string) any {
	if text == ofTerm {
		return nil
	}
	return text
}

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
