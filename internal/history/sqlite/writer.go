package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"electop/election"
	"electop/internal/history"
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
	// heartbeat plus batchDelay too early.
	heartbeat = 2 * time.Second
	// leaseFor is how long a lease is valid. Another process takes over when it has expired.
	leaseFor = history.AliveWithin
	// standbyFor is the age of the events that a process without the lease keeps: those that a killed writer may not have
	// stored before its lease expired.
	standbyFor = leaseFor + 4*heartbeat
	// retryEvery is the pause after a temporary error of the file.
	retryEvery = 5 * time.Second
	// checkpointEvery is the maximum time between two checkpoints.
	checkpointEvery = 24 * time.Hour
	// leastEvents is the minimum number of events between two periodic checkpoints.
	leastEvents = 1000
	// finishWithin is the timeout of the last write before the process exits.
	finishWithin = 5 * time.Second
	// clockTolerance is the change of the clock, relative to the monotonic clock, that counts as a jump.
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

// mark is a complete snapshot in the queue of events. It contains exactly the events before it.
type mark struct {
	snapshot *election.Snapshot
	patterns election.Patterns
}

// item is an event or a mark in the queue.
type item struct {
	event election.Event
	mark  *mark
}

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
	base   time.Time     // the start of Run, with its monotonic reading
	offset time.Duration // how far the clock has moved since base, relative to the monotonic clock
	pulse  time.Time     // when the loop of Run last completed a step
	beatAt time.Time     // time of the next heartbeat
	trimAt time.Time
	// since is when this process, without the lease, began to observe.
	since   time.Time
	checked bool // the file belongs to the observed cluster

	mu      sync.Mutex
	queue   []item
	actions []history.Action
	status  Status
	// lost counts dropped events until their number is stored in the file.
	lost   uint64
	closed bool
	// moved is when the queue was last empty or became shorter.
	moved time.Time
}

// writing is the state of a writer that a failed transaction must restore.
type writing struct {
	datacenter string
	named      bool // a mark has named the datacenter; the name can be empty
	leased     bool
	// begun is set once a checkpoint of this observer was stored under the current lease.
	begun    bool
	patterns string
	// observation is the ID of the current period, or 0 if there is none. latest is the ID of the latest one.
	observation, latest int64
	// elections is the number of elections in the latest checkpoint. events counts the events since then.
	elections, events int
	checkpointAt      time.Time
	marking           bool // a mark was requested
	// jumped is set after a jump of the clock, until the next mark.
	jumped bool
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
	if o.Mark == nil {
		o.Mark = func() {}
	}
	if o.OnOther == nil {
		o.OnOther = func(string) {}
	}
	return &Writer{path: path, o: o, id: writerID(), wake: make(chan struct{}, 1)}
}

// writerID identifies this process and this writer: the host with its PID namespace, the PID and a random text.
func writerID() string { return fmt.Sprint(pidNamespace(), " ", os.Getpid(), " ", rand.Text()) }

func pidNamespace() string {
	host, _ := os.Hostname()                     // without a name, only the lease's expiry shows that its process has ended
	space, _ := os.Readlink("/proc/self/ns/pid") // exists only on Linux
	return strings.ReplaceAll(host+space, " ", "")
}

