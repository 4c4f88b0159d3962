package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// File is a [history.Source] that reads from a file.
type File struct {
	path string
	info fs.FileInfo
	db   *sql.DB
}

// OpenFile opens a file for reading. Other processes may write to it at the same time.
func OpenFile(ctx context.Context, path string) (*File, error) {
	info, err := os.Stat(path) // identify the file before it is opened, so that Moved detects a replacement in between
	if err != nil {
		return nil, dbfile.Wrap(path, err)
	}
	db, err := dbfile.OpenForReading(ctx, path)
	if err != nil {
		return nil, err
	}
	return &File{path: path, info: info, db: db}, nil
}

// Moved reports whether the path no longer refers to this file.
func (f *File) Moved() bool { return dbfile.Moved(f.path, f.info) }

// Close closes the file.
func (f *File) Close() error { return f.db.Close() }

// defaultLimit is the size of a page if the query does not limit it.
const defaultLimit = 100

// list reads all rows of a query.
func list[T any](ctx context.Context, f *File, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := f.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, dbfile.Wrap(f.path, err)
		}
		all = append(all, v)
	}
	return all, dbfile.Wrap(f.path, rows.Err())
}

func scanOne[T any](rows *sql.Rows) (v T, err error) {
	err = rows.Scan(&v)
	return v, err
}

// Elections returns the elections, sorted by key. A key that was observed in several datacenters appears once.
func (f *File) Elections(ctx context.Context) ([]history.Election, error) {
	scan := func(rows *sql.Rows) (e history.Election, err error) {
		err = rows.Scan(&e.Name, &e.Key)
		return e, err
	}
	return list(ctx, f, scan, "SELECT DISTINCT name, key FROM elections WHERE key <> '' ORDER BY key, name")
}

// where collects the conditions of a query.
type where struct {
	terms []string
	args  []any
}

func (w *where) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

func (w *where) String() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.terms, " AND ")
}

// elections adds the condition that an election has one of these names or keys.
func (w *where) elections(ctx context.Context, f *File, column string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	ids, err := f.electionIDs(ctx, names)
	if err != nil {
		return err
	}
	if len(ids) == 1 {
		w.add(column+" = ?", ids[0]) // with one election, the index also provides the order
		return nil
	}
	w.add(column + " IN (" + joinInts(ids) + ")")
	return nil
}

