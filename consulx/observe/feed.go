package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/tracker"
)

// snapshotGap limits snapshots to 30 a second.
const snapshotGap = 33 * time.Millisecond

// feed passes observations to the tracker and delivers the tracker's events. Both steps run on the goroutine that read
// the response, because a transfer to another goroutine would be as expensive as the read.
type feed struct {
	mu         sync.Mutex
	tracker    *tracker.Tracker
	delivery   delivery
	clock      *time.Timer  // timer for the tracker's deadline
	ended      bool         // the feed drops later observations
	lookInto   func([]Loss) // starts the search for the causes of ended terms; must not block
	beat       time.Time    // latest time at which this process is known to have run
	onComplete func()       // called when every key has been read; the caller holds the mutex; must not block
	// marking is set if onMark must receive the next complete snapshot. marked are the patterns of the tracker.
	marking bool
	marked  election.Patterns

	snapshots chan *election.Snapshot
	timer     *time.Timer // timer for a delayed snapshot
	last      time.Time
	pending   bool
	loaded    bool   // the latest snapshot was complete
	onBoard   func() // called after every complete snapshot
}

const (
	beatEvery = time.Second
	// stallLimit is the delay of this process above which the observation has a gap: a fifth of the shortest TTL that
	// Consul accepts.
	stallLimit = 2 * time.Second
)

// checkClock detects that the process was stopped (SIGSTOP), that the machine was suspended, or that the clock was
// changed. It must run before every observation, because a response that arrived during a suspension was not observed
// live. The caller holds the mutex.
func (o *Observer) checkClock() (jumped bool) {
	if o.beat.IsZero() {
		return false // Run has not started yet
	}
	now := time.Now()
	gap, jumped := election.ClockJump(o.beat, now, beatEvery+stallLimit)
	if o.beat = now; jumped {
		o.observe(gap)
		o.client.Close() // the connections may be dead
		o.epochs.Next()
	}
	return jumped
}

func newFeed(o Options) feed {
	tracked := tracker.Options{Patterns: o.Patterns, Searches: !o.EventsOnly}
	if o.Recall != nil {
		tracked.Recall = recallPatience
	}
	return feed{
		tracker: tracker.New(tracked), clock: stoppedTimer(), timer: stoppedTimer(),
		marking: o.OnMark != nil, marked: o.Patterns, onBoard: func() {}, snapshots: make(chan *election.Snapshot, 1),
	}
}

func (o *Observer) send(news bool, observations ...election.Observation) {
	o.fold(news, observations...)
	o.delivery.deliver()
}

// fold applies several observations under one lock, so that no snapshot contains only some of them. news forces a
// snapshot. Afterwards, the caller must call deliver without holding a lock.
func (o *Observer) fold(news bool, observations ...election.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	news = o.checkClock() || news
	for _, observation := range observations {
		news = o.observe(observation) || news
	}
	if o.onComplete != nil && o.tracker.Loaded() && !o.tracker.Waits() {
		o.onComplete()
		o.onComplete = nil
	}
	o.mark()
	if news {
		o.publishSoon()
	}
	o.wind()
}

// mark queues a complete snapshot for onMark behind the events that it contains. The snapshot names its datacenter,
// because a history stores it under this name. The caller holds the mutex.
func (o *Observer) mark() {
	if !o.marking || !o.tracker.Loaded() || o.tracker.Interrupted() || o.tracker.Waits() {
		return
	}
	if s := o.tracker.Snapshot(time.Now()); s.Datacenter != "" {
		o.marking = false
		ps := o.marked
		o.delivery.add(func() { o.options.OnMark(s, ps) })
	}
}

// Mark requests another call of OnMark, as soon as every key has been read. OnEvents and OnMark must not call it.
func (o *Observer) Mark() {
	o.mu.Lock()
	o.checkClock()
	o.marking = o.options.OnMark != nil
	o.mark()
	o.mu.Unlock()
	o.delivery.deliver()
}

