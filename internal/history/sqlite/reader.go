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
	"strconv"
	"strings"
	"sync"
	"time"

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
	cluster func(context.Context) string
	mu      sync.Mutex
	db      *sql.DB
}

// NewFile returns a file that opens when it is first read. Until the file exists, the history is empty. cluster, if not nil,
// returns the identity of the observed cluster, or "" if it is unknown; a file of another cluster is refused.
func NewFile(path string, cluster func(context.Context) string) *File {
	f := &File{cluster: cluster}
	f.reading = reading{path, f}
	return f
}

// OpenFile opens an existing file for reading. Other processes may write to it at the same time.
func OpenFile(ctx context.Context, path string) (*File, error) {
	f := NewFile(path, nil)
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// clusterTimeout bounds the read of the cluster's identity: while Consul is unreachable, the history is shown.
const clusterTimeout = 500 * time.Millisecond

// open opens the file unless it is open.
func (f *File) open(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != nil {
		return nil
	}
	db, err := openDB(f.path, busyTimeout, "ro", "query_only(1)")
	if err != nil {
		return wrap(f.path, err)
	}
	r := reading{f.path, db}
	exists, err := r.exists(ctx)
	if err == nil && !exists {
		err = ErrEmpty
	}
	if err == nil && f.cluster != nil {
		asking, cancel := context.WithTimeout(ctx, clusterTimeout)
		defer cancel()
		err = r.belongs(ctx, f.cluster(asking))
	}
	if err != nil {
		return errors.Join(wrap(f.path, err), db.Close())
	}
	f.db = db
	return nil
}

// belongs fails if the file belongs to another cluster.
func (r reading) belongs(ctx context.Context, cluster string) error {
	stored, err := list(ctx, r, only[string], "SELECT value FROM settings WHERE name = 'cluster'")
	if err == nil && cluster != "" && len(stored) > 0 && stored[0] != cluster {
		err = ErrCluster
	}
	return err
}

// QueryContext opens the file if necessary, and executes a query.
func (f *File) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := f.open(ctx); err != nil {
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

// Observations returns the periods that overlap a time range, oldest first.
func (f *File) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	all, err := list(ctx, f.reading, func(o *history.Observation) []any {
		return []any{&o.Observer, &o.Datacenter, (*lines)(&o.Patterns), (*nano)(&o.From), (*nano)(&o.To), &o.Lasting, &o.Ending, &o.Dropped}
	}, `SELECT observer, datacenter, patterns, started, seen, ended IS NULL, ifnull(ending, ''), dropped
		FROM observations WHERE seen >= ? AND started <= ? ORDER BY started, id LIMIT ?`, since(r), until(r), maxListed+1)
	for i := range all {
		all[i].Lasting = all[i].Lasting && time.Since(all[i].To) < history.AliveWithin
	}
	return limited(all, err)
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
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrEmpty) {
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

// only returns the variable for a single column.
func only[T any](v *T) []any { return []any{v} }

// selected selects the elections of a filter. A key takes precedence over a name, as in all commands.
const selected = `WITH
	named AS (SELECT value AS name FROM json_each(?1)),
	place AS (SELECT DISTINCT datacenter FROM elections WHERE ?2 = 'null' OR datacenter IN (SELECT value FROM json_each(?2))),
	keyed AS (SELECT e.id, e.key FROM elections e JOIN named n ON e.key = n.name WHERE e.datacenter IN place)
	SELECT id FROM elections WHERE ?1 = 'null' AND datacenter IN place
	UNION SELECT id FROM keyed
	UNION SELECT e.id FROM elections e JOIN named n ON e.name = n.name WHERE e.datacenter IN place AND n.name NOT IN (SELECT key FROM keyed)`

// selectors returns the arguments of selected.
func selectors(q history.Filter) []any {
	names, _ := json.Marshal(q.Names) // texts always have a JSON form
	datacenters, _ := json.Marshal(q.Datacenters)
	return []any{string(names), string(datacenters)}
}

func noElection(q history.Filter) error {
	return fmt.Errorf("%w: %q", history.ErrNoElection, sanitize.Line(strings.Join(append(slices.Clone(q.Names), q.Datacenters...), ", "), 80))
}

// electionIDs returns the elections that a filter selects. It returns nil if it selects all.
func (f *File) electionIDs(ctx context.Context, q history.Filter) ([]int64, error) {
	if !q.Selects() {
		return nil, nil
	}
	ids, err := list(ctx, f.reading, only[int64], selected, selectors(q)...)
	if err == nil && len(ids) == 0 {
		err = noElection(q)
	}
	return ids, err
}

// position is the place of a row in the order by time and ID.
type position struct{ time, id int64 }

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.time, q.time), cmp.Compare(p.id, q.id))
}

func cursorError(c history.Cursor) error {
	return fmt.Errorf("%w: %q", history.ErrCursor, sanitize.Line(string(c), 40))
}

// parseCursor returns the position of a cursor, or another one if the cursor is empty.
func parseCursor(c history.Cursor, other position) (position, error) {
	if c == "" {
		return other, nil
	}
	var p position
	if n, err := fmt.Sscanf(string(c), "%d.%d", &p.time, &p.id); n < 2 || err != nil {
		return p, cursorError(c)
	}
	return p, nil
}