// ended reports whether a writer is known to be a process of this host that has ended.
func ended(writer string) bool {
	var space, random string
	var pid int
	if n, err := fmt.Sscan(writer, &space, &pid, &random); n < 3 || err != nil || space != pidNamespace() || pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// OpenWriter opens or creates the file. The caller must then call Run, which closes the file.
func OpenWriter(ctx context.Context, path string, o WriterOptions) (*Writer, error) {
	w := NewWriter(path, o)
	return w, w.open(ctx)
}

func (w *Writer) open(ctx context.Context) (err error) {
	if w.conn == nil {
		w.conn, err = connect(ctx, w.path)
	}
	return err
}

// Record queues events. If the queue is full, it drops events and counts them. It ignores initial events, because a mark
// contains the state that they report.
func (w *Writer) Record(events []election.Event) {
	news := false
	w.mu.Lock()
	for i := range events {
		if !events[i].Initial {
			w.push(item{event: events[i]})
			news = true
		}
	}
	w.mu.Unlock()
	if news {
		w.notify()
	}
}

// Mark queues a complete snapshot of the observer, with its patterns. The snapshot must contain exactly the events that
// were recorded before.
func (w *Writer) Mark(s *election.Snapshot, ps election.Patterns) {
	w.mu.Lock()
	if !w.closed {
		if len(w.queue) == 0 {
			w.moved = time.Now()
		}
		w.queue = append(w.queue, item{mark: &mark{s, ps}})
	}
	w.mu.Unlock()
	w.notify()
}

// push queues an item. The caller holds the mutex.
func (w *Writer) push(x item) {
	if w.closed || len(w.queue) >= w.o.Queue {
		w.status.Dropped++
		w.lost++
		return
	}
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

func (w *Writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run stores queued events and actions until ctx ends and the queue is empty. It then closes the file. It retries
// after temporary errors, which it passes to OnError, and returns all other errors.
func (w *Writer) Run(ctx context.Context) error {
	if w.conn == nil && !w.awaitFirst(ctx) {
		return nil
	}
	if err := w.openFirst(ctx); err != nil {
		w.refuse()
		return err
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
	if err == nil {
		err = w.release(last)
	}
	var why *Error
	if n := w.unstored(); n > 0 && transient(err) && errors.As(err, &why) {
		err = &Error{Path: w.path, Err: fmt.Errorf("%s not stored: %s", election.Plural(uint64(n), "event"), why.Reason())}
	}
	if errors.Is(err, ErrMoved) { // complete the moved file, and leave no WAL that SQLite would apply to a file that replaces it
		_, full := w.conn.conn.ExecContext(last, "PRAGMA wal_checkpoint(TRUNCATE)")
		err = errors.Join(err, wrap(w.path, full))
	}
	return errors.Join(err, w.close())
}

// unstored returns the number of queued events that this process should have stored.
func (w *Writer) unstored() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.queue {
		if x.mark == nil && w.status.Other == "" {
			n++
		}
	}
	return n
}

// openFirst opens the file. While another process keeps it locked, it retries until ctx ends. The first error of
// another kind is final, so that a command reports it once and continues without a history.
func (w *Writer) openFirst(ctx context.Context) error {
	for {
		err := w.open(context.WithoutCancel(ctx))
		if err == nil && w.o.Keep != nil {
			err = w.transaction(context.WithoutCancel(ctx), func(ctx context.Context) error { return w.set(ctx, "keep", w.o.Keep.String()) })
		}
		if code(err) != sqlite3.SQLITE_BUSY || ctx.Err() != nil {
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
	return len(w.queue)+len(w.actions) > 0 || w.lost > 0
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
	w.base = time.Now()
	w.pulse = w.base
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
		w.pulse = time.Now()
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

// atomically runs f in a transaction. If f fails, it also restores the writer's state in memory.
func (w *Writer) atomically(ctx context.Context, f func(context.Context) error) error {
	before := w.writing
	err := w.transaction(ctx, f)
	if err != nil {
		w.writing = before
	}
	return err
}

// step stores actions, a batch of events and a heartbeat, and runs a step of retention. If another process has taken the
// lease, it stores only the actions.
func (w *Writer) step(ctx context.Context) (more bool, err error) {
	if more, err = w.write(ctx); errors.Is(err, errNoLease) {
		w.writing = writing{datacenter: w.datacenter, named: w.named}
		return false, nil
	}
	return more, err
}

func (w *Writer) write(ctx context.Context) (more bool, err error) {
	if err := w.storeActions(ctx); err != nil {
		return false, err
	}
	if err := w.acquire(ctx); err != nil || !w.leased {
		return false, err
	}
	now := wallNow()
	if err := w.checkClock(ctx, now); err != nil {
		return false, err
	}
	if more, err = w.batch(ctx, now); err != nil {
		return false, err
	}
	if !w.begun {
		w.requestMark()
	}
	if !now.Before(w.beatAt) {
		if err := w.atomically(ctx, func(ctx context.Context) error { return w.beat(ctx, now, now) }); err != nil {
			return false, err
		}
	}
	if due := w.events >= max(leastEvents, w.elections) || w.events > 0 && now.Sub(w.checkpointAt) > checkpointEvery; due && w.begun {
		w.requestMark()
	}
	trim, err := w.trim(ctx, now)
	return more || trim, err
}

func (w *Writer) requestMark() {
	if !w.marking {
		w.marking = true
		w.o.Mark()
	}
}

// storeActions stores the queued actions in a transaction of their own.
func (w *Writer) storeActions(ctx context.Context) error {
	w.mu.Lock()
	actions := w.actions
	w.mu.Unlock()
	if len(actions) == 0 {
		return nil
	}
	err := w.transaction(ctx, func(ctx context.Context) error {
		for i := range actions {
			if err := w.action(ctx, &actions[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions = w.actions[len(actions):]
	return nil
}

// acquire gets the lease of the datacenter, unless another process has it. Until the datacenter is known from the first
// mark, there is nothing to store.
func (w *Writer) acquire(ctx context.Context) error {
	if w.leased || !w.knowsDatacenter() {
		return nil
	}
	if !w.checked {
		if err := w.checkCluster(ctx); err != nil {
			return err
		}
		w.checked = true
	}
	now, until := wallNow(), int64(0)
	var holder, other string
	if _, err := w.row(ctx, "SELECT writer, observer, until FROM leases WHERE datacenter = ?", []any{w.datacenter}, &holder, &other, &until); err != nil {
		return wrap(w.path, err)
	}
	if left := moment(until).Sub(now); holder != "" && left >= 0 && left <= 2*leaseFor && !ended(holder) {
		w.standBy(now, other)
		return nil
	}
	err := w.atomically(ctx, func(ctx context.Context) error {
		changed, _, err := w.exec(ctx, `INSERT INTO leases (datacenter, writer, observer, until) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (datacenter)
			DO UPDATE SET writer = ?2, observer = ?3, until = ?4 WHERE writer = ?5`,
			w.datacenter, w.id, w.o.Observer, nanos(now.Add(leaseFor)), holder)
		w.leased, w.begun = changed > 0, false
		return err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Other = ""
	w.marking = slices.ContainsFunc(w.queue, func(x item) bool { return x.mark != nil })
	return nil
}

// standBy keeps only the events that the process with the lease may not store if it is killed.
func (w *Writer) standBy(now time.Time, other string) {
	w.mu.Lock()
	changed := other != w.status.Other
	if changed {
		w.status.Other, w.status.OtherSince = other, now
	}
	w.queue = slices.DeleteFunc(w.queue, func(x item) bool {
		if x.mark != nil && w.since.IsZero() {
			w.since = x.mark.snapshot.At
		}
		return x.mark != nil || now.Sub(x.event.Time) > standbyFor
	})
	w.mu.Unlock()
	if changed {
		w.o.OnOther(other)
	}
}

// knowsDatacenter reports whether a mark has named the datacenter.
func (w *Writer) knowsDatacenter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.queue {
		if m := w.queue[i].mark; m != nil && !w.named {
			w.datacenter, w.named = m.snapshot.Datacenter, true
		}
	}
	return w.named
}

// checkCluster fails if the file belongs to another cluster. It stores the identity of the cluster in a new file.
func (w *Writer) checkCluster(ctx context.Context) error {
	if w.o.Cluster == nil {
		return nil
	}
	cluster := w.o.Cluster(ctx)
	if cluster == "" {
		return nil
	}
	return w.transaction(ctx, func(ctx context.Context) error {
		var stored string
		if found, err := w.row(ctx, "SELECT value FROM settings WHERE name = 'cluster'", nil, &stored); err != nil || found {
			if err == nil && stored != cluster {
				err = ErrCluster
			}
			return err
		}
		return w.set(ctx, "cluster", cluster)
	})
}

func (w *Writer) set(ctx context.Context, name, value string) error {
	_, _, err := w.exec(ctx, "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value)
	return err
}

// release ends the period of observation and the lease.
func (w *Writer) release(ctx context.Context) error {
	if !w.leased {
		return nil
	}
	return w.transaction(ctx, func(ctx context.Context) error {
		if err := w.stopObserving(ctx, wallNow(), "stopped"); err != nil {
			return err
		}
		_, _, err := w.exec(ctx, "DELETE FROM leases WHERE datacenter = ? AND writer = ?", w.datacenter, w.id)
		return err
	})
}

// checkClock ends the period of observation if the process was stopped, the machine was suspended or the clock was set.
func (w *Writer) checkClock(ctx context.Context, now time.Time) error {
	if w.base.IsZero() {
		return nil
	}
	offset := now.Sub(w.base.Round(0)) - time.Since(w.base)
	jump, idle := offset-w.offset, time.Since(w.pulse)
	ending, seen := "suspended", now.Add(-max(jump, 0)-idle)
	switch {
	case jump < -clockTolerance:
		ending, seen = "clock_set", time.Time{}
	case jump < history.AliveWithin && idle < history.AliveWithin:
		return nil
	}
	w.offset = offset
	w.jumped = true
	w.requestMark()
	if w.observation == 0 {
		return nil
	}
	return w.atomically(ctx, func(ctx context.Context) error {
		if err := w.beat(ctx, now, time.Time{}); err != nil {
			return err
		}
		if err := w.stopObserving(ctx, seen, ending); err != nil {
			return err
		}
		return w.observe(ctx, now)
	})
}

// batch stores the oldest part of the queue. Events remain in the queue until they are on disk. more is set if the
// queue is not empty.
func (w *Writer) batch(ctx context.Context, now time.Time) (more bool, err error) {
	w.mu.Lock()
	items, lost := w.queue[:min(len(w.queue), batchSize)], w.lost
	w.mu.Unlock()
	marked := slices.ContainsFunc(items, func(x item) bool { return x.mark != nil })
	if len(items) == 0 && lost == 0 || !w.begun && !marked && len(items) < batchSize { // wait for the mark
		return false, nil
	}
	var stored []election.Event
	err = w.atomically(ctx, func(ctx context.Context) error {
		if stored, err = w.items(ctx, items); err != nil {
			return err
		}
		at := time.Time{}
		if n := len(stored); n > 0 {
			at = stored[n-1].Time
		}
		if err := w.beat(ctx, now, at); err != nil || lost == 0 {
			return err
		}
		_, _, err := w.exec(ctx, "UPDATE observations SET dropped = dropped + ? WHERE id = ?", index(lost), w.latest)
		return err
	})
	if err != nil {
		return false, err
	}
	if lost > 0 {
		w.requestMark() // the next checkpoint contains the effect of the dropped events
	}
	w.mu.Lock()
	if w.queue = w.queue[len(items):]; len(w.queue) == 0 {
		w.queue = nil // release the memory of a large backlog
	}
	w.lost -= lost
	w.moved = time.Now()
	w.status.Stored += uint64(len(stored))
	more = len(w.queue) > 0
	w.mu.Unlock()
	if len(stored) > 0 {
		w.o.OnStored(stored)
	}
	return more, nil
}

// items stores events and marks in order, and returns the stored events. Before the first mark under a lease, it stores
// only events whose effect the file does not contain.
func (w *Writer) items(ctx context.Context, items []item) (stored []election.Event, err error) {
	var before *history.Board
	for i := range items {
		if m := items[i].mark; m != nil {
			if err := w.mark(ctx, m); err != nil {
				return nil, err
			}
			continue
		}
		e := &items[i].event
		if !w.begun {
			if before == nil {
				if before, err = w.present(ctx); err != nil {
					return nil, err
				}
			}
			if !before.Apply(e) {
				continue
			}
		}
		if err := w.one(ctx, e); err != nil {
			return nil, err
		}
		stored = append(stored, *e)
	}
	return stored, nil
}

func (w *Writer) reading() reading { return reading{path: w.path, q: w.conn.conn} }

// present returns the board of the datacenter according to the file, or an empty board.
func (w *Writer) present(ctx context.Context) (*history.Board, error) {
	b, err := w.reading().board(ctx, w.datacenter, wallNow())
	if b == nil {
		b = history.NewBoard(&election.Snapshot{Datacenter: w.datacenter}, nil)
	}
	b.Settle()
	return b, err
}

// mark stores a checkpoint. The first mark under a lease, and a mark with other patterns, also begin a period of
// observation.
func (w *Writer) mark(ctx context.Context, m *mark) error {
	s, patterns := m.snapshot, strings.Join(m.patterns.Strings(), "\n")
	if w.marking = false; s.Connection.State == election.Lost { // the snapshot is stale
		return nil
	}
	switch {
	case !w.begun || patterns != w.patterns:
		w.patterns = patterns
		if err := w.stopObserving(ctx, s.At, "patterns_changed"); err != nil {
			return err
		}
		if err := w.reconcile(ctx, m); err != nil {
			return err
		}
		began, err := w.began(ctx, s.At)
		if err != nil {
			return err
		}
		if err := w.observe(ctx, began); err != nil {
			return err
		}
	case w.jumped:
		if err := w.reconcile(ctx, m); err != nil {
			return err
		}
	}
	w.jumped = false
	b := history.NewBoard(s, m.patterns)
	if err := w.attribute(ctx, b); err != nil {
		return err
	}
	text, err := b.Encode()
	if err != nil {
		return err
	}
	_, _, err = w.exec(ctx, "INSERT INTO checkpoints (datacenter, at, event, board) SELECT ?, ?, ifnull(max(id), 0), ? FROM events",
		w.datacenter, nanos(s.At), text)
	w.begun, w.elections, w.events, w.checkpointAt = true, b.Len(), 0, s.At
	return err
}

// attribute adds to a board the operators who ended the terms of the last day: another process may have stored its action
// when the observer had already explained the loss.
func (w *Writer) attribute(ctx context.Context, b *history.Board) error {
	scan := func(rows *sql.Rows) (e election.Event, err error) {
		var create, number int64
		err = rows.Scan(&e.Key, &create, &number, &e.Session, &e.Cause, &e.Evidence, &e.By)
		e.Time, e.Type, e.CreateIndex, e.Term = b.At, election.Explained, unsigned(create), unsigned(number)
		return e, err
	}
	all, err := list(ctx, w.reading(), scan, `SELECT e.key, t.create_index, t.number, t.session, t.cause, t.evidence, t.by
		FROM terms t INDEXED BY terms_by_end CROSS JOIN elections e ON e.id = t.election WHERE t.ended > ? AND t.by IS NOT NULL AND e.datacenter = ?`,
		nanos(b.At.Add(-checkpointEvery)), w.datacenter)
	for i := range all {
		if b.Find(all[i].Key) != nil {
			b.Apply(&all[i])
		}
	}
	return err
}

// began returns the beginning of the observation of which the mark is a part. A process that took over has observed before,
// and the file contains the events since the end of the previous observation.
func (w *Writer) began(ctx context.Context, marked time.Time) (time.Time, error) {
	if w.begun || w.since.IsZero() {
		return marked, nil
	}
	var seen int64
	_, err := w.row(ctx, "SELECT ifnull(max(seen), 0) FROM observations WHERE datacenter = ?", []any{w.datacenter}, &seen)
	for _, at := range []time.Time{moment(seen), marked.Add(-standbyFor)} {
		if at.After(w.since) {
			w.since = at
		}
	}
	if w.since.After(marked) {
		w.since = marked
	}
	return w.since, err
}

// one stores an event. It also begins or ends the period of observation: a period ends when the connection is lost.
func (w *Writer) one(ctx context.Context, e *election.Event) error {
	lost := e.Type == election.ConnectionLost
	if lost || e.Type == election.ConnectionRestored {
		w.since = e.Time
	}
	if w.begun && w.observation == 0 && !lost {
		if err := w.observe(ctx, e.Time); err != nil {
			return err
		}
	}
	w.events++
	if err := w.store(ctx, e); err != nil {
		return err
	}
	if lost {
		return w.stopObserving(ctx, e.Time, "connection_lost")
	}
	return nil
}

// observe begins a period of observation.
func (w *Writer) observe(ctx context.Context, at time.Time) error {
	_, id, err := w.exec(ctx, "INSERT INTO observations (observer, datacenter, patterns, started, seen) VALUES (?,?,?,?,?)",
		w.o.Observer, w.datacenter, w.patterns, nanos(at), nanos(at))
	w.observation, w.latest = id, id
	return err
}

// errNoLease reports that another process has taken over.
var errNoLease = errors.New("another process stores the history")

// beat renews the lease, and stores a heartbeat and the time of the latest event.
func (w *Writer) beat(ctx context.Context, now, event time.Time) error {
	changed, _, err := w.exec(ctx, "UPDATE leases SET until = ? WHERE datacenter = ? AND writer = ?", nanos(now.Add(leaseFor)), w.datacenter, w.id)
	if err == nil && changed == 0 {
		err = errNoLease
	}
	if err != nil || w.observation == 0 || event.IsZero() {
		return err
	}
	w.beatAt = now.Add(heartbeat - batchDelay)
	_, _, err = w.exec(ctx, "UPDATE observations SET seen = max(seen, ?) WHERE id = ?", nanos(event), w.observation)
	return err
}

// stopObserving ends the current period at a time, or at its latest heartbeat if the time is zero. It does nothing if
// there is no current period.
func (w *Writer) stopObserving(ctx context.Context, at time.Time, ending string) error {
	if w.observation == 0 {
		return nil
	}
	_, _, err := w.exec(ctx, "UPDATE observations SET seen = max(started, ifnull(?1, seen)), ended = max(started, ifnull(?1, seen)), ending = ?2 WHERE id = ?3",
		null(nanos(at)), ending, w.observation)
	w.observation = 0
	return err
}

// wallNow returns the time without a monotonic reading, because the monotonic clock stops while the machine is
// suspended.
func wallNow() time.Time { return time.Now().Round(0) }
