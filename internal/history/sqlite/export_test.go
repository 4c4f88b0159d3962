package sqlite

import (
	"context"
	"fmt"
	"time"
)

// LimitPages limits the size of the file, to simulate a full disk. Call it before Run or on the goroutine of Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	_, err := w.db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}

// Trim runs retention as at a time. Call it before Run. keep is the retention period, or 0 for that of the file.
func (w *Writer) Trim(ctx context.Context, now time.Time, keep time.Duration) error {
	if keep > 0 {
		if err := w.exec(ctx, "INSERT OR REPLACE INTO settings VALUES ('keep', ?)", keep); err != nil {
			return err
		}
		defer w.exec(ctx, "DELETE FROM settings WHERE name = 'keep'")
	}
	w.trimAt = time.Time{}
	for more := true; more; {
		if err := w.transaction(ctx, func(ctx context.Context) (err error) {
			more, err = w.trim(ctx, now)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