// observe applies one observation, queues its events and starts investigations of ended terms.
func (o *Observer) observe(observation election.Observation) (news bool) {
	events := o.tracker.Observe(observation)
	if set, ok := observation.(election.PatternsSet); ok {
		o.marked, o.marking = set.Patterns, o.options.OnMark != nil
	}
	if len(events) == 0 {
		return false
	}
	o.delivery.add(func() { o.options.OnEvents(events) })
	o.study.happened(events)
	if lost := o.losses(events); len(lost) > 0 {
		o.lookInto(lost)
	}
	return true
}

// wind sets the timer to the tracker's next deadline.
func (o *Observer) wind() {
	if at, ok := o.tracker.Deadline(); ok {
		o.clock.Reset(max(0, time.Until(at)))
	} else {
		o.clock.Stop()
	}
}

// keepTime processes timer events until ctx ends.
func (o *Observer) keepTime(ctx context.Context) {
	defer o.clock.Stop()
	defer o.timer.Stop()
	beat := time.NewTimer(atFullSecond(beatEvery))
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			o.send(false)
			beat.Reset(atFullSecond(beatEvery))
		case <-ctx.Done():
			o.mu.Lock()
			o.ended = true
			o.mu.Unlock()
			return
		case now := <-o.clock.C:
			o.send(true, election.Clock{At: now})
		case <-o.timer.C:
			o.mu.Lock()
			if o.pending {
				o.publish()
			}
			o.mu.Unlock()
			o.delivery.deliver()
		}
	}
}

// publishSoon publishes a snapshot immediately or after snapshotGap. It never delays the first complete board.
func (o *Observer) publishSoon() {
	rest := snapshotGap - time.Since(o.last)
	switch {
	case o.options.EventsOnly && (o.loaded || o.tracker.Waits()):
	case rest <= 0 && !o.pending, !o.loaded && o.tracker.Loaded():
		o.publish()
	case !o.pending:
		o.pending = true
		o.timer.Reset(rest)
	}
}

func (o *Observer) publish() {
	o.timer.Stop()
	o.last, o.pending = time.Now(), false
	snapshot := o.tracker.Snapshot(o.last)
	o.loaded = snapshot.Loaded
	select {
	case <-o.snapshots:
	default:
	}
	o.snapshots <- snapshot
	if o.loaded {
		o.onBoard()
	}
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// delivery is an ordered queue of callbacks. It runs one at a time and holds no lock meanwhile.
type delivery struct {
	mu     sync.Mutex
	queue  []func()
	active bool // a goroutine is delivering
}

// add appends a callback. It never blocks.
func (d *delivery) add(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, f)
}

// deliver runs the queued callbacks in order. If another goroutine already does, deliver returns immediately, and that
// goroutine also runs the new callbacks.
func (d *delivery) deliver() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active {
		return
	}
	d.active = true
	for len(d.queue) > 0 {
		queue := d.queue
		d.queue = nil
		d.mu.Unlock()
		for _, f := range queue {
			f()
		}
		d.mu.Lock()
	}
	d.active = false
}

// link tracks whether one source of data responds.
type link struct {
	o      *Observer
	source string
	part   election.Part
	lost   bool
	at     time.Time // time of the latest response
}

func (l *link) lose(err error, retryAt time.Time) {
	l.lost = true
	l.o.options.Logger.Debug("query failed", "query", l.source, "error", consulx.Describe(err))
	l.o.send(true, lossOf(l.source, l.part, err, l.at, retryAt))
}

func (l *link) restore(a consulx.Answer) {
	l.at = time.Now()
	if l.lost && !a.Rejected {
		l.lost = false
		l.o.send(true, election.LinkUp{At: l.at, Source: l.source})
	}
}

// end clears a reported failure.
func (l *link) end() {
	if l.lost {
		l.o.send(true, election.LinkUp{At: time.Now(), Source: l.source})
	}
}

// lossOf describes the failure of a source. seen is the time of the latest response of the source. After a timeout,
// the data counts as stale since seen, because the connection may have failed at any time after that response.
func lossOf(source string, part election.Part, err error, seen, retryAt time.Time) election.LinkLost {
	lost := election.LinkLost{
		At: time.Now(), Source: source, Part: part, Error: consulx.Describe(err), RetryAt: retryAt, Refused: errors.Is(err, consulx.ErrDenied),
	}
	if consulx.Overdue(err) {
		lost.Since = seen
	}
	return lost
}
