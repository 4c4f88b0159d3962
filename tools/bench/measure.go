package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"electop/tools/bench/internal/watch"
)

const (
	readyLimit = 2 * time.Minute
	// settleTime is the pause after the start of a watcher.
	settleTime = time.Second
	// idleLimit is the timeout for a single change. idleGap is the pause after the change.
	idleLimit = 5 * time.Second
	idleGap   = 20 * time.Millisecond
	// tailLimit is the timeout for the last changes of a run.
	tailLimit = 10 * time.Second
)

// result contains the measurements of one watcher.
type result struct {
	watcher string
	skipped string // why the watcher was not measured, or ""
	ready   time.Duration
	idle    spread
	busy    spread
	perCPU  cpu // CPU time per change
	rss     int64
	peak    int64
	conns   int
}

// baseline measures the CPU time of the changes without a watcher.
func (s *fixture) baseline(ctx context.Context) (result, error) {
	r := result{watcher: "none"}
	l := newTimeline()
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

// perChange returns the CPU time per change between two readings.
func perChange(before, after cpu, n int) cpu {
	d := time.Duration(max(n, 1))
	return cpu{client: (after.client - before.client) / d, server: (after.server - before.server) / d}
}

// measure runs all measurements of one watcher.
func (s *fixture) measure(ctx context.Context, w watcher) (r result, err error) {
	r.watcher = w.name
	if w.skip != nil {
		if r.skipped = w.skip(s.n); r.skipped != "" {
			return r, nil
		}
	}
	l := newTimeline()
	c, err := startChild(ctx, w.command(s), w.read, l)
	if err != nil {
		return r, err
	}
	defer func() {
		c.end()
		if err != nil {
			err = errors.Join(fmt.Errorf("%s with %d elections: %w", w.name, s.n, err), c.stderr())
		}
	}()
	at, ok := l.awaitReady(ctx, s.n, readyLimit)
	if !ok {
		return r, errors.New("the watcher did not report all elections before the timeout")
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

// single writes changes one by one. After each change, it waits until the watcher has reported the change, but not
// longer than idleLimit.
func (s *fixture) single(ctx context.Context, l *timeline) (spread, error) {
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

// steady writes changes at the configured rate and measures latency and CPU time.
func (s *fixture) steady(ctx context.Context, c *child, l *timeline, r *result) error {
	if s.o.profile != "" && r.watcher == "electop" {
		if err := c.writeLine(watch.ProfileStart); err != nil {
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
		return errors.Join(c.writeLine(watch.ProfileStop), waitFor(ctx, settleTime))
	}
	return nil
}

// awaitTail waits for the last change, which every watcher reports even if it coalesces changes. It then waits
// briefly for earlier ones.
func (s *fixture) awaitTail(ctx context.Context, l *timeline, first int) {
	last := s.changes.last()
	l.awaitSeen(ctx, last, last, tailLimit)
	l.awaitSeen(ctx, first, last, settleTime)
}

func waitFor(ctx context.Context, d time.Duration) error {
	pause(ctx, d)
	return ctx.Err()
}
