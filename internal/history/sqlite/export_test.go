package sqlite

import (
	"context"
	"fmt"
)

// LimitPages limits the size of the file, to simulate a full disk. Call it before Run or on the goroutine of Run.
func (w *Writer) LimitPages(ctx context.Context, pages int) error {
	return w.store.Pragma(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
}
