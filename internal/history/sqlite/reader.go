package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// reading executes queries. Its errors contain the path of the file.
type reading struct {
	path string
	q    interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

// File is a [history.Source] that reads from a file.
type File struct {
	reading
	clusters []func(context.Context) string
	mu       sync.Mutex
	db       *sql.DB
}

// NewFile returns a file that opens when it is first read. Until the file exists, the history is empty. clusters return
// the identities of the observed clusters as [WriterOptions.Cluster] does; a file of another cluster is refused.
func NewFile(path string, clusters ...func(context.Context) string) *File {
	f := &File{clusters: clusters}
	f.reading = reading{path, f}
	return f
}

// Open opens the file unless it is open. It fails if the file does not exist. Other processes may write to the file.
func (f *File) Open(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != nil {
		return nil
	}
	var ids []string
	for _, cluster := range f.clusters {
		ids = append(ids, cluster(ctx)) // may create a link at the path
	}
	db, _, err := openDB(f.path, busyTimeout, "ro", "query_only(1)")
	if err != nil {
		return wrap(f.path, err)
	}
	r := reading{f.path, db}
	err = r.supported(ctx)
	for _, id := range ids {
		if err == nil {
			err = r.Belongs(ctx, id)
		}
	}
	if err != nil {
		return errors.Join(wrap(f.path, err), db.Close())
	}
	f.db = db
	return nil
}

// QueryContext opens the file if necessary, and executes a query.
func (f *File) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := f.Open(ctx); err != nil {
		return nil, err
	}
	return f.db.QueryContext(ctx, query, args...)
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil
	}
	return f.db.Close()
}

// Observations returns the periods that overlap a time range, in the order of storing: the clock may have been set back.
func (f *File) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	return limited(list(ctx, f.reading, func(o *history.Observation) []any {
		return []any{&o.Observer, &o.Datacenter, (*lines)(&o.Patterns), (*nano)(&o.From), (*nano)(&o.To), &o.Lasting, &o.Ending, &o.Dropped, &o.Newest}
	}, `SELECT observer, datacenter, patterns, started, seen, ended IS NULL AND seen > ?3, ifnull(ending, ''), dropped, newest
		FROM observations WHERE seen >= ?1 AND started <= ?2 ORDER BY id LIMIT ?4`, since(r), until(r), nanos(time.Now().Add(-history.AliveWithin)), maxListed+1))
}

// lines are stored as a text.
type lines []string

// Scan reads the stored form.
func (l *lines) Scan(v any) error {
	*l = strings.Split(fmt.Sprint(v), "\n")
	return nil
}

// Actions returns the recorded actions in a time range, oldest first.
func (f *File) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	return limited(list(ctx, f.reading, actionColumns, `SELECT time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail
		FROM actions WHERE time >= ? AND time <= ? ORDER BY time, id LIMIT ?`, since(r), until(r), maxListed+1))
}

// maxListed is the maximum number of periods of observation or actions in a result, and of actions in a file.
const maxListed = 100_000

func limited[T any](all []T, err error) ([]T, error) {
	if err == nil && len(all) > maxListed {
		return nil, history.ErrLarge
	}
	return all, err
}

// Elections returns the elections, sorted by key. A key that was observed in several datacenters appears once.
func (f *File) Elections(ctx context.Context) ([]history.Election, error) {
	return list(ctx, f.reading, func(e *history.Election) []any { return []any{&e.Name, &e.Key} },
		"SELECT DISTINCT name, key FROM elections WHERE key <> '' ORDER BY key, name")
}

// each scans each row of a query into the same variables, and calls visit. There are no rows if the file does not exist yet.
func (r reading) each(ctx context.Context, into []any, visit func(), query string, args ...any) error {
	rows, err := r.q.QueryContext(ctx, query, args...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return wrap(r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return wrap(r.path, err)
		}
		visit()
	}
	return wrap(r.path, rows.Err())
}

// list reads all rows of a query. columns returns the variables for the columns of a row.
func list[T any](ctx context.Context, r reading, columns func(*T) []any, query string, args ...any) (all []T, err error) {
	var v T
	err = r.each(ctx, columns(&v), func() { all = append(all, v) }, query, args...)
	return all, err
}

