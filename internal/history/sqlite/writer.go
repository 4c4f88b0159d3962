package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
)

const (
	// defaultQueue is the maximum number of queued events: 20 minutes of 50 changes a second, or 30 MB.
	defaultQueue = 1 << 16
	// batchDelay is how long events are collected for one transaction, because each transaction waits for the disk.
	batchDelay = 250 * time.Millisecond
	// batchSize limits the events of a transaction.
	batchSize = 2000
	// heartbeat is the interval of heartbeats. If the process is killed, at most this time is missing from the
	// observation. history.AliveWithin is several heartbeats plus the time to write a batch.
	heartbeat = 2 * time.Second
	// retryEvery is the pause after the disk failed.
	retryEvery = 5 * time.Second
	// trimEvery is the interval of retention.
	trimEvery = 10 * time.Minute
	// finishWithin bounds the last write of a command that ends.
	finishWithin = 5 * time.Second
)

// WriterOptions configure a [Writer].
type WriterOptions struct {
	// Observer is the name of this process for users: user@host.
	Observer string
	// Patterns are the observed patterns.
	Patterns election.Patterns
	// Keep is the maximum age of events, and MaxBytes the maximum size of the file. Older events are deleted. 0 means
	// no limit.
	Keep     time.Duration
	MaxBytes int64
	// Queue is the maximum number of queued events; 0 means 65,536.
	Queue int
	// OnStored receives events that are on disk. It runs on the goroutine of Run.
	OnStored func([]election.Event)
	// OnError receives a one-line error when storing fails and will be retried, and nil when it works again. It runs
	// on the goroutine of Run.
	OnError func(error)
}

// Status is the state of a writer.
type Status struct {
	// Stored counts the events that are in the file, Dropped those that are not stored.
	Stored, Dropped uint64
	Queued          int
	// Waiting is the time since the queue last was empty or became shorter.
	Waiting time.Duration
	// Err is why events cannot be stored at present. It is nil if they can.
	Err error
}

// Writer stores events in a file. Record and RecordAction may be called from any goroutine and never block.
type Writer struct {
	path   string
	o      WriterOptions
	store  *store
	wake   chan struct{}
	pulse  time.Time // time at which Run was last scheduled
	beatAt time.Time // time of the next heartbeat
	trimAt time.Time

	mu      sync.Mutex
	events  []election.Event
	actions []history.Action
	status  Status
	// lost counts dropped events that are not yet recorded in the file.
	lost   uint64
	closed bool
	// moved is when the queue last was empty or became shorter.
	moved time.Time
	// patterns are the latest ones of Observe, nil once a period uses them.
	patterns election.Patterns
}

// NewWriter returns a writer. Its Run opens the file with the first event or action, so that a slow disk does not
// delay the caller.
func NewWriter(path string, o WriterOptions) *Writer {
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	if o.OnStored == nil {
		o.OnStored = func([]election.Event) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return &Writer{path: path, o: o, wake: make(chan struct{}, 1)}
}

// OpenWriter opens or creates the file. The caller must then call Run, which closes the file.
func OpenWriter(ctx context.Context, path string, o WriterOptions) (*Writer, error) {
	w := NewWriter(path, o)
	return w, w.open(ctx)
}

func (w *Writer) open(ctx context.Context) (err error) {
	if w.store == nil {
		w.store, err = openStore(ctx, w.path)
	}
	return err
}

// Record queues events in their order. Events that exceed the queue are dropped and counted.
func (w *Writer) Record(events []election.Event) {
	w.mu.Lock()
	room := w.o.Queue - len(w.events)
	if w.closed {
		room = 0
	}
	if over := len(events) - max(0, room); over > 0 {
		w.status.Dropped += uint64(over)
		w.lost += uint64(over)
		events = events[:len(events)-over]
	}
	if len(w.events) == 0 {
		w.moved = time.Now()
	}
	w.events = append(w.events, events...)
	w.mu.Unlock()
	w.notify()
}

// RecordAction queues an operator's action.
func (w *Writer) RecordAction(a history.Action) {
	w.mu.Lock()
	if !w.closed && len(w.actions) < w.o.Queue {
		w.actions = append(w.actions, a)
	}
	w.mu.Unlock()
	w.notify()
}

// Observing returns an event that only begins a period of observation. It is for [Writer.Record] and for an observer
// that finds no election.
func Observing(datacenter string, at time.Time) election.Event {
	return election.Event{Time: at, Datacenter: datacenter}
}

// Observe begins a period of observation with other patterns.
func (w *Writer) Observe(ps election.Patterns) {
	w.mu.Lock()
	w.patterns = ps
	w.mu.Unlock()
	w.notify()
}

// Status returns the state of the writer.
func (w *Writer) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.status
	if st.Queued = len(w.events); st.Queued > 0 {
		st.Waiting = time.Since(w.moved)
	}
	return st
}

