package sqlite

import (
	"context"
	"errors"
	"time"

	"electop/election"
)

// transaction runs f in a transaction. If f fails, transaction also restores the store's state in memory.
func (w *Writer) transaction(ctx context.Context, f func(context.Context) error) error {
	before, latest := w.store.observation, w.store.latest
	err := w.store.Transaction(ctx, f)
	if err != nil {
		w.store.observation, w.store.latest = before, latest
	}
	return err
}

// batch stores the oldest part of the queue. Events remain in the queue until they are on disk. more is set if the
// queue is not empty.
func (w *Writer) batch(ctx context.Context) (more bool, err error) {
	w.mu.Lock()
	events, actions, lost := w.events[:min(len(w.events), batchSize)], w.actions, w.lost
	w.mu.Unlock()
	if len(events)+len(actions) == 0 && lost == 0 {
		return false, nil
	}
	err = w.transaction(ctx, func(ctx context.Context) error {
		for i := range events {
			if err := w.one(ctx, events[i:]); err != nil {
				return err
			}
		}
		if n := len(events); n > 0 && w.store.observation != 0 {
			if err := w.beat(ctx, events[n-1].Time); err != nil {
				return err
			}
		}
		for i := range actions {
			if err := w.store.action(ctx, &actions[i]); err != nil {
				return err
			}
		}
		return w.store.noteDropped(ctx, lost)
	})
	if err != nil {
		return false, err
	}
	if w.store.Moved() { // the file at the path may lack the stored events
		return true, nil
	}
	w.mu.Lock()
	if w.events = w.events[len(events):]; len(w.events) == 0 {
		w.events = nil // release the memory of a large backlog
	}
	w.actions = w.actions[len(actions):]
	w.lost -= lost
	w.moved = time.Now()
	w.status.Stored += uint64(len(events))
	more = len(w.events)+len(w.actions) > 0
	w.mu.Unlock()
	if len(events) > 0 {
		w.o.OnStored(events)
	}
	return more, nil
}

// beat stores a heartbeat. It must run inside a transaction.
func (w *Writer) beat(ctx context.Context, at time.Time) error {
	w.beatAt = at.Add(heartbeat - batchDelay)
	return w.store.beat(ctx, at)
}

// one stores the first of several events. It also begins or ends the period of observation: a period ends when the
// connection is lost.
func (w *Writer) one(ctx context.Context, events []election.Event) error {
	e := &events[0]
	lost := e.Type == election.ConnectionLost
	if w.store.observation == 0 && !lost {
		if err := w.store.observe(ctx, w.o, e.Datacenter, e.Time); err != nil {
			return err
		}
	}
	if e.Type == "" { // see Observing
		return nil
	}
	if err := w.store.event(ctx, events); err != nil {
		return err
	}
	if lost {
		return w.store.stopObserving(ctx, e.Time, endedLost)
	}
	return nil
}

func (w *Writer) drain(ctx context.Context) error {
	for {
		if err := w.reopen(ctx); err != nil {
			return err
		}
		more, err := w.batch(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// reopen opens the file at the path if the current file was deleted, moved or replaced. The writer then stores queued
// events in the new file.
func (w *Writer) reopen(ctx context.Context) error {
	if w.store != nil {
		if !w.store.Moved() {
			return nil
		}
		w.incomplete = w.leave(ctx)
		w.store = nil
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	w.status.Reopened = time.Now()
	w.mu.Unlock()
	w.o.OnReopened(w.incomplete)
	return nil
}

// leave ends the period of observation in a file that was moved, and closes the file.
func (w *Writer) leave(ctx context.Context) error {
	err := w.transaction(ctx, func(ctx context.Context) error { return w.store.stopObserving(ctx, wallNow(), endedStopped) })
	return errors.Join(err, w.store.Abandon(ctx))
}