// within returns the condition for the rows of a range between two cursors. time is the column with the time. It contains
// only the tightest limits, because SQLite scans from one of several.
func within(time string, r history.Range, before, after history.Cursor) (condition string, err error) {
	low, high := position{since(r), math.MinInt64}, position{until(r), math.MaxInt64}
	a, err := parseCursor(after, low)
	if err != nil {
		return "", err
	}
	b, err := parseCursor(before, high)
	if err != nil {
		return "", err
	}
	if a.compare(low) > 0 {
		low = a
	}
	if b.compare(high) < 0 {
		high = b
	}
	return fmt.Sprintf("(%[1]s, id) > (%[2]d, %[3]d) AND (%[1]s, id) < (%[4]d, %[5]d)", time, low.time, low.id, high.time, high.id), nil
}

const (
	// defaultLimit is the size of a page if the query does not limit it.
	defaultLimit = 100
	// maxSelected is the maximum number of elections that a query selects by index. For more elections, a scan is
	// cheaper, and SQLite combines at most 500 SELECTs.
	maxSelected = 400
)

// selection is a query for a page of events or terms.
type selection struct {
	table, time string // the table, and the column with the time
	// branches are alternative conditions, each of which an index supports. conditions apply to all of them.
	branches, conditions []string
	newer                bool // the page begins at the old end
	limit                int
}

// choose adds a condition. The values select the branches if nothing else does.
func (s *selection) choose(column string, values []string) {
	if len(values) == 0 {
		return
	}
	if len(s.branches) > 0 || len(values) > maxSelected {
		s.conditions = append(s.conditions, in(column, values))
		return
	}
	for _, v := range values {
		s.branches = append(s.branches, column+" = "+v)
	}
}

// whole adds a branch without a condition if there are no branches.
func (s *selection) whole() {
	if len(s.branches) == 0 {
		s.branches = []string{"true"}
	}
}

// in returns the condition for the values of a column. It excludes the index of the column.
func in(column string, values []string) string {
	return "+" + column + " IN (" + strings.Join(values, ",") + ")"
}

// quoted returns the SQL constants of words.
func quoted[T ~string](all []T) (words []string) {
	for _, v := range all {
		words = append(words, "'"+strings.NewReplacer("'", "''", "\x00", "").Replace(string(v))+"'")
	}
	return words
}

func numbers(ids []int64) (words []string) {
	for _, id := range ids {
		words = append(words, strconv.FormatInt(id, 10))
	}
	return words
}

// rows returns the query for the positions of a page and of one more row. Each branch uses its own index, and SQLite merges
// them.
func (s *selection) rows() string {
	order := " DESC"
	if s.newer {
		order = ""
	}
	end := fmt.Sprintf(" ORDER BY 1%s, 2%s LIMIT %d", order, order, s.limit+1)
	selects := make([]string, len(s.branches))
	for i, branch := range s.branches {
		selects[i] = fmt.Sprintf("SELECT %s AS at, id FROM %s WHERE %s", s.time, s.table, strings.Join(append([]string{branch}, s.conditions...), " AND "))
	}
	return strings.Join(selects, " UNION ALL ") + end
}

// page reads a page, newest first, and the number of its newest row. query contains %s for the positions to read.
func page[T any](ctx context.Context, f reading, s *selection, c *history.Cursors, query string, columns func(*T) []any) (all []T, newest int64, err error) {
	type row struct {
		value    T
		position position
	}
	rows, err := list(ctx, f, func(r *row) []any { return append([]any{&r.position.time, &r.position.id}, columns(&r.value)...) },
		"SELECT p.at, p.id, "+fmt.Sprintf(query, s.rows())+" ORDER BY p.at DESC, p.id DESC")
	if c.More = len(rows) > s.limit; c.More && s.newer {
		rows = rows[1:]
	} else if c.More {
		rows = rows[:s.limit]
	}
	for i, r := range rows {
		all, c.Older = append(all, r.value), history.Cursor(fmt.Sprintf("%d.%d", r.position.time, r.position.id))
		if i == 0 {
			newest, c.Newer = r.position.id, c.Older
		}
	}
	return all, newest, err
}

const selectEvents = `e.datacenter, e.key, e.name, v.time, y.name, coalesce(v.create_index, t.create_index, 0), v.modify_index,
	coalesce(v.term, t.number, 0), coalesce(v.leader, t.leader, ''), coalesce(v.session, t.session, ''), coalesce(v.node, t.node, ''), ifnull(v.evidence, ''),
	ifnull(v.by, ''), ifnull(v.gap, 0), ifnull(v.seen_until, 0), ifnull(v.restored, 0), v.vacancy IS NOT NULL, ifnull(v.vacancy, 0), ifnull(v.held_known, 0),
	ifnull(v.held, 0), ifnull(v.cause, ''), ifnull(v.guess, 0), ifnull(v.lock_delay_until, 0), ifnull(v.count, 0), ifnull(v.holders, 0),
	ifnull(v.slots, 0), ifnull(v.error, '') FROM `

