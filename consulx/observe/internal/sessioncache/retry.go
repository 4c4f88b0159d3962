package sessioncache

import (
	"context"

	"electop/consulx/internal/blocking"
)

// Retry rereads the missing sessions of leaders with increasing pauses until ctx ends, because a session may become
// readable without a change of its key.
func (b *Cache) Retry(ctx context.Context) {
	var pauses blocking.Backoff
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.missed:
		}
		for {
			blocking.Sleep(ctx, pauses.Next())
			ids := b.unknown()
			if len(ids) == 0 || ctx.Err() != nil {
				break
			}
			b.readAgain(ctx, ids)
		}
		pauses.Reset()
	}
}

// unknown returns the sessions of leaders that have not been read.
func (b *Cache) unknown() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := map[string]bool{}
	var ids []string
	for _, held := range b.held {
		for _, id := range held {
			if b.find(id) == nil && b.fetches[id] == nil && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// readAgain rereads sessions once and passes those that exist to late.
func (b *Cache) readAgain(ctx context.Context, ids []string) {
	ctx, cancel := context.WithTimeout(ctx, sessionLimit)
	defer cancel()
	found, _, _ := b.client.SessionsByID(ctx, ids) // Retry retries after an error
	b.mu.Lock()
	for _, s := range found {
		b.known[s.ID] = s
	}
	b.mu.Unlock()
	if len(found) > 0 {
		b.late(found)
	}
}
