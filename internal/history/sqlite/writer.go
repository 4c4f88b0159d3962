package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"electop/election"
	"electop/internal/history"
)

const (
	// defaultQueue is the maximum number of queued events. It is sufficient for 20 minutes at 50 changes per second. A
	// full queue uses 30 MB of memory.
	defaultQueue = 1 << 16
	// defaultDelay is how long Run collects events for one transaction, because each transaction waits for a write to the
	// disk.
	defaultDelay = time.Second
	// batchSize is the maximum number of events in a transaction.
	batchSize = 2000
	// maxActions is the maximum number of actions in a transaction.
	maxActions = 100
	// checkpointEvery is the maximum time between two checkpoints.
	checkpointEvery = 24 * time.Hour
	// leastEvents is the minimum number of events between two periodic checkpoints.
	leastEvents = 4000
	// finishWithin is the timeout of the last write before the process exits.
	finishWithin = 5 * time.Second
	// clockTolerance is the step back of the clock that counts as a gap in observation.
	clockTolerance = time.Second
)

// WriterOptions configure a [Writer].
type WriterOptions struct {
	// Observer identifies this process to users: user@host.
	Observer string
	// Keep, if not nil, replaces the retention period that the file contains. 0 means no limit.
	Keep *time.Duration
	// MaxBytes is the size of the file above which the oldest data is deleted; 0 means no limit.
	MaxBytes int64
	// Queue is the maximum number of queued events; 0 means 65,536.
	Queue int
	// Delay is how long events are collected for one transaction; 0 means a second. After a temporary error of the file,
	// the writer waits for five times as long.
	Delay time.Duration
	// Lease is how long another process waits for this one before it takes over; 0 means 10 s. A fifth of it is the
	// interval of heartbeats, and half of it is how long a transaction waits for a lock of the file.
	Lease time.Duration
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	// Cluster returns the identity of the Consul cluster, or "" if it is unknown. A file belongs to one cluster.
	Cluster func(context.Context) string
	// Mark requests a call of [Writer.Mark]. It must not block.
	Mark func()
	// OnStored receives events when they are on disk. It runs on the goroutine of Run.
	OnStored func([]election.Event)
	// OnOther is called when another process stores the events instead of this one, with that process's observer. It runs
	// on the goroutine of Run.
	OnOther func(observer string)
	// OnError receives a one-line error when a write fails and will be retried, and nil when writes succeed again. It
	// runs on the goroutine of Run.
	OnError func(error)
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
	// Other is the observer, user@host, of the process that stores the events instead of this one. It is empty if this
	// process stores them. OtherSince is when this process noticed it.
	Other      string
	OtherSince time.Time
}

// item is an event, or a mark: a complete snapshot that contains exactly the events before it.
type item struct {
	event    election.Event
	snapshot *election.Snapshot
	patterns election.Patterns
}

func (x item) isMark() bool { return x.snapshot != nil }

// Writer stores events in a file. One process at a time has the lease to store the events of a datacenter; the writers of
// the others keep the latest events, and take over when the lease expires. The methods except Run never block and are
// safe for concurrent use.
type Writer struct {
	path string
	o    WriterOptions
	id   string // identifies this writer in the lease
	wake chan struct{}

	// Only the goroutine of Run uses these fields.

	*conn
	writing
	datacenter string
	checked    bool      // the file belongs to the observed cluster
	pulse      time.Time // when the loop of Run last completed a step
	trimAt     time.Time

	mu      sync.Mutex
	queue   []item
	actions []history.Action
	status  Status
	// named is the observed datacenter, or nil before the first mark.
	named   *string
	marking bool // a mark was requested or is in the queue
	// lost counts dropped events until their number is stored in the file.
	lost   uint64
	closed bool
	// moved is when the queue was last empty or became shorter.
	moved time.Time
}

// writing is the state of a writer that a failed transaction must restore.
type writing struct {
	leased bool
	// begun is set once a checkpoint of this observer was stored under the current lease.
	begun    bool
	patterns string
	// observation is the ID of the current period, or 0 if there is none. latest is the ID of the latest one.
	observation, latest int64
	// elections is the number of elections in the latest checkpoint. events counts the events since then.
	elections, events int
	checkpointAt      time.Time
}

