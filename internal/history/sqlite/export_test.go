package sqlite

import (
	"context"
	"fmt"
	"time"
)

// LimitPages limits the size of the file, to simulate a full disk. Call it before Run or on the goroutine of Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	_, err := w.conn.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}

// Trim runs one step of retention at a time. Call it before Run.
func (w *Writer) Trim(ctx context.Context, now time.Time) error {
	w.trimAt = time.Time{}
	for more := true; more; {
		var err error
		if more, err = w.trim(ctx, now); err != nil {
			return err
		}
	}
	return nil
}