func (f *File) electionIDs(ctx context.Context, names []string) ([]int64, error) {
	var ids []int64
	for _, name := range names {
		// A key takes precedence over a name, as in all commands.
		found, err := f.ids(ctx, "SELECT id FROM elections WHERE key = ?", name)
		if err == nil && len(found) == 0 {
			found, err = f.ids(ctx, "SELECT id FROM elections WHERE name = ?", name)
		}
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, fmt.Errorf("%w: %q", history.ErrNoElection, sanitize.Line(name, 80))
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func (f *File) ids(ctx context.Context, query string, args ...any) ([]int64, error) {
	return list(ctx, f, scanOne[int64], query, args...)
}

func joinInts(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

// words adds the condition that a column has one of some constant values. The query text contains the values, because
// SQLite requires this for partial indexes. With several values, + disables the index of the column, because this
// index does not provide the order by time.
func words[T ~string](w *where, column string, all []T) {
	word := regexp.MustCompile(`^[a-z_]+$`)
	var quoted []string
	for _, v := range all {
		if word.MatchString(string(v)) {
			quoted = append(quoted, "'"+string(v)+"'")
		}
	}
	switch {
	case len(all) == 0:
	case len(quoted) == 1:
		w.add(column + " = " + quoted[0])
	default:
		w.add("+" + column + " IN (" + strings.Join(quoted, ",") + ")")
	}
}

// ofTerms reports whether every term can have an event of type t.
func ofTerms(t election.EventType) bool {
	return t == election.Elected || t == election.Vacated || t == election.Explained
}

func cursorAt(time, id int64) history.Cursor {
	return history.Cursor(strconv.FormatInt(time, 10) + "." + strconv.FormatInt(id, 10))
}

func parseCursor(c history.Cursor) (time, id int64, err error) {
	first, second, ok := strings.Cut(string(c), ".")
	if ok {
		if time, err = strconv.ParseInt(first, 10, 64); err == nil {
			id, err = strconv.ParseInt(second, 10, 64)
		}
	}
	if !ok || err != nil {
		return 0, 0, fmt.Errorf("%w: %q", history.ErrCursor, sanitize.Line(string(c), 40))
	}
	return time, id, nil
}

const selectEvents = `SELECT v.id, v.time, v.type, e.name, e.key, e.datacenter, v.term, v.create_index, v.modify_index,
	coalesce(v.leader, t.leader, ''), coalesce(v.session, t.session, ''), coalesce(v.node, t.node, ''), v.vacancy, ifnull(v.held, 0),
	ifnull(v.held_known, 0), ifnull(v.initial, 0), ifnull(v.gap, 0), ifnull(v.cause, ''), ifnull(v.guess, 0),
	CASE v.type WHEN 'explained' THEN coalesce(v.evidence, t.evidence, '') ELSE '' END, ifnull(v.lock_delay_until, 0),
	ifnull(v.count, 0), ifnull(v.prefix, ''), ifnull(v.holders, 0), ifnull(v.slots, 0), ifnull(v.error, '')
	FROM events v CROSS JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id`

// Events returns a page of events.
func (f *File) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	page := history.EventPage{Newer: q.After, Older: q.Before}
	var w where
	if err := w.elections(ctx, f, "v.election", q.Names); err != nil {
		return page, err
	}
	words(&w, "v.type", q.Types)
	if len(q.Types) > 0 && !slices.ContainsFunc(q.Types, ofTerms) {
		w.add("v.type NOT IN ('elected', 'vacated', 'explained')") // selects the index events_by_type
	}
	words(&w, "v.cause", q.Causes)
	order, err := orderOf(&q, &w)
	if err != nil {
		return page, err
	}
	rows, err := f.db.QueryContext(ctx, selectEvents+w.String()+order+" LIMIT ?", append(w.args, q.Limit+1)...)
	if err != nil {
		return page, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	var cursors []history.Cursor
	for rows.Next() {
		e, id, err := scanEvent(rows)
		if err != nil {
			return page, dbfile.Wrap(f.path, err)
		}
		page.Events, cursors = append(page.Events, e), append(cursors, cursorAt(history.Nanos(e.Time), id))
	}
	if page.More = len(page.Events) > q.Limit; page.More {
		page.Events, cursors = page.Events[:q.Limit], cursors[:q.Limit]
	}
	if q.After != "" {
		slices.Reverse(page.Events)
		slices.Reverse(cursors)
	}
	if n := len(cursors); n > 0 {
		page.Newer, page.Older = cursors[0], cursors[n-1]
	}
	return page, dbfile.Wrap(f.path, rows.Err())
}

// orderOf adds the conditions for the range and the cursors to w, and returns the ORDER BY clause. A cursor within the
// range replaces the limit on its side: with both conditions, SQLite would scan from the limit for each page.
func orderOf(q *history.EventQuery, w *where) (string, error) {
	limits := q.Range
	for _, c := range []struct {
		at      history.Cursor
		term    string
		replace func(at time.Time)
	}{
		{q.Before, "(v.time, v.id) < (?, ?)", func(at time.Time) {
			if !at.After(limits.Until) {
				limits.Until = time.Time{}
			}
		}},
		{q.After, "(v.time, v.id) > (?, ?)", func(at time.Time) {
			if !at.Before(limits.Since) {
				limits.Since = time.Time{}
			}
		}},
	} {
		if c.at == "" {
			continue
		}
		at, id, err := parseCursor(c.at)
		if err != nil {
			return "", err
		}
		c.replace(history.Moment(at))
		w.add(c.term, at, id)
	}
	if !limits.Since.IsZero() {
		w.add("v.time >= ?", since(limits))
	}
	if !limits.Until.IsZero() {
		w.add("v.time <= ?", until(limits))
	}
	if q.After != "" {
		return " ORDER BY v.time, v.id", nil
	}
	return " ORDER BY v.time DESC, v.id DESC", nil
}

func scanEvent(rows *sql.Rows) (e election.Event, id int64, err error) {
	var at, term, create, modify, held, delay, count int64
	var vacancy sql.NullInt64
	err = rows.Scan(&id, &at, &e.Type, &e.Election, &e.Key, &e.Datacenter, &term, &create, &modify,
		&e.Leader, &e.Session, &e.Node, &vacancy, &held, &e.HeldKnown, &e.Initial, &e.Gap, &e.Cause, &e.Guess, &e.Evidence, &delay,
		&count, &e.Prefix, &e.Holders, &e.Limit, &e.Error)
	e.Time, e.LockDelayUntil = history.Moment(at), history.Moment(delay)
	e.Term, e.CreateIndex, e.ModifyIndex, e.Count = unsigned(term), unsigned(create), unsigned(modify), unsigned(count)
	e.Held, e.Vacancy, e.VacancyKnown = duration(held), duration(vacancy.Int64), vacancy.Valid
	return e, id, err
}

const selectTerms = `SELECT t.id, e.name, e.key, e.datacenter, t.number, t.create_index, t.session, t.leader, t.node, t.started, t.start_known,
	ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), t.guess, ifnull(t.evidence, ''), ifnull(t.by, ''),
	ifnull(t.lock_delay_until, 0) FROM terms t CROSS JOIN elections e ON e.id = t.election`

// Terms returns a page of terms.
func (f *File) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	page := history.TermPage{Older: q.Before, Newer: q.After}
	var w where
	if err := w.elections(ctx, f, "t.election", q.Names); err != nil {
		return page, err
	}
	if !q.Since.IsZero() {
		w.add("(t.ended IS NULL OR t.ended >= ?)", since(q.Range))
	}
	words(&w, "t.cause", q.Causes)
	order, err := orderOfTerms(&q, &w)
	if err != nil {
		return page, err
	}
	rows, err := f.db.QueryContext(ctx, selectTerms+w.String()+order+" LIMIT ?", append(w.args, q.Limit+1)...)
	if err != nil {
		return page, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	var cursors []history.Cursor
	for rows.Next() {
		t, id, err := scanTerm(rows)
		if err != nil {
			return page, dbfile.Wrap(f.path, err)
		}
		if page.More = len(page.Terms) == q.Limit; page.More {
			break
		}
		page.Terms, cursors = append(page.Terms, t), append(cursors, cursorAt(history.Nanos(t.Start), id))
	}
	if q.After != "" {
		slices.Reverse(page.Terms)
		slices.Reverse(cursors)
	}
	if n := len(cursors); n > 0 {
		page.Newer, page.Older = cursors[0], cursors[n-1]
	}
	return page, dbfile.Wrap(f.path, rows.Err())
}

// orderOfTerms is like orderOf, but for terms.
func orderOfTerms(q *history.TermQuery, w *where) (order string, err error) {
	until := until(q.Range)
	for _, c := range []struct {
		at   history.Cursor
		term string
	}{{q.Before, "(t.started, t.id) < (?, ?)"}, {q.After, "(t.started, t.id) > (?, ?)"}} {
		if c.at == "" {
			continue
		}
		at, id, err := parseCursor(c.at)
		if err != nil {
			return "", err
		}
		w.add(c.term, at, id)
		if c.at == q.Before && at <= until {
			until = math.MaxInt64
		}
	}
	if until != math.MaxInt64 {
		w.add("t.started <= ?", until)
	}
	if q.After != "" {
		return " ORDER BY t.started, t.id", nil
	}
	return " ORDER BY t.started DESC, t.id DESC", nil
}

func scanTerm(rows *sql.Rows, more ...any) (t history.Term, id int64, err error) {
	var number, create, start, end, seen, delay int64
	var vacancy sql.NullInt64
	err = rows.Scan(append([]any{
		&id, &t.Election, &t.Key, &t.Datacenter, &number, &create, &t.Session, &t.Leader, &t.Node, &start, &t.StartKnown,
		&end, &seen, &vacancy, &t.Cause, &t.Guess, &t.Evidence, &t.By, &delay,
	}, more...)...)
	t.Number, t.CreateIndex = unsigned(number), unsigned(create)
	t.Start, t.End, t.SeenUntil, t.LockDelayUntil = history.Moment(start), history.Moment(end), history.Moment(seen), history.Moment(delay)
	t.Vacancy, t.VacancyKnown = duration(vacancy.Int64), vacancy.Valid
	return t, id, err
}