// NewWriter returns a writer. Run opens the file when the first event or action is queued, so that a slow disk does
// not delay the caller.
func NewWriter(path string, o WriterOptions) *Writer {
	o.Queue, o.Delay, o.Lease = cmp.Or(o.Queue, defaultQueue), cmp.Or(o.Delay, defaultDelay), cmp.Or(o.Lease, history.AliveWithin)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cluster == nil {
		o.Cluster = func(context.Context) string { return "" }
	}
	if o.OnStored == nil {
		o.OnStored = func([]election.Event) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.Mark == nil {
		o.Mark = func() {}
	}
	if o.OnOther == nil {
		o.OnOther = func(string) {}
	}
	return &Writer{path: path, o: o, id: rand.Text(), wake: make(chan struct{}, 1)}
}

// OpenWriter opens or creates the file. The caller must then call Run, which closes the file.
func OpenWriter(ctx context.Context, path string, o WriterOptions) (*Writer, error) {
	w := NewWriter(path, o)
	return w, w.open(ctx)
}

// now returns the time without a monotonic reading, because the monotonic clock stops while the machine is suspended.
func (w *Writer) now() time.Time { return w.o.Now().Round(0) }

// Record queues events. If the queue is full, it drops events and counts them. It ignores initial events, because a mark
// contains the state that they report.
func (w *Writer) Record(events []election.Event) {
	w.mu.Lock()
	for i := range events {
		switch {
		case events[i].Initial:
		case w.closed || len(w.queue) >= w.o.Queue:
			w.status.Dropped++
			w.lost++
		default:
			w.push(item{event: events[i]})
		}
	}
	w.mu.Unlock()
	w.notify()
}

// Mark queues a complete snapshot of the observer, with its patterns. The snapshot must contain exactly the events that
// were recorded before.
func (w *Writer) Mark(s *election.Snapshot, ps election.Patterns) {
	w.mu.Lock()
	if !w.closed {
		w.named, w.marking = &s.Datacenter, true
		w.push(item{snapshot: s, patterns: ps})
	}
	w.mu.Unlock()
	w.notify()
}

// push queues an item. The caller holds the mutex.
func (w *Writer) push(x item) {
	if len(w.queue) == 0 {
		w.moved = time.Now()
	}
	w.queue = append(w.queue, x)
}

// RecordAction queues an operator's action. It is stored even if another process has the lease.
func (w *Writer) RecordAction(a history.Action) {
	w.mu.Lock()
	if !w.closed && len(w.actions) < w.o.Queue {
		w.actions = append(w.actions, a)
	}
	w.mu.Unlock()
	w.notify()
}

// Status returns the state of the writer.
func (w *Writer) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.status
	if st.Queued = len(w.queue); st.Queued > 0 && st.Other == "" {
		st.Waiting = time.Since(w.moved)
	}
	return st
}

// notify wakes Run if there is something to store.
func (w *Writer) notify() {
	w.mu.Lock()
	idle := len(w.queue)+len(w.actions) == 0
	w.mu.Unlock()
	if idle {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run stores queued events and actions until ctx ends and the queue is empty. It then closes the file. It retries
// after temporary errors, which it passes to OnError, and returns all other errors.
func (w *Writer) Run(ctx context.Context) error {
	if w.conn == nil {
		err := error(nil)
		if some := w.awaitFirst(ctx); some {
			err = w.open(ctx)
		}
		if w.conn == nil {
			w.refuse()
			return err
		}
	}
	err := w.loop(ctx)
	if w.leased && w.events > 0 { // an observer that starts soon has less to read
		w.o.Mark()
	}
	w.refuse()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	for more := true; err == nil && more; {
		more, err = w.step(last)
	}
	if err == nil && w.leased {
		err = w.transaction(last, w.release)
	}
	var why *Error
	if n := w.unstored(); n > 0 && transient(err) && errors.As(err, &why) {
		err = &Error{Path: w.path, Err: fmt.Errorf("%s not stored: %s", election.Plural(uint64(n), "event"), why.Reason())}
	}
	if errors.Is(err, ErrMoved) { // complete the moved file, and leave no WAL that SQLite would apply to a file that replaces it
		_, full := w.db.ExecContext(last, "PRAGMA wal_checkpoint(TRUNCATE)")
		err = errors.Join(err, wrap(w.path, full))
	}
	return errors.Join(err, w.close())
}

// awaitFirst waits for the first event or action. It returns false if ctx ends first.
func (w *Writer) awaitFirst(ctx context.Context) bool {
	select {
	case <-w.wake:
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.queue)+len(w.actions) > 0
	}
	w.notify() // the loop must also receive the notification
	return true
}

// open opens the file. While another process keeps it locked, it retries until ctx ends. The first error of
// another kind is final, so that a command reports it once and continues without a history.
func (w *Writer) open(ctx context.Context) (err error) {
	busy, began := w.o.Lease/2, time.Now()
	for {
		w.conn, err = connect(context.WithoutCancel(ctx), w.path, busy)
		if err == nil && w.o.Keep != nil {
			err = w.transaction(context.WithoutCancel(ctx), func(ctx context.Context) error { return w.set(ctx, "keep", fmt.Sprint(int64(*w.o.Keep))) })
		}
		long := time.Since(began) > busy // another process that creates the file locks it for a moment
		if code(err) != sqlite3.SQLITE_BUSY || long && ctx.Err() != nil {
			return err
		}
		if long {
			w.report(err)
		}
		pause(context.WithoutCancel(ctx), busy/100)
	}
}

// refuse drops later events. It counts them.
func (w *Writer) refuse() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
}

