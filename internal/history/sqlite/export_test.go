package sqlite

import (
	"context"
	"fmt"
)

// LimitPages limits the size of the file through the writer's own connection, like a full disk. It must be called
// before Run or by the goroutine of Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	_, err := w.store.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}
