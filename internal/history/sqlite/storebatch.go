package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"time"

	"electop/election"
	"electop/internal/history"
)

// store stores the events and marks of a batch, in order, and a heartbeat. It omits marks until a time at which another
// process observed, and the events that this process stored. It returns the number of stored events.
func (w *Writer) store(ctx context.Context, b batch, after, now time.Time) (stored uint64, err error) {
	// If the process was stopped, the machine was suspended or the clock was set since the last step, the period ends.
	if idle := now.Sub(w.pulse); w.begun && !w.pulse.IsZero() && (idle <= -clockTolerance || idle >= stoppedAfter) {
		seen, ending := w.pulse, "suspended"
		if idle < 0 {
			seen, ending = time.Time{}, "clock_set"
		}
		w.begun = false
		if err := w.stopObserving(ctx, seen, ending); err != nil {
			return 0, err
		}
	}
	var last time.Time
	for i := range b.items {
		x := &b.items[i]
		switch {
		case x.event.Key == "" && !x.at().After(after):
		case x.isMark():
			err = w.checkpoint(ctx, x)
		default:
			next := b.items[min(i+1, len(b.items)-1)].event
			stored, last, err = stored+1, x.event.Time, w.event(ctx, x.event, next.Type == election.Elected && next.Key == x.event.Key && next.Term == x.event.Term)
		}
		if err != nil {
			return 0, err
		}
	}
	if stored > 0 && (!b.whole || last.After(now)) {
		now = last // the rest of the queue may begin with a lost connection
	}
	err = w.exec(ctx, "UPDATE observations SET seen = iif(id = ?1, max(seen, ?2), seen), dropped = dropped + iif(id = ?3, ?4, 0), newest = iif(id = ?3, ?5, newest) WHERE id IN (?1, ?3)",
		w.observation, nanos(now), w.latest, b.lost, w.newest)
	return stored, err
}

// event stores an event. elects is set if the next event begins this term. It also begins or ends the period of
// observation: a period ends when the connection is lost.
func (w *Writer) event(ctx context.Context, e election.Event, elects bool) error {
	into := "reported"
	if !w.begun && e.Key != "" && e.Type != election.Explained {
		if w.known == nil {
			var err error
			if w.known, err = w.board(ctx, w.datacenter, math.MaxInt64); err != nil {
				return err
			}
		}
		if !w.known.Adds(&e, elects) { // another process stored the change
			return nil
		}
		into = "compared"
	}
	lost := e.Type == election.ConnectionLost
	if w.begun && w.observation == 0 && !lost {
		if err := w.observe(ctx, e.Time); err != nil {
			return err
		}
	}
	w.events, w.newest = w.events+1, max(w.newest, e.ModifyIndex)
	e.Datacenter = w.datacenter
	err := w.exec(ctx, "INSERT INTO "+into+" VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", eventColumns(&e)...)
	if err == nil && lost {
		err = w.stopObserving(ctx, e.Time, "connection_lost")
	}
	return err
}

// observe begins a period of observation.
func (w *Writer) observe(ctx context.Context, at time.Time) error {
	err := w.each(ctx, column(&w.observation), func() {}, "INSERT INTO observations (observer, datacenter, patterns, started, seen) VALUES (?1, ?2, ?3, ?4, ?4) RETURNING id",
		w.o.Observer, w.datacenter, w.patterns, nanos(at))
	w.latest = w.observation
	return err
}

// stopObserving ends the current period at a time, or at its latest heartbeat if the time is zero. It does nothing if
// there is no current period.
func (w *Writer) stopObserving(ctx context.Context, at time.Time, ending string) error {
	err := w.exec(ctx, "UPDATE observations SET seen = max(started, ifnull(nullif(?1, 0), seen)), ended = max(started, ifnull(nullif(?1, 0), seen)), ending = ?2 WHERE id = ?3",
		nanos(at), ending, w.observation)
	w.observation = 0
	return err
}

// nanos returns a time as Unix nanoseconds. It returns 0 for the zero time. It limits times outside the years 1678 to 2262,
// which this format cannot represent.
func nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// moment converts a result of nanos to a time in UTC.
func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// since and until return the limits of a range as Unix nanoseconds.
func since(r history.Range) int64 {
	return cmp.Or(nanos(r.Since), math.MinInt64)
}

func until(r history.Range) int64 {
	return cmp.Or(nanos(r.Until), math.MaxInt64)
}

// nano is a time in the form of nanos.
type nano time.Time

// Value returns the stored form.
func (n *nano) Value() (driver.Value, error) { return nanos(time.Time(*n)), nil }

// Scan reads the stored form.
func (n *nano) Scan(v any) error {
	stored, ok := v.(int64)
	if !ok {
		return fmt.Errorf("not a time: %v", v)
	}
	*n = nano(moment(stored))
	return nil
}

// eventColumns returns the variables of an event in the order of the view reported.
func eventColumns(e *election.Event) []any {
	return []any{
		&e.Datacenter, &e.Key, &e.Election, (*nano)(&e.Time), &e.Type, &e.CreateIndex, &e.ModifyIndex, &e.Term, &e.Leader, &e.Session, &e.Node, &e.Evidence, &e.By,
		&e.Gap, (*nano)(&e.SeenUntil), &e.Restored, &e.VacancyKnown, &e.Vacancy, &e.HeldKnown, &e.Held, &e.Cause, &e.Guess, (*nano)(&e.LockDelayUntil),
		(*nano)(&e.AliveUntil), &e.Count, &e.Holders, &e.Limit, &e.Error,
	}
}

// termColumns returns the variables of the beginning of a term.
func termColumns(t *election.Term) []any {
	return []any{&t.CreateIndex, &t.Number, &t.Session, &t.Leader, &t.Node, (*nano)(&t.Start), &t.StartKnown, (*nano)(&t.NotBefore)}
}

// actionColumns returns the variables of an action.
func actionColumns(a *history.Action) []any {
	return []any{(*nano)(&a.Time), &a.By, &a.Kind, &a.Datacenter, &a.Key, &a.Session, &a.CreateIndex, &a.Term, &a.Leader, &a.Node, &a.Result, &a.Detail}
}
