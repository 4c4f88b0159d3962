package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

// reading executes queries. Its errors contain the path of the file.
type reading struct {
	path string
	q    interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

// maxTerms is the maximum number of terms in a state, in addition to the two latest terms of each election.
const maxTerms = 50_000

// State returns the state at a given time.
func (f *File) State(ctx context.Context, q history.StateQuery) (history.State, error) {
	st := history.State{At: q.At}
	seen, err := list(ctx, f.reading, scanOne[int64], `SELECT ifnull(max(s), 0) FROM (SELECT max(min(seen, ?1)) AS s FROM observations WHERE started <= ?1)`, nanos(q.At))
	if err != nil {
		return st, err
	}
	st.LastObserved = moment(seen[0])
	st.Observed = seen[0] != 0 && q.At.Sub(st.LastObserved) < history.AliveWithin
	datacenters, err := list(ctx, f.reading, scanOne[string], "SELECT DISTINCT datacenter FROM checkpoints")
	if err != nil {
		return st, err
	}
	for _, name := range datacenters {
		b, err := f.board(ctx, name, q.At)
		if err != nil {
			return st, err
		}
		if b != nil {
			st.Elections = append(st.Elections, b.Elections(q.At)...)
		}
	}
	slices.SortStableFunc(st.Elections, election.Compare)
	for _, e := range st.Elections {
		e.Events = nil
	}
	return st, f.addTerms(ctx, q, st.Elections)
}

// board returns the board of a datacenter at a time: the latest checkpoint and the events after it. It returns nil if
// there is no checkpoint. After the clock was set back, the latest checkpoint is the one that was stored last.
func (r reading) board(ctx context.Context, datacenter string, at time.Time) (*history.Board, error) {
	type row struct {
		id, event int64
		board     []byte
	}
	scan := func(rows *sql.Rows) (x row, err error) {
		err = rows.Scan(&x.id, &x.event, &x.board)
		return x, err
	}
	found, err := list(ctx, r, scan, `SELECT id, event, board FROM checkpoints WHERE id =
		(SELECT max(id) FROM checkpoints WHERE datacenter = ?1 AND at <= ?2)`, datacenter, nanos(at))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	b, err := history.DecodeBoard(found[0].board)
	if err != nil {
		return nil, wrap(r.path, ErrCorrupt)
	}
	next, err := list(ctx, r, scanOne[sql.NullInt64], "SELECT min(event) FROM checkpoints WHERE datacenter = ? AND id > ?", datacenter, found[0].id)
	if err != nil {
		return nil, err
	}
	last := int64(1<<63 - 1)
	if next[0].Valid {
		last = next[0].Int64
	}
	apply := func(rows *sql.Rows) (changed bool, err error) {
		e, _, err := scanEvent(rows)
		return b.Apply(&e), err
	}
	_, err = list(ctx, r, apply, selectEvents+" WHERE v.id > ? AND v.id <= ? AND v.time <= ? AND e.datacenter = ? ORDER BY v.id", found[0].event, last, nanos(at), datacenter)
	return b, err
}

// addTerms adds the earlier terms of [history.StateTerms]. A board contains only the latest terms of its elections.
func (f *File) addTerms(ctx context.Context, q history.StateQuery, elections []*election.Election) error {
	byIdent := make(map[string]*election.Election, len(elections))
	for _, e := range elections {
		byIdent[e.Datacenter+"\x00"+e.Ident()] = e
	}
	type row struct {
		term  election.Term
		ident string
	}
	scan := func(rows *sql.Rows) (x row, err error) {
		var datacenter, ident string
		t, err := scanTerm(rows, &datacenter, &ident)
		return row{t.Term, datacenter + "\x00" + ident}, err
	}
	all, err := list(ctx, f.reading, scan, selectTermColumns+`, e.datacenter, e.ident FROM terms t CROSS JOIN elections e ON e.id = t.election WHERE t.ended IS NOT NULL AND t.id IN (
		SELECT id FROM (SELECT id FROM terms WHERE started BETWEEN ?2 AND ?1 ORDER BY started DESC LIMIT ?3)
		UNION ALL SELECT (SELECT id FROM terms WHERE election = x.id AND started < ?2 ORDER BY started DESC, id DESC LIMIT 1) FROM elections x)
		ORDER BY t.started DESC, t.id DESC`, nanos(q.At), nanos(q.At.Add(-history.StateTerms)), maxTerms)
	if err != nil {
		return err
	}
	earliest := make(map[*election.Election]time.Time, len(elections))
	older := map[*election.Election][]election.Term{}
	for _, x := range all { // the newest first
		e := byIdent[x.ident]
		if e == nil {
			continue
		}
		if _, known := earliest[e]; !known {
			earliest[e] = q.At.Add(1)
			if len(e.Terms) > 0 {
				earliest[e] = e.Terms[0].Start
			}
		}
		// After the clock was set, the times of a term on the board differ from the recorded ones.
		known := slices.ContainsFunc(e.Terms, func(t election.Term) bool {
			return t.Number == x.term.Number && t.CreateIndex == x.term.CreateIndex && t.Session == x.term.Session
		})
		if !known && x.term.Start.Before(earliest[e]) && x.term.Over() && !x.term.End.After(q.At) {
			older[e] = append(older[e], x.term)
		}
	}
	for e, terms := range older {
		slices.Reverse(terms)
		e.Terms = append(terms, e.Terms...)
	}
	return nil
}
