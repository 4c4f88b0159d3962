package sqlite

import (
	"context"
	"fmt"
)

// LimitPages bounds the size of the file through the writer's own connection, as a
// full disk does. It must be called before Run or by the goroutine of Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	_, err := w.store.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}
