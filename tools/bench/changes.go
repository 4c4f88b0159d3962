package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"

	"electop/tools/bench/internal/watch"
)

const (
	// stride is the distance between two keys that are changed one after the other. It is a prime number, so that with
	// the usual sizes, the changes reach every key before they return to the first key.
	stride = 7919
	// maxInFlight is the maximum number of concurrent writes.
	maxInFlight = 64
)

// changes writes numbered changes to the elections of a fixture. The first has number 1. Its methods are not safe for
// concurrent use.
type changes struct {
	client   *api.Client
	sessions []string
	moves    int
	flaps    int
	made     int
	keys     []lockedKey
}

// lockedKey is the state of an election after the latest write.
type lockedKey struct {
	mu     sync.Mutex
	holder int // index of its session in changes.sessions
}

func newChanges(client *api.Client, sessions []string, n int, o options) *changes {
	c := &changes{client: client, sessions: sessions, moves: o.moves, flaps: o.flaps, keys: make([]lockedKey, n)}
	for i := range c.keys {
		c.keys[i].holder = i % len(sessions)
	}
	return c
}

// last returns the number of the latest change.
func (c *changes) last() int { return c.made }

// one writes the next change.
func (c *changes) one(ctx context.Context, l *timeline) error {
	c.made++
	return c.write(ctx, c.made, l)
}

// drive writes n changes at rate changes per second. A slow write does not delay the next one.
func (c *changes) drive(ctx context.Context, n int, rate float64, l *timeline) error {
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

func (c *changes) write(ctx context.Context, change int, l *timeline) error {
	i := c.keyOf(change)
	key := &c.keys[i]
	key.mu.Lock()
	defer key.mu.Unlock()
	write := c.update
	if c.moves > 0 && change%c.moves == 0 {
		write = c.move
	}
	if err := write(ctx, i, valueOfLeader(watch.ChangeName(change))); err != nil {
		return fmt.Errorf("cannot write change %d to key %s: %w", change, watch.KeyName(i), err)
	}
	l.recordWrite(change, time.Now())
	return nil
}

// keyOf returns the index of the key of a change. c.flaps consecutive changes affect the same key.
func (c *changes) keyOf(change int) int { return change / c.flaps * stride % len(c.keys) }

// update writes the key again with its holder's session.
func (c *changes) update(ctx context.Context, i int, value []byte) error {
	pair := &api.KVPair{Key: watch.KeyName(i), Value: value, Session: c.sessions[c.keys[i].holder]}
	ok, _, err := c.client.KV().Acquire(pair, (&api.WriteOptions{}).WithContext(ctx))
	if err == nil && !ok {
		err = fmt.Errorf("rejected")
	}
	return err
}

// move transfers the key to the next session in one transaction.
func (c *changes) move(ctx context.Context, i int, value []byte) error {
	from := c.keys[i].holder
	to := (from + 1) % len(c.sessions)
	err := commit(ctx, c.client, api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVUnlock, Key: watch.KeyName(i), Session: c.sessions[from], Value: value}},
		{KV: &api.KVTxnOp{Verb: api.KVLock, Key: watch.KeyName(i), Session: c.sessions[to], Value: value}},
	})
	if err == nil {
		c.keys[i].holder = to
	}
	return err
}

// pause waits for d. It returns false if ctx has ended.
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
