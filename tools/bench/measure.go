package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	readyLimit = 2 * time.Minute
	// settleTime lets a watcher come to rest after its start.
	settleTime = time.Second
	// idleLimit is how long a single change is waited for, idleGap the rest
	// between one that was seen and the next.
	idleLimit = 5 * time.Second
	idleGap   = 20 * time.Millisecond
	// tailLimit is how long the last changes of a run are waited for.
	tailLimit = 10 * time.Second
)

// result is how one watcher did.
type result struct {
	watcher string
	skipped string // why it was not measured
	ready   time.Duration
	idle    spread
	busy    spread
	perCPU  cpu // for one change
	rss     int64
	peak    int64
	conns   int
}

// baseline makes the changes while nobody watches.
func (s *stage) baseline(ctx context.Context) (result, error) {
	r := result{watcher: "nobody"}
	l := newLedger()
	before, err := s.clock(0)
	if err != nil {
		return r, err
	}
	first := s.changes.last() + 1
	if err := s.changes.drive(ctx, s.o.changes(), s.o.rate, l); err != nil {
		return r, err
	}
	after, err := s.clock(0)
	r.busy.made = s.changes.last() - first + 1
	r.perCPU = perChange(before, after, r.busy.made)
	return r, err
}

// perChange divides what was used between two readings.
func perChange(before, after cpu, n int) cpu {
	d := time.Duration(max(n, 1))
	return cpu{client: (after.client - before.client) / d, server: (after.server - before.server) / d}
}

// measure runs one watcher through all its trials.
func (s *stage) measure(ctx context.Context, w watcher) (r result, err error) {
	r.watcher = w.name
	if w.skip != nil {
		if r.skipped = w.skip(s.n); r.skipped != "" {
			return r, nil
		}
	}
	l := newLedger()
	c, err := startChild(ctx, w.command(s), w.read, l)
	if err != nil {
		return r, err
	}
	defer func() {
		c.end()
		if err != nil {
			err = errors.Join(fmt.Errorf("%s with %d elections: %w", w.name, s.n, err), c.trouble())
		}
	}()
	at, ok := l.awaitReady(ctx, s.n, readyLimit)
	if !ok {
		return r, errors.New("it did not tell of all elections")
	}
	r.ready = at.Sub(c.started)
	if !pause(ctx, settleTime) {
		return r, ctx.Err()
	}
	if r.idle, err = s.single(ctx, l); err != nil {
		return r, err
	}
	return r, s.steady(ctx, c, l, &r)
}

// single makes changes one by one: each is waited for.
func (s *stage) single(ctx context.Context, l *ledger) (spread, error) {
	first := s.changes.last() + 1
	for range s.o.idleChanges {
		if err := s.changes.one(ctx, l); err != nil {
			return spread{}, err
		}
		l.awaitSeen(ctx, s.changes.last(), s.changes.last(), idleLimit)
		if !pause(ctx, idleGap) {
			return spread{}, ctx.Err()
		}
	}
	return l.spread(first, s.changes.last()), nil
}

// steady makes changes at the rate and reads what that cost.
func (s *stage) steady(ctx context.Context, c *child, l *ledger, r *result) error {
	if s.o.profile != "" && r.watcher == "electop" {
		if err := c.say(profileStart); err != nil {
			return err
		}
	}
	before, err := s.clock(c.pid())
	if err != nil {
		return err
	}
	first := s.changes.last() + 1
	if err := s.changes.drive(ctx, s.o.changes(), s.o.rate, l); err != nil {
		return err
	}
	s.awaitTail(ctx, l, first)
	after, err := s.clock(c.pid())
	if err != nil {
		return err
	}
	r.busy = l.spread(first, s.changes.last())
	r.perCPU = perChange(before, after, r.busy.made)
	if r.rss, r.peak, err = memory(c.pid()); err != nil {
		return err
	}
	if r.conns, err = connections(c.pid(), s.port()); err != nil {
		return err
	}
	if s.o.profile != "" && r.watcher == "electop" {
		return errors.Join(c.say(profileStop), waitFor(ctx, settleTime))
	}
	return nil
}

// awaitTail waits for the last change, which a watcher that merges changes sees
// as well, and then a moment for those before.
func (s *stage) awaitTail(ctx context.Context, l *ledger, first int) {
	last := s.changes.last()
	l.awaitSeen(ctx, last, last, tailLimit)
	l.awaitSeen(ctx, first, last, settleTime)
}

func waitFor(ctx context.Context, d time.Duration) error {
	pause(ctx, d)
	return ctx.Err()
}
