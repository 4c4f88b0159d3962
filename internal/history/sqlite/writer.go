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
	// defaultDelay is the pause between two transactions, because each waits for a write to the disk. After a longer time
	// without events, a transaction stores the events of a tenth of this time.
	defaultDelay = time.Second
	// batchSize is the maximum number of events in a transaction after the first mark.
	batchSize = 2000
	// maxActions is the maximum number of actions in a transaction.
	maxActions = 100
	// stoppedAfter is the time between two steps that counts as a gap in observation: twice the interval of heartbeats. The
	// observer tells a gap after 3 s.
	stoppedAfter = 4 * time.Second
	// clockTolerance is the step back of the clock that counts as a gap in observation.
	clockTolerance = time.Second
)

// WriterOptions configure a [Writer].
type WriterOptions struct {
	// Observer identifies this process to users: user@host.
	Observer string
	// Recorder makes this process take precedence over others that are not recorders.
	Recorder bool
	// Keep, if not nil, replaces the retention period that the file contains. 0 means no limit.
	Keep *time.Duration
	// MaxBytes is the size of the file above which the oldest data is deleted; 0 means no limit.
	MaxBytes int64
	// Queue is the maximum number of queued events; 0 means 65,536.
	Queue int
	// Delay is the pause between two transactions with events; 0 means a second. The first one after a longer time stores
	// the events of a tenth of it. After a temporary error of the file, the writer waits for five times as long.
	Delay time.Duration
	// Lease is how long another process waits for this one before it takes over; 0 means 10 s. A fifth of it is the
	// interval of heartbeats, and half of it is how long a transaction waits for a lock of the file.
	Lease time.Duration
	// Finish is the timeout of the last write before the process exits; 0 means 5 s.
	Finish time.Duration
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	// Cluster returns the identity of the cluster, or "" if it is unknown; nil means unknown. A file belongs to one cluster,
	// or to several whose identities begin with different names and "=".
	Cluster func(context.Context) string
	// Mark requests a call of [Writer.Mark], repeatedly until one arrives. It must not block.
	Mark func()
	// OnChange is called after the fields Stored, Err or Other of the status have changed. It runs on the goroutine of Run.
	OnChange func(Status)
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

func (x item) at() time.Time {
	if x.isMark() {
		return x.snapshot.At
	}
	return x.event.Time
}

// Writer stores events in a file. One process at a time has the lease to store the events of a datacenter; the writers of
// the others store only actions. They keep the events since its latest heartbeat, and take over when its lease ends. The
// methods except Run never block and are safe for concurrent use.
type Writer struct {
	path string
	o    WriterOptions
	id   string // identifies this writer in the lease
	wake chan struct{}

	// Only the goroutine of Run uses these fields.

	*conn
	writing
	datacenter string
	cluster    string    // the identity of the cluster when the file was opened, or "" if it was unknown
	pulse      time.Time // when the loop of Run last completed a step
	trimAt     time.Time

	mu      sync.Mutex
	queue   []item
	actions []history.Action
	status  Status
	// named is the observed datacenter, or nil before the first mark.
	named *string
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
	// known is the stored board with the events before the first checkpoint under the current lease, or nil. Those events
	// may report changes that another process has stored.
	known *history.Board
	// unwatched contains the elections that only earlier observers watched.
	unwatched []*election.Election
	// observation is the ID of the current period, or 0 if there is none. latest is the ID of the latest one.
	observation, latest int64
	// elections is the number of elections in the latest checkpoint. events counts the events since then.
	elections, events int
	checkpointAt      time.Time
	newest            uint64 // the highest index that was read
}

// NewWriter returns a writer. Run opens the file when the first event or action is queued, so that a slow disk does
// not delay the caller.
func NewWriter(path string, o WriterOptions) *Writer {
	o.Queue, o.Delay, o.Lease = cmp.Or(o.Queue, defaultQueue), cmp.Or(o.Delay, defaultDelay), cmp.Or(o.Lease, history.AliveWithin)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Writer{path: path, o: o, id: rand.Text(), wake: make(chan struct{}, 1)}
}

// now returns the time without a monotonic reading, because the monotonic clock stops while the machine is suspended.
func (w *Writer) now() time.Time { return w.o.Now().Round(0) }

// Record queues events. If the queue is full, it drops events and counts them. It ignores initial events, because a mark
// contains the state that they report.
func (w *Writer) Record(events []election.Event) {
	defer w.notify()
	w.mu.Lock()
	defer w.mu.Unlock()
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
}

// Mark queues a complete snapshot of the observer, with its patterns. The snapshot must contain exactly the events that
// were recorded before.
func (w *Writer) Mark(s *election.Snapshot, ps election.Patterns) {
	defer w.notify()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.named = new(s.Datacenter) // a pointer into the snapshot would keep it in memory
		w.push(item{snapshot: s, patterns: ps})
	}
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
	defer w.notify()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && len(w.actions) < w.o.Queue {
		w.actions = append(w.actions, a)
	}
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

// change changes the status, and reports the change.
func (w *Writer) change(f func(*Status)) {
	w.mu.Lock()
	before := w.status
	f(&w.status)
	st := w.status
	w.mu.Unlock()
	if w.o.OnChange != nil && (st.Stored != before.Stored || st.Other != before.Other || (st.Err == nil) != (before.Err == nil)) {
		w.o.OnChange(st)
	}
}

// idle reports whether nothing is queued.
func (w *Writer) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)+len(w.actions) == 0
}

