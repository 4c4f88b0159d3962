package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// File is a [history.Source] that reads from a file.
type File struct {
	reading
	db *sql.DB
}

// OpenFile opens a file for reading. Other processes may write to it at the same time.
func OpenFile(ctx context.Context, path string) (*File, error) {
	db, err := openForReading(ctx, path)
	if err != nil {
		return nil, err
	}
	return &File{reading{path, db}, db}, nil
}

// Cluster returns the identity of the cluster to which the file belongs, or "" if it is unknown.
func (f *File) Cluster(ctx context.Context) (string, error) {
	found, err := list(ctx, f.reading, scanOne[string], "SELECT value FROM settings WHERE name = 'cluster'")
	return strings.Join(found, ""), err
}

// Observations returns the periods that overlap a time range, oldest first.
func (f *File) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	return listed(ctx, f.reading, scanObservation, `SELECT observer, datacenter, patterns, started, seen, ended, ifnull(ending, ''), dropped
		FROM observations WHERE seen >= ? AND started <= ? ORDER BY started, id LIMIT ?`, since(r), until(r), maxListed+1)
}

func scanObservation(rows *sql.Rows) (o history.Observation, err error) {
	var patterns string
	var from, to, dropped int64
	var ended sql.NullInt64
	err = rows.Scan(&o.Observer, &o.Datacenter, &patterns, &from, &to, &ended, &o.Ending, &dropped)
	o.Patterns, o.From, o.To, o.Dropped = strings.Split(patterns, "\n"), moment(from), moment(to), unsigned(dropped)
	o.Lasting = !ended.Valid && time.Since(o.To) < history.AliveWithin
	return o, err
}

// Actions returns the recorded actions in a time range, oldest first.
func (f *File) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	return listed(ctx, f.reading, scanAction, `SELECT time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail
		FROM actions WHERE time >= ? AND time <= ? ORDER BY time, id LIMIT ?`, since(r), until(r), maxListed+1)
}

func scanAction(rows *sql.Rows) (a history.Action, err error) {
	var at, create, term int64
	err = rows.Scan(&at, &a.By, &a.Kind, &a.Datacenter, &a.Key, &a.Session, &create, &term,
		&a.Leader, &a.Node, &a.Result, &a.Detail)
	a.Time, a.CreateIndex, a.Term = moment(at), unsigned(create), unsigned(term)
	return a, err
}

// Close closes the file.
func (f *File) Close() error { return f.db.Close() }

const (
	// defaultLimit is the size of a page if the query does not limit it.
	defaultLimit = 100
	// maxLimit is the maximum number of rows that one query reads by their IDs.
	maxLimit = 10_000
)

// list reads all rows of a query.
func list[T any](ctx context.Context, f reading, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := f.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap(f.path, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, wrap(f.path, err)
		}
		all = append(all, v)
	}
	return all, wrap(f.path, rows.Err())
}

// maxListed is the maximum number of periods of observation or actions in a result.
const maxListed = 100_000

// listed is like list, but fails if there are more than maxListed rows.
func listed[T any](ctx context.Context, f reading, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	all, err := list(ctx, f, scan, query, args...)
	if err == nil && len(all) > maxListed {
		return nil, wrap(f.path, history.ErrLarge)
	}
	return all, err
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
	return list(ctx, f.reading, scan, "SELECT DISTINCT name, key FROM elections WHERE key <> '' ORDER BY key, name")
}

