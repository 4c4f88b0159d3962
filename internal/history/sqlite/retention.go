package sqlite

import (
	"context"
	"time"
)

const (
	// trimEvery is the interval of retention. trimStep is the maximum number of rows that one transaction deletes from
	// each table.
	trimEvery = 10 * time.Minute
	trimStep  = 2000
	// DefaultKeep is the retention period of a file for which no period was set.
	DefaultKeep = 90 * 24 * time.Hour
	// jumpLimit is the jump of the clock after which retention waits for the same time.
	jumpLimit = 24 * time.Hour
)

// oldest selects the checkpoint before which data must be deleted. After a jump of the clock by more than a day, or a day
// without observation, the time is that before the jump until the writer has observed for the same time. Of each datacenter
// that is still observed, the newest checkpoint before the limit remains; the IDs, not the times, show their order.
const oldest = `WITH
	jump (before, after) AS (SELECT b, s FROM (
		SELECT id, started AS s, max(seen) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b FROM observations)
		WHERE s - b > ?2 ORDER BY id DESC LIMIT 1),
	clock (now) AS (SELECT ifnull((SELECT before + ?1 - after FROM jump WHERE ?1 - after < ?2), ?1)),
	period (keep) AS (SELECT ifnull((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'keep'), ?3)),
	age (at) AS (SELECT iif(keep > 0, now - keep, 0) FROM clock, period),
	size (bytes) AS (SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size),
	bound (at) AS (SELECT iif(?4 > 0 AND bytes > ?4, max(at, ifnull((SELECT min(at) FROM checkpoints WHERE at > (SELECT min(at) FROM checkpoints)), 0)), at)
		FROM age, size)
	SELECT ifnull(min(id), 0), ifnull(min(at), 0), ifnull(min(event), 0), total_changes() FROM checkpoints WHERE id IN (SELECT max(id) FROM checkpoints
		WHERE at <= (SELECT at FROM bound) AND datacenter IN (SELECT datacenter FROM observations WHERE seen > (SELECT at FROM bound)) GROUP BY datacenter)`

// trim runs a step of retention if it is due. It deletes whole periods: everything before the newest checkpoint that is
// older than the limit. The checkpoint contains what still applies.
func (w *Writer) trim(ctx context.Context, now time.Time) (more bool, err error) {
	if now.Before(w.trimAt) {
		return false, nil
	}
	var id, at, event, changes int64
	if err := w.each(ctx, []any{&id, &at, &event, &changes}, func() {}, oldest, nanos(now), jumpLimit, DefaultKeep, w.o.MaxBytes); err != nil {
		return false, err
	}
	if _, err := w.db.ExecContext(ctx, deleteOld, at, id, event, trimStep); err != nil {
		return false, err
	}
	total, err := w.number(ctx, "SELECT total_changes()")
	if more = total-changes >= trimStep; !more {
		w.trimAt = now.Add(trimEvery)
	}
	return more, err
}