// unstored returns the number of queued events that this process should have stored.
func (w *Writer) unstored() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.queue {
		if !x.isMark() && w.status.Other == "" {
			n++
		}
	}
	return n
}

// loop runs a step after each event and at each heartbeat, until ctx ends.
func (w *Writer) loop(ctx context.Context) error {
	beat := time.NewTicker(w.o.Lease / 5)
	defer beat.Stop()
	for more := false; ctx.Err() == nil; {
		if !more {
			select {
			case <-ctx.Done():
				return nil
			case <-w.wake:
				pause(ctx, w.o.Delay)
			case <-beat.C:
			}
		}
		var err error
		began, at := time.Now(), w.now()
		more, err = w.step(context.WithoutCancel(ctx))
		if retry := w.report(err); retry {
			pause(ctx, 5*w.o.Delay)
			more = true
		} else if err != nil {
			return err
		}
		w.pulse = at.Add(time.Since(began)) // the disk may be slow, but a suspension during the step counts
	}
	return nil
}

// report passes a temporary error to OnError when writes begin to fail, and nil when they succeed again. retry is set
// if the error is temporary.
func (w *Writer) report(err error) (retry bool) {
	w.mu.Lock()
	before := w.status.Err
	w.status.Err = err
	w.mu.Unlock()
	retry = err != nil && transient(err)
	if (err == nil) != (before == nil) && (err == nil || retry) {
		w.o.OnError(err)
	}
	return retry
}

// batch is what one transaction stores.
type batch struct {
	actions []history.Action
	items   []item
	lost    uint64
	whole   bool // the queue contains nothing else
}

// step stores the oldest part of the queue and a heartbeat, and runs a step of retention, in one transaction. What it stores
// remains in the queue until it is on disk. more is set if there is more to do.
func (w *Writer) step(ctx context.Context) (more bool, err error) {
	w.mu.Lock()
	n := min(len(w.queue), batchSize)
	b := batch{w.actions[:min(len(w.actions), maxActions)], w.queue[:n], w.lost, n == len(w.queue)}
	observes := w.named != nil
	if observes {
		w.datacenter = *w.named
	}
	w.mu.Unlock()
	if len(b.actions) == 0 && !observes { // the datacenter of the events is not known yet
		return false, nil
	}
	if observes && !w.checked {
		if err := w.checkCluster(ctx); err != nil {
			return false, err
		}
	}
	before, now := w.writing, w.now()
	var stored []election.Event
	var other string
	err = w.transaction(ctx, func(ctx context.Context) (err error) {
		for i := range b.actions {
			if err := w.action(ctx, &b.actions[i]); err != nil {
				return err
			}
		}
		if !observes {
			return nil
		}
		if other, err = w.lease(ctx, now); err != nil || !w.leased {
			return err
		}
		if stored, err = w.store(ctx, b, now); err != nil {
			return err
		}
		more, err = w.trim(ctx, now)
		return err
	})
	if err != nil {
		w.writing = before
		return false, err
	}
	w.mu.Lock()
	w.actions = w.actions[len(b.actions):]
	w.mu.Unlock()
	if w.leased {
		w.dequeue(b, uint64(len(stored)))
	} else if observes {
		w.standBy(now, other)
	}
	if len(stored) > 0 {
		w.o.OnStored(stored)
	}
	w.requestMark(b, now)
	return more || !b.whole && w.leased || len(b.actions) == maxActions, nil
}