// electionIDs returns the elections that a filter selects. It returns nil if it selects all.
func (f *File) electionIDs(ctx context.Context, q history.Filter) ([]int64, error) {
	within, args := "", []any(nil)
	if len(q.Datacenters) > 0 {
		within = " AND datacenter IN (" + strings.TrimSuffix(strings.Repeat("?,", len(q.Datacenters)), ",") + ")"
		for _, name := range q.Datacenters {
			args = append(args, name)
		}
	}
	var ids []int64
	for _, name := range q.Names {
		// A key takes precedence over a name, as in all commands.
		found, err := list(ctx, f.reading, scanOne[int64], "SELECT id FROM elections WHERE ident = ?"+within, append([]any{name}, args...)...)
		if err == nil && len(found) == 0 {
			found, err = list(ctx, f.reading, scanOne[int64], "SELECT id FROM elections WHERE name = ?"+within, append([]any{name}, args...)...)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	if len(q.Names) > 0 && len(ids) == 0 {
		return nil, fmt.Errorf("%w: %q", history.ErrNoElection, sanitize.Line(strings.Join(q.Names, ", "), 80))
	}
	if len(q.Names) == 0 && within != "" {
		found, err := list(ctx, f.reading, scanOne[int64], "SELECT id FROM elections WHERE true"+within, args...)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%w: of datacenter %s", history.ErrNoElection, sanitize.Line(strings.Join(q.Datacenters, ", "), 100))
		}
		if err != nil {
			return nil, err
		}
		ids = found
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// cursor returns the cursor at a row.
func (p position) cursor() history.Cursor {
	return history.Cursor(strconv.FormatInt(p.time, 10) + "." + strconv.FormatInt(p.id, 10))
}

func cursorError(c history.Cursor) error {
	return fmt.Errorf("%w: %q", history.ErrCursor, sanitize.Line(string(c), 40))
}

func parseCursor(c history.Cursor) (time, id int64, err error) {
	first, second, ok := strings.Cut(string(c), ".")
	if ok {
		if time, err = strconv.ParseInt(first, 10, 64); err == nil {
			id, err = strconv.ParseInt(second, 10, 64)
		}
	}
	if !ok || err != nil {
		return 0, 0, cursorError(c)
	}
	return time, id, nil
}

const selectEvents = `SELECT v.id, v.time, v.type, e.name, e.key, e.datacenter, v.term, v.create_index, v.modify_index,
	coalesce(v.leader, t.leader, ''), coalesce(v.session, t.session, ''), coalesce(v.node, t.node, ''), v.vacancy, ifnull(v.held, 0),
	ifnull(v.held_known, 0), ifnull(v.gap, 0), ifnull(v.seen_until, 0), ifnull(v.restored, 0), ifnull(v.by, ''), ifnull(v.cause, ''), ifnull(v.guess, 0),
	CASE v.type WHEN 'explained' THEN coalesce(v.evidence, t.evidence, '') ELSE '' END, ifnull(v.lock_delay_until, 0),
	ifnull(v.count, 0), ifnull(v.prefix, ''), ifnull(v.holders, 0), ifnull(v.slots, 0), ifnull(v.error, '')
	FROM events v CROSS JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id`

// position is the place of a row in the order by time and ID.
type position struct{ time, id int64 }

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.time, q.time), cmp.Compare(p.id, q.id))
}

const (
	// maxBranches is the maximum number of SELECTs in one query. Each uses its own index, and SQLite merges them.
	maxBranches = 100
	// maxSelected is the maximum number of elections that a query selects by index. For more elections, a scan is
	// cheaper.
	maxSelected = 2000
)

// selection is a query for a page of events or terms.
type selection struct {
	table, time string // the table, and the column with the time
	// branches are alternative conditions, each of which an index supports. conditions apply to all of them.
	branches, conditions []string
	args                 []any
	newer                bool // the page begins at the old end
	limit                int
}

func (s *selection) add(condition string, args ...any) {
	s.conditions = append(s.conditions, condition)
	s.args = append(s.args, args...)
}

// choose selects rows by election, type and cause, with the index that matches the fewest rows, unless branches already
// select an index.
func (s *selection) choose(ids []int64, types []election.EventType, causes []election.Cause) {
	words := map[string][]string{"type": quoted(types), "cause": quoted(causes)}
	switch {
	case len(s.branches) > 0:
	case len(ids) > 0 && len(ids) <= maxSelected:
		for _, id := range ids {
			s.branches = append(s.branches, "election = "+strconv.FormatInt(id, 10))
		}
	case len(causes) > 0:
		s.branches = equal("cause", words["cause"])
		delete(words, "cause")
	case len(types) > 0:
		s.branches = equal("type", words["type"])
		delete(words, "type")
	}
	if len(ids) > 0 && (len(s.branches) == 0 || !strings.HasPrefix(s.branches[0], "election")) {
		s.add("+election IN (" + joined(ids) + ")")
	}
	for _, column := range []string{"type", "cause"} { // + excludes the index of the column
		if all := words[column]; len(all) > 0 {
			s.add("+" + column + " IN (" + strings.Join(all, ",") + ")")
		}
	}
	if len(s.branches) == 0 {
		s.branches = []string{"true"}
	}
}

