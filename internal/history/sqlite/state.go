package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"electop/election"
	"electop/internal/history"
)

// State returns the state at a given time.
func (f *File) State(ctx context.Context, q history.StateQuery) (history.State, error) {
	st := history.State{At: q.At}
	seen, err := list(ctx, f.reading, scanOne[int64], `SELECT ifnull(max(s), 0) FROM (SELECT max(min(seen, ?1)) AS s FROM observations WHERE started <= ?1)`, nanos(q.At))
	if err != nil {
		return st, err
	}
	st.LastObserved = moment(slices.Max(append(seen, 0))) // 0 if there is no file
	st.Observed = !st.LastObserved.IsZero() && q.At.Sub(st.LastObserved) < history.AliveWithin
	datacenters, err := list(ctx, f.reading, scanOne[string], "SELECT DISTINCT datacenter FROM checkpoints")
	if err != nil {
		return st, err
	}
	for _, name := range datacenters {
		b, err := f.board(ctx, name, nanos(q.At))
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
func (r reading) board(ctx context.Context, datacenter string, at int64) (*history.Board, error) {
	var first, last int64
	scan := func(rows *sql.Rows) (text []byte, err error) {
		return text, rows.Scan(&first, &last, &text)
	}
	found, err := list(ctx, r, scan, `SELECT event, ifnull((SELECT min(event) FROM checkpoints WHERE datacenter = ?1 AND id > c.id), 0x7fffffffffffffff), board
		FROM checkpoints c WHERE id = (SELECT max(id) FROM checkpoints WHERE datacenter = ?1 AND at <= ?2)`, datacenter, at)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	b, err := history.DecodeBoard(found[0])
	if err != nil {
		return nil, wrap(r.path, ErrCorrupt)
	}
	return b, r.apply(ctx, b, " WHERE v.id > ? AND v.id <= ? AND v.time <= ? AND e.datacenter = ? ORDER BY v.id", first, last, at, datacenter)
}

// apply applies stored events to a board.
func (r reading) apply(ctx context.Context, b *history.Board, where string, args ...any) error {
	scan := func(rows *sql.Rows) (changed bool, err error) {
		var at position
		e, err := scanEvent(rows, &at)
		return b.Apply(&e), err
	}
	_, err := list(ctx, r, scan, selectEvents+"events v"+joinElections+where, args...)
	return err
}

// maxTerms is the maximum number of terms in a state, in addition to the two latest terms of each election.
const maxTerms = 50_000

// addTerms adds the earlier terms of [history.StateTerms]. A board contains only the latest terms of its elections.
func (f *File) addTerms(ctx context.Context, q history.StateQuery, elections []*election.Election) error {
	page, err := f.terms(ctx, history.TermQuery{Filter: history.Filter{Range: history.Range{Since: q.At.Add(-history.StateTerms), Until: q.At}}, Limit: maxTerms}, "ended IS NOT NULL")
	if err != nil {
		return err
	}
	earlier := map[election.ID][]election.Term{} // newest first
	for _, t := range page.Terms {
		id := election.Event{Datacenter: t.Datacenter, Key: t.Key, CreateIndex: t.CreateIndex}.ElectionID()
		earlier[id] = append(earlier[id], t.Term)
	}
	for _, e := range elections {
		all, before := earlier[e.ID()], q.At.Add(1)
		if len(e.Terms) > 0 {
			before = e.Terms[0].Start
		}
		all = slices.DeleteFunc(all, func(t election.Term) bool {
			// After the clock was set, the times of a term on the board differ from the recorded ones.
			known := slices.ContainsFunc(e.Terms, func(u election.Term) bool {
				return u.Number == t.Number && u.CreateIndex == t.CreateIndex && u.Session == t.Session
			})
			return known || !t.Start.Before(before) || t.End.After(q.At)
		})
		slices.Reverse(all)
		e.Terms = append(all, e.Terms...)
	}
	return nil
}
