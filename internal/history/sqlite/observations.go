package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// The reasons why a period of observation ended. If the process was killed or its machine failed, no reason is stored,
// and the period ends with the latest heartbeat.
const (
	endedStopped   = "stopped"
	endedLost      = "connection_lost"
	endedSuspended = "suspended"
	endedPatterns  = "patterns_changed"
)

// observe begins a period of observation.
func (s *store) observe(ctx context.Context, o WriterOptions, datacenter string, at time.Time) error {
	r, err := s.Exec(ctx, "INSERT INTO observations (observer, datacenter, patterns, started, seen) VALUES (?,?,?,?,?)",
		o.Observer, datacenter, strings.Join(o.Patterns.Strings(), "\n"), history.Nanos(at), history.Nanos(at))
	if err != nil {
		return err
	}
	s.observation, err = r.LastInsertId()
	s.latest = s.observation
	return err
}

// beat stores a heartbeat of the current period.
func (s *store) beat(ctx context.Context, at time.Time) error {
	_, err := s.Exec(ctx, "UPDATE observations SET seen = max(seen, ?) WHERE id = ?", history.Nanos(at), s.observation)
	return err
}

// stopObserving ends the current period. It does nothing if there is no current period.
func (s *store) stopObserving(ctx context.Context, at time.Time, ending string) error {
	if s.observation == 0 {
		return nil
	}
	_, err := s.Exec(ctx, "UPDATE observations SET seen = max(started, ?), ended = max(started, ?), ending = ? WHERE id = ?",
		history.Nanos(at), history.Nanos(at), ending, s.observation)
	s.observation = 0
	return err
}

// noteDropped adds n to the number of dropped events of the current period. If there is no current period because the
// connection was lost, it uses the previous one.
func (s *store) noteDropped(ctx context.Context, n uint64) error {
	if n == 0 || s.latest == 0 {
		return nil
	}
	_, err := s.Exec(ctx, "UPDATE observations SET dropped = dropped + ? WHERE id = ?", index(n), s.latest)
	return err
}

// lastObserved returns when an observer last watched the key before at, or 0 if no observer watched it. It ignores
// the current period.
func (s *store) lastObserved(ctx context.Context, datacenter, key string, at int64) (int64, error) {
	stmt, err := s.Statement(ctx, `SELECT patterns, max(min(seen, ?)) FROM observations
		WHERE datacenter = ? AND started <= ? AND id <> ? GROUP BY patterns`)
	if err != nil {
		return 0, err
	}
	rows, err := stmt.QueryContext(ctx, at, datacenter, at, s.observation)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var latest int64
	for rows.Next() {
		var patterns string
		var seen int64
		if err := rows.Scan(&patterns, &seen); err != nil {
			return 0, err
		}
		if history.Covers(patterns, key) {
			latest = max(latest, seen)
		}
	}
	return latest, rows.Err()
}

// Observations returns the periods that overlap a time range, oldest first.
func (f *File) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	return list(ctx, f, scanObservation, `SELECT observer, datacenter, patterns, started, seen, ended, ifnull(ending, ''), dropped
		FROM observations WHERE seen >= ? AND started <= ? ORDER BY started, id`, since(r), until(r))
}

func scanObservation(rows *sql.Rows) (o history.Observation, err error) {
	var patterns string
	var from, to, dropped int64
	var ended sql.NullInt64
	err = rows.Scan(&o.Observer, &o.Datacenter, &patterns, &from, &to, &ended, &o.Ending, &dropped)
	o.Patterns, o.From, o.To, o.Dropped = strings.Split(patterns, "\n"), history.Moment(from), history.Moment(to), unsigned(dropped)
	o.Lasting = !ended.Valid && time.Since(o.To) < history.AliveWithin
	return o, err
}

// watchOthers begins a new period if a call to Observe has replaced the patterns.
func (w *Writer) watchOthers(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	ps := w.patterns
	w.mu.Unlock()
	if ps == nil {
		return nil
	}
	before := w.o.Patterns
	w.o.Patterns = ps
	if w.store.observation != 0 {
		if err := w.resume(ctx, now, now, endedPatterns); err != nil {
			w.o.Patterns = before
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.patterns) == len(ps) && &w.patterns[0] == &ps[0] { // no later call to Observe has replaced the patterns
		w.patterns = nil
	}
	return nil
}

// resume ends the current period at since and begins another period at now.
func (w *Writer) resume(ctx context.Context, since, now time.Time, ending string) error {
	var datacenter string
	_, err := w.store.Row(ctx, "SELECT datacenter FROM observations WHERE id = ?", []any{w.store.observation}, &datacenter)
	if err != nil {
		return dbfile.Wrap(w.path, err)
	}
	return w.transaction(ctx, func(ctx context.Context) error {
		if err := w.store.stopObserving(ctx, since, ending); err != nil {
			return err
		}
		return w.store.observe(ctx, w.o, datacenter, now)
	})
}