// number reads a single integer. It returns 0 if the file does not exist yet.
func (r reading) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = r.each(ctx, []any{&n}, func() {}, query, args...)
	return n, err
}

// column returns the variable for a single column.
func column[T any](v *T) []any { return []any{v} }

// scope returns the condition for the elections e that a filter selects, and their IDs unless these are too many.
func (f *File) scope(ctx context.Context, q history.Filter) (ids []int64, only string, err error) {
	if only = in("e.datacenter", q.Datacenters); len(q.Names)+len(q.Datacenters) == 0 {
		return nil, only, nil
	}
	query := fmt.Sprint("SELECT id FROM elections e WHERE ", only, " LIMIT ", maxSelected+1)
	if len(q.Names) > 0 {
		// A key takes precedence over a name, as in all commands.
		query = fmt.Sprintf(`WITH named AS (SELECT DISTINCT value AS name FROM %[2]s),
			keyed AS (SELECT e.id, e.key FROM elections e JOIN named n ON e.key = n.name WHERE %[1]s)
			SELECT id FROM keyed
			UNION SELECT e.id FROM elections e JOIN named n ON e.name = n.name WHERE %[1]s AND n.name NOT IN (SELECT key FROM keyed)`, only, values(q.Names))
	}
	ids, err = list(ctx, f.reading, column[int64], query)
	if err == nil && len(ids) == 0 {
		err = fmt.Errorf("%w: %q", history.ErrNoElection, sanitize.Line(strings.Join(slices.Concat(q.Names, q.Datacenters), ", "), 80))
	}
	if len(q.Names) > 0 {
		only = in("e.id", ids)
	}
	if len(ids) > maxSelected {
		ids = nil
	}
	return ids, only, err
}

// position is the place of a row in the order by time and ID.
type position struct{ time, id int64 }

const (
	// newestEnd is the position after all rows.
	newestEnd history.Cursor = "o9223372036854775807.9223372036854775807"
	// defaultLimit is the size of a page if the query does not limit it.
	defaultLimit = 100
	// maxSelected is the maximum number of elections that a query selects by index. For more elections, a scan is
	// cheaper, and SQLite combines at most 500 SELECTs.
	maxSelected = 400
)

// selection is a query for a page of events or terms.
type selection struct {
	table, time string // the table, and the column with the time
	// order is o for rows older than from, newest first, n for newer rows, and s for rows that were stored later.
	order rune
	from  position
	// branches are alternative conditions, each of which an index supports. conditions apply to all of them.
	branches, conditions []string
	only                 string // the condition for the elections
	limit                int
}

// selects returns the selection of a page, and the elections to which the filter limits it.
func (f *File) selects(ctx context.Context, q *history.EventQuery, table, time string) (*selection, error) {
	s := &selection{table: table, time: time, limit: cmp.Or(q.Limit, defaultLimit)}
	_, err := fmt.Sscanf(string(cmp.Or(q.Page, newestEnd)), "%c%d.%d", &s.order, &s.from.time, &s.from.id)
	if err != nil || !strings.ContainsRune("ons", s.order) {
		return nil, fmt.Errorf("%w: %q", history.ErrCursor, sanitize.Line(string(q.Page), 40))
	}
	var ids []int64
	if ids, s.only, err = f.scope(ctx, q.Filter); err != nil {
		return nil, err
	}
	if s.order == 's' {
		s.time, q.Range, s.branches = "id", history.Range{}, []string{fmt.Sprint("id > ", s.from.id)}
	}
	if choose(s, "election", "%s", ids); ids == nil && s.only != "true" {
		s.conditions = append(s.conditions, "EXISTS (SELECT 1 FROM elections e WHERE e.id = +election AND "+s.only+")")
	}
	if len(q.Causes) > 0 { // other events have no cause
		s.conditions = append(s.conditions, in("'explained'", q.Types))
	}
	choose(s, "cause", "%s", q.Causes)
	choose(s, "type", "(SELECT id FROM types WHERE name IN %s)", q.Types)
	if len(s.branches) == 0 {
		s.branches = []string{"true"}
	}
	for i := range s.branches {
		s.branches[i] += " AND " + s.within(q.Range)
	}
	return s, nil
}

