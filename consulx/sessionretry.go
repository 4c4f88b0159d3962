package consulx

import (
	"context"
)

// retry reads the sessions of holders again that could not be read, with pauses
// that grow, until ctx ends. A token that may not read them may be allowed to
// later, without a change to any key.
func (b *sessionBook) retry(ctx context.Context) {
	var pauses backoff
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.missed:
		}
		for {
			sleep(ctx, pauses.next())
			ids := b.unknown()
			if len(ids) == 0 || ctx.Err() != nil {
				break
			}
			b.readAgain(ctx, ids)
		}
		pauses.reset()
	}
}

// unknown lists the sessions that hold keys and were not read, each once.
func (b *sessionBook) unknown() []string {
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

// readAgain reads sessions once and reports those that were found.
func (b *sessionBook) readAgain(ctx context.Context, ids []string) {
	ctx, cancel := context.WithTimeout(ctx, sessionLimit)
	defer cancel()
	found, _, _ := b.client.readSessions(ctx, ids) // tried again
	b.mu.Lock()
	for _, s := range found {
		b.known[s.ID] = s
	}
	b.mu.Unlock()
	if len(found) > 0 {
		b.late(found)
	}
}
