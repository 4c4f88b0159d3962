package sqlite

import (
	"cmp"
	"context"
	"time"
)

// lease gets or renews the lease of the datacenter. If another process keeps it, lease returns that process's observer.
// until is the time until which another process has stored the events.
func (w *Writer) lease(ctx context.Context, now time.Time) (other string, until time.Time, err error) {
	if w.leased {
		changed, err := w.number(ctx, "UPDATE leases SET renewed = ? WHERE datacenter = ? AND writer = ? RETURNING 1", nanos(now), w.datacenter, w.id)
		if err != nil || changed > 0 {
			return "", until, err
		}
	}
	st := w.Status()
	waited := w.leased || st.Other != "" // the other process may have ended
	w.writing = writing{}
	if err = w.each(ctx, []any{&other, (*nano)(&until)}, func() {},
		// A recorder must first have observed for as long as the lease: what a dashboard has not stored yet is lost. After a kill,
		// a process that has observed since before it takes over before the others, whose observation has a gap.
		"SELECT ifnull(nullif(observer, ''), 'another process'), renewed FROM leases WHERE datacenter = ?3 AND renewed BETWEEN ?4 AND ?5 AND recorder >= ?1 AND renewed >= iif(renewed < ?6, ?2 - ?7, ?2)",
		w.o.Recorder && st.Other != "" && now.Sub(st.OtherSince) >= w.o.Lease, nanos(now.Add(-w.o.Lease)), w.datacenter, nanos(now.Add(-2*w.o.Lease)), nanos(now.Add(w.o.Lease)), nanos(cmp.Or(st.OtherSince, now)), w.o.Lease*2/5); err != nil {
		return "", until, err
	}
	if other != "" {
		return other, until, nil
	}
	// A process that ended before its first mark has stored events, but no observation.
	stored, err := w.number(ctx, `SELECT min(?1, max((SELECT ifnull(max(seen), 0) FROM observations WHERE datacenter = ?2 AND ?3),
		(SELECT ifnull(max(renewed), 0) FROM leases WHERE datacenter = ?2), (SELECT ifnull(max(time), 0) FROM events)))`, nanos(now), w.datacenter, waited)
	if err != nil {
		return "", until, err
	}
	err = w.exec(ctx, "INSERT OR REPLACE INTO leases (datacenter, writer, observer, recorder, renewed) VALUES (?, ?, ?, ?, ?)", w.datacenter, w.id, w.o.Observer, w.o.Recorder, nanos(now))
	w.leased = err == nil
	return "", moment(stored), err
}