func equal(column string, words []string) (all []string) {
	for _, word := range words {
		all = append(all, column+" = "+word)
	}
	return all
}

// quoted returns constants for the text of a query. A word that no history contains matches nothing.
func quoted[T ~string](all []T) (words []string) {
	known := regexp.MustCompile(`^[a-z_]+$`)
	for _, v := range all {
		if known.MatchString(string(v)) {
			words = append(words, "'"+string(v)+"'")
		}
	}
	if len(all) > 0 && len(words) == 0 {
		words = []string{"''"}
	}
	return words
}

func joined(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

// queries returns the queries for the positions of the rows.
func (s *selection) queries() (all []string) {
	order := " DESC"
	if s.newer {
		order = ""
	}
	conditions := strings.Join(append([]string{"true"}, s.conditions...), " AND ")
	for some := range slices.Chunk(s.branches, maxBranches) {
		selects := make([]string, len(some))
		for i, branch := range some {
			selects[i] = fmt.Sprintf("SELECT %s, id FROM %s WHERE %s AND %s", s.time, s.table, branch, conditions)
		}
		all = append(all, fmt.Sprintf("%s ORDER BY 1%s, 2%s LIMIT %d", strings.Join(selects, " UNION ALL "), order, order, s.limit+1))
	}
	return all
}

// positions returns the positions of at most one row more than a page, in the order of the query.
func (s *selection) positions(ctx context.Context, f *File) (all []position, err error) {
	scan := func(rows *sql.Rows) (p position, err error) {
		err = rows.Scan(&p.time, &p.id)
		return p, err
	}
	for i, query := range s.queries() {
		branches := min(maxBranches, len(s.branches)-i*maxBranches)
		found, err := list(ctx, f.reading, scan, query, slices.Repeat(s.args, branches)...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return s.page(all), nil
}

// page sorts positions, and removes those after the page.
func (s *selection) page(all []position) []position {
	slices.SortFunc(all, func(a, b position) int {
		if s.newer {
			return a.compare(b)
		}
		return b.compare(a)
	})
	all = slices.Compact(all)
	return all[:min(len(all), s.limit+1)]
}

// within adds the conditions for a range and for the cursors.
func (s *selection) within(r history.Range, before, after history.Cursor) error {
	for _, c := range []struct {
		at        history.Cursor
		condition string
	}{{before, "(%[1]s, id) < (?, ?)"}, {after, "(%[1]s, id) > (?, ?)"}} {
		if c.at == "" {
			continue
		}
		at, id, err := parseCursor(c.at)
		if err != nil {
			return err
		}
		s.add(fmt.Sprintf(c.condition, s.time), at, id)
		// A cursor within the range replaces the limit: with both, SQLite would scan from the limit for each page.
		if c.at == before && at <= until(r) {
			r.Until = time.Time{}
		} else if c.at == after && at >= since(r) {
			r.Since = time.Time{}
		}
	}
	if !r.Since.IsZero() {
		s.add(s.time+" >= ?", since(r))
	}
	if !r.Until.IsZero() {
		s.add(s.time+" <= ?", until(r))
	}
	return nil
}

// followMark precedes the row number in a cursor that selects the events that are stored later.
const followMark = "n"

// Events returns a page of events. The newest cursor of a complete page follows the numbers of the rows, because an event
// can be stored later than events with a later time.
func (f *File) Events(ctx context.Context, q history.EventQuery) (page history.EventPage, err error) {
	page.Newer, page.Older = q.After, q.Before
	newest, err := list(ctx, f.reading, scanOne[int64], "SELECT ifnull(max(id), 0) FROM events")
	if err != nil {
		return page, err
	}
	s := selection{table: "events", time: "time", newer: q.After != "", limit: cmp.Or(max(0, q.Limit), defaultLimit)}
	ids, err := f.electionIDs(ctx, q.Filter)
	if err != nil {
		return page, err
	}
	if text, follows := strings.CutPrefix(string(q.After), followMark); follows {
		last, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return page, cursorError(q.After)
		}
		s.time, s.branches = "id", []string{"id > " + strconv.FormatInt(last, 10)}
		q.After, q.Range = "", history.Range{}
	}
	s.choose(ids, q.Types, q.Causes)
	if err := s.within(q.Range, q.Before, q.After); err != nil {
		return page, err
	}
	s.add("id <= ?", newest[0])
	found, err := s.positions(ctx, f)
	if err != nil {
		return page, err
	}
	if page.More = len(found) > s.limit; page.More {
		found = found[:s.limit]
	}
	if page.Events, found, err = f.eventsAt(ctx, found); err != nil || len(found) == 0 {
		if q.Before == "" && err == nil {
			page.Newer = history.Cursor(followMark + strconv.FormatInt(newest[0], 10))
		}
		return page, err
	}
	page.Newer, page.Older = found[0].cursor(), found[len(found)-1].cursor()
	switch {
	case q.Before != "":
	case s.time == "id" && page.More:
		last := slices.MaxFunc(found, func(a, b position) int { return cmp.Compare(a.id, b.id) })
		page.Newer = history.Cursor(followMark + strconv.FormatInt(last.id, 10))
	case !s.newer || !page.More:
		page.Newer = history.Cursor(followMark + strconv.FormatInt(newest[0], 10))
	}
	return page, nil
}

// eventsAt reads the events at positions, newest first, and returns the positions in the same order.
func (f *File) eventsAt(ctx context.Context, at []position) (events []election.Event, sorted []position, err error) {
	type row struct {
		event election.Event
		position
	}
	scan := func(rows *sql.Rows) (x row, err error) {
		x.event, x.id, err = scanEvent(rows)
		x.time = nanos(x.event.Time)
		return x, err
	}
	var all []row
	for some := range slices.Chunk(at, maxLimit) {
		ids := make([]int64, len(some))
		for i, p := range some {
			ids[i] = p.id
		}
		found, err := list(ctx, f.reading, scan, selectEvents+" WHERE v.id IN ("+joined(ids)+")")
		if err != nil {
			return nil, nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b row) int { return b.compare(a.position) })
	for i := range all {
		events, sorted = append(events, all[i].event), append(sorted, all[i].position)
	}
	return events, sorted, nil
}

func scanEvent(rows *sql.Rows) (e election.Event, id int64, err error) {
	var at, term, create, modify, held, seen, delay, count int64
	var vacancy sql.NullInt64
	err = rows.Scan(&id, &at, &e.Type, &e.Election, &e.Key, &e.Datacenter, &term, &create, &modify,
		&e.Leader, &e.Session, &e.Node, &vacancy, &held, &e.HeldKnown, &e.Gap, &seen, &e.Restored, &e.By, &e.Cause, &e.Guess, &e.Evidence, &delay,
		&count, &e.Prefix, &e.Holders, &e.Limit, &e.Error)
	e.Time, e.SeenUntil, e.LockDelayUntil = moment(at), moment(seen), moment(delay)
	e.Term, e.CreateIndex, e.ModifyIndex, e.Count = unsigned(term), unsigned(create), unsigned(modify), unsigned(count)
	e.Held, e.Vacancy, e.VacancyKnown = time.Duration(held), time.Duration(vacancy.Int64), vacancy.Valid
	return e, id, err
}

const selectTermColumns = `SELECT e.name, e.key, e.datacenter, t.number, t.create_index, t.session, t.leader, t.node, t.started, t.start_known,
	ifnull(t.not_before, 0), ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), t.guess, ifnull(t.evidence, ''), ifnull(t.by, ''),
	ifnull(t.lock_delay_until, 0)`

const selectTerms = selectTermColumns + ` FROM terms t CROSS JOIN elections e ON e.id = t.election`

// Terms returns a page of terms.
func (f *File) Terms(ctx context.Context, q history.TermQuery) (page history.TermPage, err error) {
	page.Newer, page.Older = q.After, q.Before
	ids, err := f.electionIDs(ctx, q.Filter)
	if err != nil {
		return page, err
	}
	s := selection{table: "terms", time: "started", newer: q.After != "", limit: cmp.Or(max(0, q.Limit), defaultLimit)}
	s.choose(ids, nil, q.Causes)
	if err := s.within(q.Range, q.Before, q.After); err != nil {
		return page, err
	}
	if !q.Since.IsZero() {
		s.add("started >= ?", since(q.Range)) // the other terms are few, and overlapping reads them
	}
	found, err := s.positions(ctx, f)
	if err == nil && !q.Since.IsZero() && (s.newer || len(found) <= s.limit) {
		var more []position
		if more, err = f.overlapping(ctx, q, ids); err == nil {
			found = s.page(append(found, more...))
		}
	}
	if err != nil {
		return page, err
	}
	if page.More = len(found) > s.limit; page.More {
		found = found[:s.limit]
	}
	if s.newer {
		slices.Reverse(found)
	}
	for some := range slices.Chunk(found, maxLimit) {
		numbers := make([]int64, len(some))
		for i, p := range some {
			numbers[i] = p.id
		}
		scan := func(rows *sql.Rows) (history.Term, error) { return scanTerm(rows) }
		terms, err := list(ctx, f.reading, scan, selectTerms+" WHERE t.id IN ("+joined(numbers)+") ORDER BY t.started DESC, t.id DESC")
		if err != nil {
			return page, err
		}
		page.Terms = append(page.Terms, terms...)
	}
	if n := len(found); n > 0 {
		page.Newer, page.Older = found[0].cursor(), found[n-1].cursor()
	}
	return page, nil
}

// overlapping returns the positions of the terms that began before the range and lasted into it: of each election, at
// most the latest term that began before the range.
func (f *File) overlapping(ctx context.Context, q history.TermQuery, ids []int64) ([]position, error) {
	s := selection{table: "terms", time: "started"}
	s.branches = []string{"id IN (SELECT (SELECT id FROM terms t WHERE t.election = e.id AND t.started < ? ORDER BY t.started DESC, t.id DESC LIMIT 1) FROM elections e)"}
	if len(ids) > 0 {
		s.branches[0] = strings.TrimSuffix(s.branches[0], ")") + " WHERE e.id IN (" + joined(ids) + "))"
	}
	s.args, s.limit = []any{since(q.Range)}, 1<<30
	s.add("(ended IS NULL OR +ended >= ?)", since(q.Range))
	if causes := quoted(q.Causes); len(causes) > 0 {
		s.add("+cause IN (" + strings.Join(causes, ",") + ")")
	}
	if err := s.within(history.Range{}, q.Before, q.After); err != nil {
		return nil, err
	}
	return s.positions(ctx, f)
}

func scanTerm(rows *sql.Rows, more ...any) (t history.Term, err error) {
	var number, create, start, begun, end, seen, delay int64
	var vacancy sql.NullInt64
	err = rows.Scan(append([]any{
		&t.Election, &t.Key, &t.Datacenter, &number, &create, &t.Session, &t.Leader, &t.Node, &start, &t.StartKnown,
		&begun, &end, &seen, &vacancy, &t.Cause, &t.Guess, &t.Evidence, &t.By, &delay,
	}, more...)...)
	t.Number, t.CreateIndex = unsigned(number), unsigned(create)
	t.Start, t.NotBefore, t.End, t.SeenUntil, t.LockDelayUntil = moment(start), moment(begun), moment(end), moment(seen), moment(delay)
	if t.Over() {
		t.Lasted = new(history.Seconds(t.Held(t.End)))
	}
	if vacancy.Valid {
		t.Vacancy = new(history.Seconds(vacancy.Int64))
	}
	return t, err
}