// notify wakes Run if there is something to store.
func (w *Writer) notify() {
	if w.idle() {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// refuse drops later events. It counts them.
func (w *Writer) refuse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Run stores queued events and actions until ctx ends and the queue is empty. It then closes the file. It retries
// after temporary errors, and returns all other errors.
func (w *Writer) Run(ctx context.Context) error {
	defer w.refuse()
	if w.conn == nil {
		select {
		case <-w.wake:
			w.notify() // the loop must also receive the notification
		case <-ctx.Done():
			if w.idle() {
				return nil
			}
		}
		if err := w.Open(ctx); err != nil {
			return err
		}
	}
	err := w.loop(ctx)
	if w.leased && w.events > 0 { // an observer that starts soon has less to read
		w.mark()
	}
	w.refuse()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(w.o.Finish, 5*time.Second))
	defer cancel()
	for more := true; err == nil && more; {
		more, err = w.step(last)
	}
	if err == nil && w.leased {
		err = w.transaction(last, func(ctx context.Context) error {
			return errors.Join(w.stopObserving(ctx, w.now(), "stopped"), w.exec(ctx, "DELETE FROM leases WHERE datacenter = ? AND writer = ?", w.datacenter, w.id))
		})
	}
	var why *Error
	w.change(func(*Status) { w.queue = slices.DeleteFunc(w.queue, item.isMark) })
	if st := w.Status(); st.Queued > 0 && st.Other == "" && transient(err) && errors.As(err, &why) {
		err = &Error{w.path, fmt.Errorf("%s not stored: %s", election.Plural(st.Queued, "event"), why.Reason())}
	}
	if errors.Is(err, ErrMoved) { // complete the moved file, and leave no WAL that SQLite would apply to a file that replaces it
		_, full := w.db.ExecContext(last, "PRAGMA wal_checkpoint(TRUNCATE)")
		err = errors.Join(err, wrap(w.path, full))
	}
	return errors.Join(err, w.db.Close())
}

// Open opens or creates the file, which Run must close. It fails if it belongs to another cluster. While another process
// keeps it locked, it retries until ctx ends. The first error of another kind is final, so that a command reports it once
// and continues without a history.
func (w *Writer) Open(ctx context.Context) (err error) {
	busy, began := w.o.Lease/2, time.Now()
	if w.o.Cluster != nil {
		w.cluster = w.o.Cluster(ctx)
	}
	ctx, ended := context.WithoutCancel(ctx), ctx.Err
	for {
		if w.conn, err = connect(ctx, w.path, busy, w.cluster, w.o.Keep); err == nil {
			return nil
		}
		long := time.Since(began) > busy // another process that creates the file locks it for a moment
		if code(err) != sqlite3.SQLITE_BUSY || long && ended() != nil {
			return err
		}
		if long {
			w.change(func(st *Status) { st.Err = err })
		}
		pause(ctx, busy/100)
	}
}

// loop runs a step after each event and at each heartbeat, until ctx ends.
func (w *Writer) loop(ctx context.Context) error {
	beat := time.NewTicker(w.o.Lease / 5)
	defer beat.Stop()
	var stored time.Time
	for more := false; ctx.Err() == nil; {
		if !more {
			select {
			case <-ctx.Done():
				return nil
			case <-w.wake:
				if w.leased || !w.o.Recorder || w.Status().Other != "" { // a recorder begins at once
					pause(ctx, max(w.o.Delay/10, w.o.Delay-time.Since(stored)))
				}
				stored = time.Now()
			case <-beat.C:
			}
		}
		var err error
		began, at := time.Now(), w.now()
		more, err = w.step(context.WithoutCancel(ctx))
		if err != nil && !transient(err) {
			return err
		}
		if w.change(func(st *Status) { st.Err = err }); err != nil {
			pause(ctx, 5*w.o.Delay)
			more = true
		}
		w.pulse = at.Add(time.Since(began)) // the disk may be slow, but a suspension during the step counts
	}
	return nil
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
	if !w.begun { // after a kill, the next observer repeats the changes before the first mark
		n = max(n, 1+slices.IndexFunc(w.queue, item.isMark))
	}
	b := batch{w.actions[:min(len(w.actions), maxActions)], w.queue[:n], w.lost, n == len(w.queue)}
	observes := w.named != nil
	if observes {
		w.datacenter = *w.named
	}
	w.mu.Unlock()
	if len(b.actions) == 0 && !observes {
		return false, nil // the datacenter of the events is not known yet
	}
	if w.cluster != "" && slices.ContainsFunc(b.items, func(x item) bool { return x.event.Gap || x.event.Restored }) { // the address may lead to another cluster now
		if now := w.o.Cluster(ctx); now != w.cluster {
			return false, wrap(w.path, w.Belongs(ctx, now)) // nil if it is unknown: the next step asks again
		}
	}
	before, now := w.writing, w.now()
	var stored uint64
	var other string
	var until time.Time // another process stored the events until this time
	err = w.transaction(ctx, func(ctx context.Context) (err error) {
		for i := range b.actions {
			if err := w.exec(ctx, `INSERT INTO actions (time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail)
				VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, actionColumns(&b.actions[i])...); err != nil {
				return err
			}
		}
		if !observes {
			return nil
		}
		if other, until, err = w.lease(ctx, now); err != nil || !w.leased {
			return err
		}
		if stored, err = w.store(ctx, b, until, now); err != nil {
			return err
		}
		more, err = w.trim(ctx, now)
		return err
	})
	if err != nil {
		w.writing, w.known = before, nil
		return false, err
	}
	w.change(func(st *Status) {
		st.Err, w.actions = nil, w.actions[len(b.actions):]
		if observes {
			if other != "" { // remove only what that process has stored for certain: not the changes just before its latest heartbeat
				w.queue = slices.DeleteFunc(w.queue, func(x item) bool { return !x.at().After(until.Add(-w.o.Lease)) })
			} else {
				w.queue, w.lost = w.queue[len(b.items):], w.lost-b.lost
			}
			if len(w.queue) == 0 {
				w.queue = nil // release the memory of a large backlog
			}
			w.moved, st.Stored = time.Now(), st.Stored+stored
		}
		if other != st.Other {
			st.Other, st.OtherSince = other, now
		}
	})
	if w.leased && (b.lost > 0 || !w.begun || w.events >= max(leastEvents, w.elections) || w.observation != 0 && now.Sub(w.checkpointAt) >= checkpointEvery) {
		w.mark()
	}
	return more || !b.whole && w.leased || len(b.actions) == maxActions, nil
}

// mark requests a mark, unless one is in the queue.
func (w *Writer) mark() {
	w.mu.Lock()
	marked := slices.ContainsFunc(w.queue, item.isMark)
	w.mu.Unlock()
	if !marked && w.o.Mark != nil {
		w.o.Mark()
	}
}
