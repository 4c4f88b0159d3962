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
	// defaultQueue is the maximum number of queued events. It is sufficient for 20 minutes at 50 changes per second. A
	// full queue uses 30 MB of memory.
	defaultQueue = 1 << 16
	// batchDelay is how long Run collects events for one transaction, because each transaction waits for a write to the
	// disk.
	batchDelay = time.Second
	// batchSize is the maximum number of events in a transaction.
	batchSize = 2000
	// heartbeat is the interval of heartbeats. If the process is killed, the recorded observation ends at most
	// heartbeat plus batchDelay too early. history.AliveWithin is several heartbeats plus the time to write a batch.
	heartbeat = 2 * time.Second
	// retryEvery is the pause after a temporary error of the file.
	retryEvery = 5 * time.Second
	// trimEvery is the interval of retention.
	trimEvery = 10 * time.Minute
	// finishWithin is the timeout of the last write before the process exits.
	finishWithin = 5 * time.Second
)

// WriterOptions configure a [Writer].
type WriterOptions struct {
	// Observer identifies this process to users: user@host.
	Observer string
	// Patterns contains the observed patterns.
	Patterns election.Patterns
	// Keep is the maximum age of events. MaxBytes is the maximum size of the file. Retention deletes older events, and
	// the oldest events of a larger file. 0 means no limit.
	Keep     time.Duration
	MaxBytes int64
	// Queue is the maximum number of queued events; 0 means 65,536.
	Queue int
	// OnStored receives events when they are on disk. It runs on the goroutine of Run.
	OnStored func([]election.Event)
	// OnError receives a one-line error when a write fails and will be retried, and nil when writes succeed again. It
	// runs on the goroutine of Run.
	OnError func(error)
	// OnReopened is called when the file was deleted, moved or replaced and the writer uses a new file. The new file
	// lacks the state of the elections. incomplete is the reason why a moved file may lack the latest events, or nil if
	// it is complete. It runs on the goroutine of Run.
	OnReopened func(incomplete error)
}

// Status is the state of a writer.
type Status struct {
	// Stored is the number of events that are in the file. Dropped is the number of events that will not be stored.
	Stored, Dropped uint64
	Queued          int
	// Waiting is the time since the queue was last empty or became shorter.
	Waiting time.Duration
	// Err is the reason why events cannot currently be stored. It is nil if they can be stored.
	Err error
	// Reopened is when the writer last opened a new file because the previous one was deleted, moved or replaced.
	Reopened time.Time
}

// Writer stores events in a file. Record and RecordAction never block and are safe for concurrent use.
type Writer struct {
	path   string
	o      WriterOptions
	store  *store
	wake   chan struct{}
	pulse  time.Time // when the loop of Run began or last completed a step
	beatAt time.Time // time of the next heartbeat
	trimAt time.Time
	// incomplete is the reason why the last moved file may lack the latest events.
	incomplete error

	mu      sync.Mutex
	events  []election.Event
	actions []history.Action
	status  Status
	// lost counts dropped events until their number is stored in the file.
	lost   uint64
	closed bool
	// moved is when the queue was last empty or became shorter.
	moved time.Time
	// patterns contains the patterns of the latest call to Observe. It is nil after Run has applied them.
	patterns election.Patterns
}

// NewWriter returns a writer. Run opens the file when the first event or action is queued, so that a slow disk does
// not delay the caller.
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
	if o.OnReopened == nil {
		o.OnReopened = func(error) {}
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

// Record queues events. If the queue is full, it drops events and counts them.
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

// Observing returns an event that only begins a period of observation. An observer that finds no elections passes
// this event to [Writer.Record].
func Observing(datacenter string, at time.Time) election.Event {
	return election.Event{Time: at, Datacenter: datacenter}
}

// Observe replaces the observed patterns. Run then begins another period of observation.
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

// Run stores queued events and actions until ctx ends and the queue is empty. It then closes the file. It retries
// after temporary errors, which it passes to OnError, and returns all other errors.
func (w *Writer) Run(ctx context.Context) error {
	if w.store == nil && !w.awaitFirst(ctx) {
		return nil
	}
	if err := w.openFirst(ctx); err != nil {
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
	if w.store == nil { // reopen closed the file and could not open it again
		return err
	}
	return errors.Join(err, w.store.Close())
}

// openFirst opens the file. While another process keeps it locked, it retries until ctx ends. The first error of
// another kind is final, so that a command reports it once and continues without a history.
func (w *Writer) openFirst(ctx context.Context) error {
	for {
		err := w.open(context.WithoutCancel(ctx))
		if !dbfile.Busy(err) || ctx.Err() != nil {
			return err
		}
		w.report(err)
		pause(ctx, retryEvery)
	}
}

// awaitFirst waits for the first event or action. It returns false if ctx ends first.
func (w *Writer) awaitFirst(ctx context.Context) bool {
	select {
	case <-w.wake:
		w.notify() // the loop must also receive the notification
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
	if err := w.reopen(ctx); err != nil {
		return false, err
	}
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
		if err := w.transaction(ctx, func(ctx context.Context) error { return w.beat(ctx, now) }); err != nil {
			return false, err
		}
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

// report passes a temporary error to OnError when writes begin to fail, and nil when they succeed again. retry is set
// if the error is temporary.
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
