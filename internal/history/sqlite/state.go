package sqlite

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

// State returns the state at a given time.
func (f *File) State(ctx context.Context, at time.Time) (history.State, error) {
	st := history.State{At: at}
	seen, err := f.number(ctx, "SELECT ifnull(max(iif(ended IS NULL AND seen > ?2, ?1, min(seen, ?1))), 0) FROM observations WHERE started <= ?1",
		nanos(at), nanos(time.Now().Add(-history.AliveWithin)))
	if err != nil {
		return st, err
	}
	st.LastObserved = moment(seen)
	st.Observed = seen == nanos(at)
	datacenters, err := list(ctx, f.reading, column[string], "SELECT DISTINCT datacenter FROM checkpoints")
	if err != nil {
		return st, err
	}
	for _, name := range datacenters {
		b, err := f.board(ctx, name, nanos(at))
		if err != nil {
			return st, err
		}
		st.Known = append(st.Known, b.Elections(at)...)
	}
	slices.SortStableFunc(st.Known, election.Compare)
	for _, e := range st.Known {
		e.Events = nil
	}
	st.Elections = election.Without(st.Known, (*election.Election).Recorded)
	return st, nil
}

// board returns the board of a datacenter at a time: the latest checkpoint, or an empty board, and the events after it. After the clock was set back, the latest checkpoint is the one that was stored last.
func (r reading) board(ctx context.Context, datacenter string, at int64) (*history.Board, error) {
	var first, last int64
	var text []byte
	err := r.each(ctx, []any{&first, &last, &text}, func() {}, `SELECT ifnull(c.event, 0), ifnull((SELECT min(event) FROM checkpoints WHERE datacenter = ?1 AND id > ifnull(latest, 0)), 0x7fffffffffffffff), c.board
		FROM (SELECT max(id) AS latest FROM checkpoints WHERE datacenter = ?1 AND at <= ?2) LEFT JOIN checkpoints c ON c.id = latest`, datacenter, at)
	if err != nil {
		return nil, err
	}
	b := history.NewBoard(&election.Snapshot{})
	if text != nil {
		if b, err = history.DecodeBoard(text); err != nil {
			return nil, wrap(r.path, ErrCorrupt)
		}
	}
	return b, r.apply(ctx, b, " WHERE v.id > ? AND v.id <= ? AND v.time <= ? AND e.datacenter = ? ORDER BY v.id", first, last, at, datacenter)
}

// apply applies stored events to a board.
func (r reading) apply(ctx context.Context, b *history.Board, where string, args ...any) error {
	var e election.Event
	return r.each(ctx, eventColumns(&e), func() { b.Apply(&e) }, "SELECT "+selectEvents+"events v"+joinElections+where, args...)
}