func (w *Writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run stores queued events and actions until ctx ends and the queue is empty. Then it closes the file. It retries
// after temporary errors, which it reports to OnError, and returns all others.
func (w *Writer) Run(ctx context.Context) error {
	if w.store == nil && !w.awaitFirst(ctx) {
		return nil
	}
	if err := w.open(context.WithoutCancel(ctx)); err != nil {
		w.refuse()
		return err
	}
	err := w.loop(ctx)
	w.refuse()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	if err == nil {
		err = w.drain(last)
	}
	if err == nil {
		err = dbfile.Wrap(w.path, w.store.stopObserving(last, wallNow(), endedStopped))
	}
	var why *Error
	if n := w.Status().Queued; n > 0 && errors.As(err, &why) {
		err = &Error{Path: w.path, Err: fmt.Errorf("%s not stored: %s", election.Plural(uint64(n), "event"), why.Reason())}
	}
	return errors.Join(err, w.store.close())
}

// awaitFirst waits for the first event or action. It returns false if there is none.
func (w *Writer) awaitFirst(ctx context.Context) bool {
	select {
	case <-w.wake:
		w.notify() // the loop must receive the signal too
	case <-ctx.Done():
		w.refuse()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events)+len(w.actions) > 0 || w.lost > 0
}

// refuse makes the writer drop all later events.
func (w *Writer) refuse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (w *Writer) loop(ctx context.Context) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	w.pulse = wallNow()
	more := false
	for ctx.Err() == nil {
		if !more {
			select {
			case <-ctx.Done():
				return nil
			case <-w.wake:
				pause(ctx, batchDelay)
			case <-beat.C:
			}
		}
		var err error
		more, err = w.step(context.WithoutCancel(ctx))
		if retry := w.report(err); retry {
			pause(ctx, retryEvery)
			more = true
		} else if err != nil {
			return err
		}
		w.pulse = wallNow()
	}
	return nil
}

// step writes a batch and a heartbeat, and runs a step of retention.
func (w *Writer) step(ctx context.Context) (more bool, err error) {
	now := wallNow()
	if gap := now.Sub(w.pulse); gap > history.AliveWithin && w.store.observation != 0 {
		if err := w.resume(ctx, w.pulse, now, endedSuspended); err != nil {
			return false, err
		}
	}
	if err := w.watchOthers(ctx, now); err != nil {
		return false, err
	}
	if more, err = w.batch(ctx); err != nil {
		return false, err
	}
	if w.store.observation != 0 && !now.Before(w.beatAt) {
		if err := w.store.beat(ctx, now); err != nil {
			return false, err
		}
		w.beatAt = now.Add(heartbeat - batchDelay)
	}
	trim, err := w.trim(ctx, now)
	return more || trim, err
}

// trim runs a step of retention if it is due.
func (w *Writer) trim(ctx context.Context, now time.Time) (more bool, err error) {
	if now.Before(w.trimAt) || w.o.Keep <= 0 && w.o.MaxBytes <= 0 {
		return false, nil
	}
	if more, err = w.store.trim(ctx, now, w.o.Keep, w.o.MaxBytes); err == nil && !more {
		w.trimAt = now.Add(trimEvery)
	}
	return more, err
}

// report reports each error once. retry is false if the error is permanent.
func (w *Writer) report(err error) (retry bool) {
	w.mu.Lock()
	before := w.status.Err
	w.status.Err = err
	w.mu.Unlock()
	retry = err != nil && dbfile.Transient(err)
	if (err == nil) != (before == nil) && (err == nil || retry) {
		w.o.OnError(err)
	}
	return retry
}

// wallNow returns the time without a monotonic reading, because the monotonic clock stops while the machine is
// suspended.
func wallNow() time.Time { return time.Now().Round(0) }

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
