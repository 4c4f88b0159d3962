package consulx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// Holdings searches the whole KV store for keys that these sessions hold. progress, if not nil, receives the number of
// searched keys and the number of all keys. ErrIncomplete reports that the token cannot read all keys. The reads are
// consistent.
func (c *Client) Holdings(
	ctx context.Context, sessions []string, progress func(done, total int),
) ([]election.Pair, error) {
	wanted := make(map[string]bool, len(sessions))
	for _, id := range sessions {
		wanted[strings.ToLower(id)] = true
	}
	var held []election.Pair
	err := ScanStore(ctx, c.Consistently(), progress, func(p election.Pair) {
		if wanted[strings.ToLower(p.Session)] {
			held = append(held, p)
		}
	})
	return held, err
}

// ScanStore is like [Scan] for all keys of the store. ErrIncomplete reports that some are not readable.
func ScanStore(ctx context.Context, c *Client, progress func(done, total int), visit func(election.Pair)) error {
	keys, err := c.ListKeys(ctx, "")
	if Unanswered(err) {
		return err
	}
	partly := err != nil
	silent, err := c.OmitsSilently(ctx)
	if err != nil {
		return err
	}
	hidden, err := Scan(ctx, c, keys, progress, visit)
	if err == nil && (partly || silent || hidden) {
		err = incomplete("keys")
	}
	return err
}

// Scan reads keys and passes each readable key to visit. progress, if not nil, receives the number of keys read and the
// number of all keys. hidden is set if some keys are not readable.
func Scan(
	ctx context.Context, c *Client, keys []string, progress func(done, total int), visit func(election.Pair),
) (hidden bool, err error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, len(keys))
	done := 0
	for some := range slices.Chunk(keys, TxnReads) {
		pairs, exist, err := c.ReadExisting(some, c.Read(ctx))
		if err != nil {
			return hidden, err
		}
		for _, p := range pairs {
			visit(p)
		}
		hidden = hidden || len(pairs) < len(exist) || slices.ContainsFunc(some, func(key string) bool { return !election.Addressable(key) })
		done += len(some)
		progress(done, len(keys))
	}
	return hidden, nil
}

const (
	// searchLimit is the timeout of a search of the whole store.
	searchLimit = 2 * time.Minute
	// searchAge is the time after its end in which several destroys use the same search.
	searchAge = 10 * time.Second
)

// foundKeys is the result of a search of the whole store for the keys that sessions hold.
type foundKeys struct {
	began, ended time.Time
	held         map[string][]string // keys by session
	complete     bool
}

// HeldBy returns all keys that a session holds, as read consistently after the given time. complete is false if the
// token cannot read all keys. One search serves all calls that it is new enough for, because a search of a large store
// is expensive for Consul.
func (op *Operator) HeldBy(ctx context.Context, session string, after time.Time) (keys []string, complete bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	if err := op.turn.Acquire(ctx, 1); err != nil {
		return nil, false, op.client.Wrap(err)
	}
	defer op.turn.Release(1)
	session = strings.ToLower(session)
	if s := op.latest; s != nil && s.began.After(after) && time.Since(s.ended) <= searchAge {
		return s.held[session], s.complete, nil
	}
	found := &foundKeys{began: time.Now(), held: map[string][]string{}}
	err = ScanStore(ctx, op.store, nil, func(p election.Pair) {
		if p.Held() {
			id := strings.ToLower(p.Session) // a key keeps the spelling with which it was acquired
			found.held[id] = append(found.held[id], p.Key)
		}
	})
	found.ended, found.complete = time.Now(), err == nil
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return nil, false, err
	}
	op.latest = found
	return found.held[session], found.complete, nil
}
