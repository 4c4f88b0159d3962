package sqlite

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/internal/history"
)

const (
	// checkpointEvery is the maximum time between two checkpoints.
	checkpointEvery = 24 * time.Hour
	// leastEvents is the minimum number of events between two periodic checkpoints.
	leastEvents = 4000
)

// checkpoint stores a checkpoint. The first mark under a lease, and a mark with other patterns, also begin a period of
// observation.
func (w *Writer) checkpoint(ctx context.Context, x *item) error {
	s, patterns := x.snapshot, strings.Join(x.patterns.Strings(), "\n")
	if s.Connection.State == election.Lost { // the snapshot is stale
		return nil
	}
	if !w.begun || patterns != w.patterns {
		w.patterns = patterns
		if err := w.findUnwatched(ctx, x); err != nil {
			return err
		}
		if err := errors.Join(w.stopObserving(ctx, s.At, "patterns_changed"), w.reconcile(ctx, x), w.observe(ctx, s.At)); err != nil {
			return err
		}
	}
	for _, e := range s.Elections {
		w.newest = max(w.newest, e.Pair.ModifyIndex)
	}
	b := history.NewBoard(s, w.unwatched...)
	// The observer may not know the actions that other processes stored.
	if err := w.apply(ctx, b, " WHERE v.cause IN ('operator_release', 'operator_destroy') AND v.time > ? AND e.datacenter = ?",
		nanos(s.At.Add(-checkpointEvery)), w.datacenter); err != nil {
		return err
	}
	text, err := b.Encode()
	if err != nil {
		return err
	}
	err = w.exec(ctx, "INSERT INTO checkpoints (datacenter, at, event, board) SELECT ?, ?, ifnull(max(id), 0), ? FROM events", w.datacenter, nanos(s.At), text)
	w.known = nil
	w.begun, w.elections, w.events, w.checkpointAt = true, len(s.Elections), 0, s.At
	return err
}

// findUnwatched reads the last known elections that only observers with other patterns watched.
func (w *Writer) findUnwatched(ctx context.Context, x *item) error {
	w.unwatched = nil
	others, err := w.number(ctx, "SELECT count(*) FROM observations WHERE datacenter = ? AND patterns <> ?", w.datacenter, w.patterns)
	if err != nil || others == 0 { // a board needs much memory
		return err
	}
	earlier, err := w.board(ctx, w.datacenter, math.MaxInt64)
	if err != nil {
		return err
	}
	for _, e := range earlier.Elections(x.at()) {
		e.RecordedUntil = cmp.Or(e.RecordedUntil, x.at())
		if _, watched := x.patterns.Match(e.Key()); !watched && x.at().Sub(e.RecordedUntil) <= history.RecallWindow {
			w.unwatched = append(w.unwatched, e)
		}
	}
	return nil
}

// reconcile makes the elections and the current terms equal to those of a snapshot, except where the observer knows
// nothing about an election. It writes them in parts, because SQLite keeps the memory of the temporary table.
func (w *Writer) reconcile(ctx context.Context, x *item) error {
	all := election.Without(x.snapshot.Elections, func(e *election.Election) bool { return !e.Exists || e.Unreadable })
	watched, err := list(ctx, w.reading, func(o *history.Observation) []any { return []any{(*lines)(&o.Patterns), (*nano)(&o.To)} },
		"SELECT patterns, max(seen) FROM observations WHERE datacenter = ? GROUP BY patterns", w.datacenter)
	if err != nil {
		return err
	}
	var key string
	var known bool // an election may have changed
	if err := w.each(ctx, column(&key), func() {
		known = true
		e := x.snapshot.Find(election.KeyID(key))
		if _, watched := x.patterns.Match(key); watched && !x.snapshot.Filtered && (e == nil || !e.Unreadable && !e.Exists) {
			all = append(all, &election.Election{Pair: election.Pair{Key: key}})
		}
	}, "SELECT key FROM elections WHERE datacenter = ? AND deleted IS NULL AND key <> ''", w.datacenter); err != nil {
		return err
	}
	coverage := history.NewCoverage(watched, history.Filter{})
	for some := range slices.Chunk(all, 200) {
		for _, e := range some {
			var t election.Term
			if n := len(e.Terms); e.Pair.Held() && n > 0 && !e.Terms[n-1].Over() {
				t = e.Terms[n-1]
			}
			if err := w.exec(ctx, "INSERT INTO snapshot VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
				append([]any{nanos(coverage.Of("", e.Key()).End()), e.Key(), e.Name, e.Exists, e.Pair.OfSemaphore()}, termColumns(&t)...)...); err != nil {
				return err
			}
		}
		if _, err := w.db.ExecContext(ctx, reconcile, w.datacenter, nanos(x.snapshot.At), known); err != nil {
			return err
		}
	}
	return nil
}