// within returns the condition for the rows of a range on the page. It contains only the tightest limits, because SQLite
// scans from one of several.
func (s *selection) within(r history.Range) string {
	low, high := position{since(r), math.MinInt64}, position{until(r), math.MaxInt64}
	switch {
	case s.order == 'o' && s.from.time <= high.time:
		high = s.from
	case s.order != 'o' && s.from.time >= low.time:
		low = s.from
	}
	return fmt.Sprintf("(%[1]s, id) > (%[2]d, %[3]d) AND (%[1]s, id) < (%[4]d, %[5]d)", s.time, low.time, low.id, high.time, high.id)
}

// choose adds a condition. The values select the branches if nothing else does. format contains %s for the values.
func choose[T any](s *selection, column, format string, all []T) {
	if len(all) > 0 && len(s.branches) > 0 { // + excludes the index of the column
		s.conditions = append(s.conditions, fmt.Sprintf("+"+column+" IN "+format, values(all)))
		return
	}
	for i := range all {
		s.branches = append(s.branches, fmt.Sprintf(column+" = "+format, values(all[i:i+1])))
	}
}

// values returns values in SQL. SQLite parses one text faster than 200,000 numbers.
func values[T any](all []T) string {
	text, _ := json.Marshal(all) // numbers and texts always have a JSON form
	return "(SELECT value FROM json_each('" + strings.ReplaceAll(string(text), "'", "''") + "'))"
}

// in returns the condition for the values of a column. No values select all rows.
func in[T any](column string, all []T) string {
	if len(all) == 0 {
		return "true"
	}
	return column + " IN " + values(all)
}

// page reads a page. query contains %s for the positions to read. Each branch uses its own index, and SQLite merges them.
func page[T any](ctx context.Context, f reading, s *selection, query string, columns func(*T) []any) (p history.Page[T], err error) {
	order := " ORDER BY 1, 2"
	if s.order == 'o' {
		order = " ORDER BY 1 DESC, 2 DESC"
	}
	branches := election.Map(s.branches, func(branch string) string {
		return fmt.Sprintf("SELECT %s AS at, id FROM %s WHERE %s", s.time, s.table, strings.Join(append([]string{branch}, s.conditions...), " AND "))
	})
	positions := fmt.Sprint(strings.Join(branches, " UNION ALL "), order, " LIMIT ", s.limit+1)
	var v T
	var at position
	err = f.each(ctx, append([]any{&at.time, &at.id}, columns(&v)...), func() {
		if p.More = len(p.Items) == s.limit; !p.More {
			p.Items, s.from = append(p.Items, v), at
		}
	}, "SELECT p.at, p.id, "+fmt.Sprintf(query, positions)+order)
	p.Next = s.cursor()
	return p, err
}

func (s *selection) cursor() history.Cursor {
	return history.Cursor(fmt.Sprintf("%c%d.%d", s.order, s.from.time, s.from.id))
}

const selectEvents = `e.datacenter, e.key, e.name, v.time, y.name, coalesce(v.create_index, t.create_index, 0), v.modify_index,
	coalesce(v.term, t.number, 0), coalesce(v.leader, t.leader, ''), coalesce(v.session, t.session, ''), coalesce(v.node, t.node, ''), ifnull(v.evidence, ''),
	ifnull(v.by, ''), ifnull(v.gap, 0), ifnull(v.seen_until, 0), ifnull(v.restored, 0), v.vacancy IS NOT NULL, ifnull(v.vacancy, 0), ifnull(v.held_known, 0),
	ifnull(v.held, 0), ifnull(v.cause, ''), ifnull(v.guess, 0), ifnull(v.lock_delay_until, 0),
	ifnull(iif(v.vacancy IS NULL, v.alive_until, ifnull((SELECT ifnull(iif(p.cause IS NULL OR t.number <> t.create_index AND t.number > 1 + p.number * (t.create_index = p.create_index),
		v.alive_until, p.alive_until), 0) FROM terms p WHERE p.election = t.election AND (p.started, p.id) < (t.started, t.id) ORDER BY p.started DESC, p.id DESC LIMIT 1), v.alive_until)), 0),
	ifnull(v.count, 0), ifnull(v.holders, 0),
	ifnull(v.slots, 0), ifnull(v.error, '') FROM `

