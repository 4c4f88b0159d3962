package sqlite

import (
	"context"
	"time"

	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

// trimStep is the maximum number of rows that one transaction of retention deletes from each table. The transaction
// delays new events by about 100 ms.
const trimStep = 2000

// trim deletes one step of the data that is older than keep or exceeds maxBytes; 0 means no limit. It always keeps
// current terms, and for each election the latest term and the latest event about its state. more is set if more data
// must be deleted.
func (s *store) trim(ctx context.Context, now time.Time, keep time.Duration, maxBytes int64) (more bool, err error) {
	err = s.Transaction(ctx, func(ctx context.Context) error {
		before, err := s.trimBefore(ctx, now, keep, maxBytes)
		if err != nil || before == 0 {
			return err
		}
		for _, query := range []string{
			`DELETE FROM events WHERE id IN (SELECT v.id FROM events v WHERE v.time < ?1 AND (
				v.type NOT IN ` + dbfile.StateTypes + `
				OR EXISTS (SELECT 1 FROM events w WHERE w.election = v.election AND w.time > v.time
					AND w.type IN ` + dbfile.StateTypes + `))
				ORDER BY v.time LIMIT ?2)`,
			`DELETE FROM terms WHERE id IN (SELECT t.id FROM terms t WHERE t.started < ?1 AND t.ended < ?1
				AND EXISTS (SELECT 1 FROM terms u WHERE u.election = t.election AND u.started > t.started)
				ORDER BY t.started LIMIT ?2)`,
			`DELETE FROM observations WHERE id IN (SELECT id FROM observations WHERE seen < ?1 ORDER BY seen LIMIT ?2)`,
			`DELETE FROM actions WHERE id IN (SELECT id FROM actions WHERE time < ?1 ORDER BY time LIMIT ?2)`,
		} {
			r, err := s.Exec(ctx, query, before, trimStep)
			if err != nil {
				return err
			}
			n, err := r.RowsAffected()
			if err != nil {
				return err
			}
			more = more || n == trimStep
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return more, s.Pragma(ctx, "PRAGMA incremental_vacuum(1000)")
}

// trimBefore returns the time before which data must be deleted, or 0 if there is nothing to delete.
func (s *store) trimBefore(ctx context.Context, now time.Time, keep time.Duration, maxBytes int64) (int64, error) {
	var before int64
	if keep > 0 {
		before = history.Nanos(now.Add(-keep))
	}
	if maxBytes <= 0 {
		return before, nil
	}
	var used int64
	if _, err := s.Row(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`, nil, &used); err != nil || used <= maxBytes {
		return before, err
	}
	// newest is the time of the newest event that one step deletes.
	var newest int64
	_, err := s.Row(ctx, "SELECT ifnull(max(time), 0) + 1 FROM (SELECT time FROM events ORDER BY time LIMIT ?)", []any{trimStep}, &newest)
	return max(before, newest), err
}