// dequeue removes the stored items of a batch from the queue.
func (w *Writer) dequeue(b batch, stored uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue = w.queue[len(b.items):]; len(w.queue) == 0 {
		w.queue = nil // release the memory of a large backlog
	}
	if len(b.items) > 0 {
		w.moved = time.Now()
	}
	if slices.ContainsFunc(b.items, item.isMark) {
		w.marking = false
	}
	w.lost -= b.lost
	w.status.Stored += stored
	w.status.Other = ""
}

// standBy keeps only the events that the process with the lease may not store if it is killed.
func (w *Writer) standBy(now time.Time, other string) {
	w.mu.Lock()
	changed := other != w.status.Other
	if changed {
		w.status.Other, w.status.OtherSince = other, now
	}
	w.queue = slices.DeleteFunc(w.queue, func(x item) bool { return x.isMark() || now.Sub(x.event.Time) > 2*w.o.Lease })
	w.marking = false
	w.mu.Unlock()
	if changed {
		w.o.OnOther(other)
	}
}

// requestMark requests a mark when a checkpoint is due.
func (w *Writer) requestMark(b batch, now time.Time) {
	if !w.leased || w.begun && b.lost == 0 && w.events < max(leastEvents, w.elections) && (w.observation == 0 || now.Sub(w.checkpointAt) < checkpointEvery) {
		return
	}
	w.mu.Lock()
	marking := w.marking
	w.marking = true
	w.mu.Unlock()
	if !marking {
		w.o.Mark()
	}
}

// lease gets or renews the lease of the datacenter. If another process has it, it returns that process's observer.
func (w *Writer) lease(ctx context.Context, now time.Time) (other string, err error) {
	until, changed := nanos(now.Add(w.o.Lease)), int64(0)
	if w.leased {
		changed, err = w.exec(ctx, "UPDATE leases SET until = ? WHERE datacenter = ? AND writer = ?", until, w.datacenter, w.id)
		if err != nil || changed > 0 {
			return "", err
		}
		w.writing = writing{} // another process has taken over
	}
	expired := now
	if st := w.Status(); st.Other == "" || now.Sub(st.OtherSince) < w.o.Lease {
		expired = now.Add(-w.o.Lease / 4) // more than a heartbeat: a process that has observed for longer stores more
	}
	changed, err = w.exec(ctx, `INSERT INTO leases (datacenter, writer, observer, until) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (datacenter)
		DO UPDATE SET writer = ?2, observer = ?3, until = ?4 WHERE until NOT BETWEEN ?5 AND ?6`,
		w.datacenter, w.id, w.o.Observer, until, nanos(expired), nanos(now.Add(2*w.o.Lease)))
	if w.leased = changed > 0; err != nil || w.leased {
		return "", err
	}
	_, err = w.row(ctx, "SELECT observer FROM leases WHERE datacenter = ?", []any{w.datacenter}, &other)
	return cmp.Or(other, "another process"), err
}

// release ends the period of observation and the lease.
func (w *Writer) release(ctx context.Context) error {
	if err := w.stopObserving(ctx, w.now(), "stopped"); err != nil {
		return err
	}
	_, err := w.exec(ctx, "DELETE FROM leases WHERE datacenter = ? AND writer = ?", w.datacenter, w.id)
	return err
}

// checkCluster fails if the file belongs to another cluster. It stores the identity of the cluster in a new file.
func (w *Writer) checkCluster(ctx context.Context) error {
	cluster, stored := w.o.Cluster(ctx), ""
	err := w.transaction(ctx, func(ctx context.Context) error {
		found, err := w.row(ctx, "SELECT value FROM settings WHERE name = 'cluster'", nil, &stored)
		switch {
		case err != nil || cluster == "":
			return err
		case !found:
			return w.set(ctx, "cluster", cluster)
		case stored != cluster:
			return ErrCluster
		}
		return nil
	})
	w.checked = err == nil
	return err
}

func (w *Writer) set(ctx context.Context, name, value string) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value)
	return err
}
