package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"
)

const (
	// stride spreads changes that follow one another over the keys. It is a
	// prime, so that with the usual sizes no key comes again before all others.
	stride = 7919
	// maxInFlight bounds the writes that are under way at once.
	maxInFlight = 64
)

// changes makes changes to the elections of a stage, numbered from 1. One
// goroutine at a time calls one and drive.
type changes struct {
	client   *api.Client
	sessions []string
	moves    int
	flaps    int
	made     int
	keys     []lockedKey
}

// lockedKey is an election as the last write left it.
type lockedKey struct {
	mu     sync.Mutex
	holder int // of sessions
}

func newChanges(client *api.Client, sessions []string, n int, o options) *changes {
	c := &changes{client: client, sessions: sessions, moves: o.moves, flaps: o.flaps, keys: make([]lockedKey, n)}
	for i := range c.keys {
		c.keys[i].holder = i % len(sessions)
	}
	return c
}

// last is the number of the latest change.
func (c *changes) last() int { return c.made }

// one makes the next change.
func (c *changes) one(ctx context.Context, l *ledger) error {
	c.made++
	return c.write(ctx, c.made, l)
}

// drive makes n changes at a rate, each at its moment whatever became of those
// before.
func (c *changes) drive(ctx context.Context, n int, rate float64, l *ledger) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxInFlight)
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if !pause(gctx, time.Until(due)) {
			break
		}
		c.made++
		change := c.made
		g.Go(func() error { return c.write(gctx, change, l) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (c *changes) write(ctx context.Context, change int, l *ledger) error {
	i := c.keyOf(change)
	key := &c.keys[i]
	key.mu.Lock()
	defer key.mu.Unlock()
	write := c.update
	if c.moves > 0 && change%c.moves == 0 {
		write = c.move
	}
	if err := write(ctx, i, valueOfLeader(changeName(change))); err != nil {
		return fmt.Errorf("change %d, key %s: %w", change, keyName(i), err)
	}
	l.wrote(change, time.Now())
	return nil
}

// keyOf is the key of a change: the same for some changes in a row, then
// another far away.
func (c *changes) keyOf(change int) int { return change / c.flaps * stride % len(c.keys) }

// update lets the holder write its key again.
func (c *changes) update(ctx context.Context, i int, value []byte) error {
	pair := &api.KVPair{Key: keyName(i), Value: value, Session: c.sessions[c.keys[i].holder]}
	ok, _, err := c.client.KV().Acquire(pair, (&api.WriteOptions{}).WithContext(ctx))
	if err == nil && !ok {
		err = fmt.Errorf("refused")
	}
	return err
}

// move hands the key to the next session.
func (c *changes) move(ctx context.Context, i int, value []byte) error {
	from := c.keys[i].holder
	to := (from + 1) % len(c.sessions)
	err := commit(ctx, c.client, api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVUnlock, Key: keyName(i), Session: c.sessions[from], Value: value}},
		{KV: &api.KVTxnOp{Verb: api.KVLock, Key: keyName(i), Session: c.sessions[to], Value: value}},
	})
	if err == nil {
		c.keys[i].holder = to
	}
	return err
}

// pause waits; it reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
