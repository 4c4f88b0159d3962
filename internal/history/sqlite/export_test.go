package sqlite

import (
	"context"
	"fmt"
)

// LimitPages limits the size of the file, which simulates a full disk. Call it before Run, or on the goroutine of
// Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	_, err := w.store.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}