const joinElections = " CROSS JOIN types y ON y.id = v.type CROSS JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id"

// Events returns a page of events. After the newest event, its cursor follows the numbers of the rows, because an event can
// be stored later than events with a later time. It omits explanations that a more certain one replaced.
func (f *File) Events(ctx context.Context, q history.EventQuery) (p history.EventPage, err error) {
	newest, err := f.number(ctx, "SELECT ifnull(max(id), 0) FROM events")
	if err != nil {
		return p, err
	}
	s, err := f.selects(ctx, &q, "events", "time")
	if err != nil {
		return p, err
	}
	s.conditions = append(s.conditions, fmt.Sprint("(cause IS NULL OR NOT EXISTS (SELECT 1 FROM terms t WHERE t.id = term_id AND t.explanation <> +events.id)) AND id <= ", newest))
	p, err = page(ctx, f.reading, s, selectEvents+"(%s) p CROSS JOIN events v ON v.id = p.id"+joinElections, eventColumns)
	if s.order != 'o' && !p.More {
		s.order, s.from = 's', position{id: newest}
		p.Next = s.cursor()
	}
	return p, err
}

// Terms returns a page of terms. Of the terms that began before the range and lasted into it, each election has at most
// one: the latest that began before the range.
func (f *File) Terms(ctx context.Context, q history.TermQuery) (p history.TermPage, err error) {
	q.Types = nil
	s, err := f.selects(ctx, &q, "terms", "started")
	if err != nil {
		return p, err
	}
	if !q.Since.IsZero() {
		s.branches = append(s.branches, fmt.Sprintf(`id IN (SELECT (SELECT id FROM terms t WHERE t.election = e.id AND t.started < %[1]d
			ORDER BY t.started DESC, t.id DESC LIMIT 1) FROM elections e WHERE %[2]s AND (deleted IS NULL OR deleted >= %[1]d)) AND %[3]s AND %[4]s AND (ended IS NULL OR +ended >= %[1]d)`,
			since(q.Range), s.only, s.within(history.Range{Until: q.Since.Add(-1)}), in("+cause", q.Causes)))
	}
	return page(ctx, f.reading, s, `t.create_index, t.number, t.session, t.leader, t.node, t.started, t.start_known, ifnull(t.not_before, 0), e.name, e.key, e.datacenter,
		ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), ifnull(x.guess, 0), ifnull(x.evidence, ''), ifnull(x.by, ''),
		ifnull(x.lock_delay_until, 0), ifnull(x.alive_until, 0), max(0, ifnull(t.seen_until, t.ended) - t.started),
		ifnull(n.started, 0), iif(t.vacancy IS NOT NULL, ifnull(n.started, 0),
			iif(n.number = n.create_index OR n.number <= 1 + t.number * (n.create_index = t.create_index), iif(n.start_known, n.started, ifnull(n.not_before, 0)), 0))
		FROM (%s) p CROSS JOIN terms t ON t.id = p.id CROSS JOIN elections e ON e.id = t.election
		LEFT JOIN terms n ON n.id = (SELECT id FROM terms n WHERE n.election = t.election AND (n.started, n.id) > (t.started, t.id) ORDER BY n.started, n.id LIMIT 1)
		LEFT JOIN events x ON x.id = t.explanation`, func(t *history.Term) []any {
		return append(termColumns(&t.Term), &t.Election, &t.Key, &t.Datacenter, (*nano)(&t.End), (*nano)(&t.SeenUntil), &t.Vacancy, &t.Cause, &t.Guess,
			&t.Evidence, &t.By, (*nano)(&t.LockDelayUntil), (*nano)(&t.AliveUntil), &t.Lasted, (*nano)(&t.Next), (*nano)(&t.NextNotBefore))
	})
}