const joinElections = " CROSS JOIN types y ON y.id = v.type CROSS JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id"

// followMark precedes the row number in a cursor that selects the events that are stored later.
const followMark = "n"

// Events returns a page of events. The newest cursor of a complete page follows the numbers of the rows, because an event
// can be stored later than events with a later time.
func (f *File) Events(ctx context.Context, q history.EventQuery) (p history.EventPage, err error) {
	p.Newer, p.Older = q.After, q.Before
	newest, err := f.number(ctx, "SELECT ifnull(max(id), 0) FROM events")
	if err != nil {
		return p, err
	}
	ids, err := f.electionIDs(ctx, q.Filter)
	if err != nil {
		return p, err
	}
	s := selection{table: "events", time: "time", newer: q.After != "", limit: cmp.Or(max(0, q.Limit), defaultLimit)}
	follow := func(id int64) history.Cursor { return history.Cursor(followMark + strconv.FormatInt(id, 10)) }
	text, follows := strings.CutPrefix(string(q.After), followMark)
	if follows {
		last, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return p, cursorError(q.After)
		}
		s.time, s.branches = "id", []string{fmt.Sprint("id > ", last)}
	} else {
		inside, err := within("time", q.Range, q.Before, q.After)
		if err != nil {
			return p, err
		}
		s.conditions = []string{inside}
	}
	s.choose("election", numbers(ids))
	s.choose("cause", quoted(q.Causes))
	var types []string
	for _, word := range quoted(q.Types) {
		types = append(types, "(SELECT id FROM types WHERE name = "+word+")")
	}
	s.choose("type", types)
	s.whole()
	s.conditions = append(s.conditions, fmt.Sprint("id <= ", newest))
	var id int64
	p.Events, id, err = page(ctx, f.reading, &s, &p.Cursors, selectEvents+"(%s) p CROSS JOIN events v ON v.id = p.id"+joinElections, eventColumns)
	switch {
	case err != nil || q.Before != "":
	case !p.More || !s.newer:
		p.Newer = follow(newest)
	case follows:
		p.Newer = follow(id)
	}
	return p, err
}

// Terms returns a page of terms. Of the terms that began before the range and lasted into it, each election has at most
// one: the latest that began before the range.
func (f *File) Terms(ctx context.Context, q history.TermQuery) (p history.TermPage, err error) {
	p.Newer, p.Older = q.After, q.Before
	ids, err := f.electionIDs(ctx, q.Filter)
	if err != nil {
		return p, err
	}
	s := selection{table: "terms", time: "started", newer: q.After != "", limit: cmp.Or(max(0, q.Limit), defaultLimit)}
	s.choose("election", numbers(ids))
	s.choose("cause", quoted(q.Causes))
	inside, err := within("started", q.Range, q.Before, q.After)
	if err != nil {
		return p, err
	}
	s.whole()
	for i := range s.branches {
		s.branches[i] += " AND " + inside
	}
	if !q.Since.IsZero() {
		overlaps, _ := within("started", history.Range{Until: q.Since.Add(-1)}, q.Before, q.After)
		of := ""
		if len(ids) > 0 {
			of = " WHERE e.id IN (" + strings.Join(numbers(ids), ",") + ")"
		}
		if len(q.Causes) > 0 {
			overlaps += " AND " + in("cause", quoted(q.Causes))
		}
		s.branches = append(s.branches, fmt.Sprintf(`id IN (SELECT (SELECT id FROM terms t WHERE t.election = e.id AND t.started < %[1]d
			ORDER BY t.started DESC, t.id DESC LIMIT 1) FROM elections e%[2]s) AND %[3]s AND (ended IS NULL OR +ended >= %[1]d)`, since(q.Range), of, overlaps))
	}
	p.Terms, _, err = page(ctx, f.reading, &s, &p.Cursors, selectTerms+` FROM (%s) p CROSS JOIN terms t ON t.id = p.id CROSS JOIN elections e ON e.id = t.election
		LEFT JOIN events x ON x.id = t.explanation`, func(t *history.Term) []any {
		return append(termColumns(&t.Term), &t.Election, &t.Key, &t.Datacenter, (*nano)(&t.End), (*nano)(&t.SeenUntil), &t.Vacancy, &t.Cause, &t.Guess,
			&t.Evidence, &t.By, (*nano)(&t.LockDelayUntil))
	})
	for i := range p.Terms {
		if t := &p.Terms[i]; t.Over() {
			t.Lasted = new(history.Seconds(t.Held(t.End)))
		}
	}
	return p, err
}

const selectTerms = `t.create_index, t.number, t.session, t.leader, t.node, t.started, t.start_known, ifnull(t.not_before, 0), e.name, e.key, e.datacenter,
	ifnull(t.ended, 0), ifnull(t.seen_until, 0), t.vacancy, ifnull(t.cause, ''), ifnull(x.guess, 0), ifnull(x.evidence, ''), ifnull(x.by, ''),
	ifnull(x.lock_delay_until, 0)`
