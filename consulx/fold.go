package consulx

import (
	"context"
	"sync"
	"time"

	"electop/election"
	"electop/election/tracker"
)

// snapshotGap keeps snapshots at 30 a second at most.
const snapshotGap = 33 * time.Millisecond

// folding is the tracker and what it found. The goroutine that read something
// folds it and delivers the events itself: handing them to another goroutine
// would cost as much as reading the response.
type folding struct {
	mu        sync.Mutex
	tracker   *tracker.Tracker
	delivery  delivery
	publisher publisher
	clock     *time.Timer  // at the tracker's deadline
	ended     bool         // nothing more is taken
	lookInto  func([]loss) // finds out why terms ended; it must not block
	beat      time.Time    // when this process was last known to run
	restart   func()       // has everything read again
}

const (
	beatEvery = time.Second
	// stallLimit is how much later than due this process may run before that is a
	// gap in observation: a fifth of the shortest TTL that Consul accepts.
	stallLimit = 2 * time.Second
)

// checkClock finds out whether this process did not run, as after SIGSTOP or while
// the machine sleeps, or the clock was set. It comes before anything is folded: a
// response that arrived meanwhile must not look as if it had been awaited. The
// mutex is held.
func (o *Observer) checkClock() (news bool) {
	if o.beat.IsZero() {
		return false // it does not run yet
	}
	now := time.Now()
	jump := tracker.ClockJump(o.beat, now, beatEvery+stallLimit)
	o.beat = now
	for _, observation := range jump {
		news = o.observe(observation) || news
		if _, gap := observation.(election.Gap); gap {
			o.restart()
		}
	}
	return news || len(jump) > 0
}

func newFolding(o ObserverOptions) folding {
	tracker := tracker.New(tracker.Options{Patterns: o.Patterns, RecentEvents: o.RecentEvents})
	return folding{tracker: tracker, clock: stoppedTimer(), publisher: publisher{
		tracker: tracker, snapshots: make(chan *election.Snapshot, 1), timer: stoppedTimer(), eventsOnly: o.EventsOnly,
	}}
}

// send folds what was learned and delivers the events.
func (o *Observer) send(news bool, observations ...election.Observation) {
	o.fold(news, observations...)
	o.deliver()
}

// fold folds what was learned at once: no snapshot shows a part of it. news says
// that there is something to show. The caller delivers the events when it holds
// no lock.
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
	o.publisher.changed(news)
	o.wind()
}

func (o *Observer) deliver() { o.delivery.deliver(o.onEvents) }

// observe folds one observation, tells the events and has losses looked into.
func (o *Observer) observe(observation election.Observation) (news bool) {
	events := o.tracker.Observe(observation)
	if len(events) == 0 {
		return false
	}
	o.delivery.add(events)
	o.study.happened(events)
	if lost := o.losses(events, observation); len(lost) > 0 {
		o.lookInto(lost)
	}
	return true
}

// wind sets the clock to the tracker's deadline.
func (o *Observer) wind() {
	if at, ok := o.tracker.Deadline(); ok {
		o.clock.Reset(max(0, time.Until(at)))
	} else {
		o.clock.Stop()
	}
}

// keepTime does what is due at some moment, until ctx ends.
func (o *Observer) keepTime(ctx context.Context) {
	defer o.clock.Stop()
	defer o.publisher.timer.Stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			o.send(false)
		case <-ctx.Done():
			o.mu.Lock()
			o.ended = true
			o.mu.Unlock()
			return
		case now := <-o.clock.C:
			o.mu.Lock()
			o.publisher.changed(o.observe(election.Clock{At: now}))
			o.wind()
			o.mu.Unlock()
			o.deliver()
		case <-o.publisher.timer.C:
			o.mu.Lock()
			if o.publisher.pending {
				o.publisher.publish()
			}
			o.mu.Unlock()
		}
	}
}

// publisher hands out snapshots, the newest only and not too many.
type publisher struct {
	tracker    *tracker.Tracker
	snapshots  chan *election.Snapshot
	eventsOnly bool

	timer   *time.Timer
	last    time.Time
	pending bool
	loaded  bool // the last one was
}

// changed publishes at once, or as soon as the gap since the last one is over.
// Nobody waits for the first whole board.
func (p *publisher) changed(news bool) {
	if !news || p.loaded && p.eventsOnly {
		return
	}
	rest := snapshotGap - time.Since(p.last)
	switch {
	case rest <= 0 && !p.pending, !p.loaded && p.tracker.Loaded():
		p.publish()
	case !p.pending:
		p.pending = true
		p.timer.Reset(rest)
	}
}

func (p *publisher) publish() {
	p.timer.Stop()
	p.last, p.pending = time.Now(), false
	snapshot := p.tracker.Snapshot(p.last)
	p.loaded = snapshot.Loaded
	select {
	case <-p.snapshots:
	default:
	}
	p.snapshots <- snapshot
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}
