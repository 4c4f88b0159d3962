// Package feed passes the observations of a store to a tracker, and delivers the tracker's events and snapshots. It does
// not depend on the kind of store.
package feed

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/crash"
)

const (
	// SnapshotGap limits snapshots to 30 a second.
	SnapshotGap = 33 * time.Millisecond
	// recallPatience is how long events, but no snapshots, wait at most for the read of the history. recallDelay is how long
	// this read waits at most for the first complete board, which it would delay.
	recallPatience = 2 * time.Second
	recallDelay    = time.Second
)

// Options configure an observer.
type Options struct {
	Patterns election.Patterns
	Store    election.Store
	// OnEvents receives every event, in order and one call at a time. It must not block and must not call the
	// observer.
	OnEvents func([]election.Event)
	// OnMark receives the first complete snapshot, another one after each change of the patterns, and one after each call
	// of [Feed.Mark], with the patterns of the snapshot. It is called between two calls of OnEvents: the snapshot
	// contains exactly the events before it. The rules of OnEvents apply.
	OnMark func(*election.Snapshot, election.Patterns)
	// Logger receives failed queries at level debug; nil discards them.
	Logger *slog.Logger
	// Wait is how long a query waits for a change; 0 means the default of the store.
	Wait time.Duration
	// EventsOnly ends the snapshots after the first complete one. A snapshot is expensive if there are many
	// elections.
	EventsOnly bool
	// Recall, if not nil, reads the elections from a history. The feed calls it once. Recall must handle its own
	// errors.
	Recall func(ctx context.Context) election.HistoryRead
	// RecallPatience is how long events wait at most for Recall; 0 means 2 s.
	RecallPatience time.Duration
	// Replay is set if the changes before the start that the store can report are repeated, although the history does not
	// contain the cluster.
	Replay bool
	// ExplainWithin is how long a lost leader waits at most for its cause; 0 means 1 s.
	ExplainWithin time.Duration
}

// Hooks connect a feed to the observer of a store. The feed waits for their end.
type Hooks struct {
	// Watch sends observations of the keys that the patterns select until ctx ends. It is called again when the patterns
	// were replaced.
	Watch func(ctx context.Context, ps election.Patterns)
	// Checks, if not nil, sends the health checks of a node, and Sessions the list of all sessions, until ctx ends.
	Checks   func(ctx context.Context, node string)
	Sessions func(ctx context.Context, _ string)
	// Study sends the surroundings of an election once. It returns the time until the next read while no events occur.
	Study func(ctx context.Context, key string) (next time.Duration)
	// Replay, if not nil, returns the observations between the history and the first read.
	Replay func(ctx context.Context, past election.HistoryRead) []election.Observation
	// Explain returns the evidence for terms that ended.
	Explain func(ctx context.Context, lost []Loss) []election.Observation
	// Complete, if not nil, is called when every key of the patterns has been read. Jumped is called if this process did
	// not run for some time, so that connections may be dead; nil calls Watch again. The feed holds its lock during both
	// calls: they must neither block nor call the feed, except for Go.
	Complete, Jumped func()
}

// Loss is the end of a term. Deleted is set if the key no longer existed.
type Loss struct {
	election.Event
	Deleted bool
}

// Feed passes observations to the tracker and delivers the tracker's events. Both steps run on the goroutine that read
// the response, because a transfer to another goroutine would be as expensive as the read.
type Feed struct {
	Options  Options
	work     sync.WaitGroup
	mu       sync.Mutex
	hooks    Hooks
	tracker  *tracker.Tracker
	delivery delivery
	clock    *time.Timer // timer for the tracker's deadline
	ended    bool        // the feed drops later observations
	beat     time.Time   // latest time at which this process is known to have run
	complete bool        // every key of the patterns has been read
	// marking is set if onMark must receive the next complete snapshot.
	marking bool

	patterns election.Patterns  // of the tracker
	next     election.Patterns  // that replace them, or nil
	rewatch  context.CancelFunc // ends the running call of Hooks.Watch

	checks, study, sessions *selection
	happened                chan struct{} // receives a signal when an event belongs to the election under study

	snapshots chan *election.Snapshot
	timer     *time.Timer // timer for a delayed snapshot
	last      time.Time
	pending   bool
	loaded    bool   // the latest snapshot was complete
	onBoard   func() // called after every complete snapshot, and when a query failed
	explain   func([]Loss)
}

// New returns an idle feed; see [Feed.Run].
func New(o Options) *Feed {
	if o.OnEvents == nil {
		o.OnEvents = func([]election.Event) {}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.ExplainWithin = cmp.Or(o.ExplainWithin, tracker.ExplainWithin)
	o.RecallPatience = cmp.Or(o.RecallPatience, recallPatience)
	tracked := tracker.Options{Patterns: o.Patterns, Store: o.Store, Searches: !o.EventsOnly, ExplainWithin: o.ExplainWithin}
	if o.Recall != nil {
		if tracked.Recall = o.RecallPatience; !o.EventsOnly {
			tracked.Recall += 2 * recallDelay
		}
	}
	return &Feed{
		Options: o, tracker: tracker.New(tracked), clock: StoppedTimer(), timer: StoppedTimer(),
		marking: o.OnMark != nil, patterns: o.Patterns, rewatch: func() {}, onBoard: func() {}, explain: func([]Loss) {}, snapshots: make(chan *election.Snapshot, 1),
		checks: newSelection(0), study: newSelection(1), sessions: newSelection(1), happened: make(chan struct{}, 1),
	}
}

// Snapshots returns a channel with the newest snapshot, at most 30 per second. A newer snapshot replaces a snapshot
// that was not received. [Feed.Run] closes the channel.
func (f *Feed) Snapshots() <-chan *election.Snapshot { return f.snapshots }

// Snapshot returns the current state, even with Options.EventsOnly.
func (f *Feed) Snapshot() *election.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tracker.Snapshot(time.Now())
}

// Note passes an action of this program to the tracker, so that the tracker can explain its effect.
func (f *Feed) Note(a election.OperatorAction) { f.Send(true, a) }

// Patterns returns the patterns of the snapshots.
func (f *Feed) Patterns() election.Patterns {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.patterns
}

// SetPatterns replaces the patterns and returns immediately. Elections that match both old and new patterns remain. The
// other elections are removed without events.
func (f *Feed) SetPatterns(ps election.Patterns) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = ps
	f.rewatch()
}

// watch calls the hook until ctx ends.
func (f *Feed) watch(ctx context.Context) {
	for ctx.Err() == nil {
		watching, cancel := context.WithCancel(ctx)
		f.mu.Lock()
		ps := f.next
		f.next, f.rewatch = nil, cancel
		f.mu.Unlock()
		if ps != nil {
			f.Send(true, election.PatternsSet{At: time.Now(), Patterns: ps})
		}
		f.hooks.Watch(watching, f.Patterns())
		cancel()
	}
}

// Go starts a goroutine for which Run waits. It must end when the context of the run ends.
func (f *Feed) Go(work func()) { crash.Go(&f.work, work) }

// Run observes with the hooks that start returns, until ctx ends, and waits for its goroutines. It must be called only
// once.
func (f *Feed) Run(ctx context.Context, start func(ctx context.Context) Hooks) {
	defer close(f.snapshots)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := time.Now()
	board, complete := context.WithTimeout(ctx, recallDelay)
	defer complete()
	hooks := start(ctx)
	f.mu.Lock()
	f.beat, f.onBoard, f.hooks = time.Now(), complete, hooks
	f.explain = func(lost []Loss) {
		f.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, f.Options.ExplainWithin*9/10) // the tracker needs the evidence in time
			defer cancel()
			f.Send(true, hooks.Explain(ctx, lost)...)
		})
	}
	f.mu.Unlock()
	f.Go(func() { f.watch(ctx) })
	f.Go(func() { f.serve(ctx, f.study, f.survey) })
	f.Go(func() { f.serve(ctx, f.sessions, hooks.Sessions) })
	if hooks.Checks != nil {
		f.Go(func() { f.serve(ctx, f.checks, hooks.Checks) })
	}
	if f.Options.Recall != nil {
		f.Go(func() {
			if !f.Options.EventsOnly {
				<-board.Done()
				frame, drawn := context.WithTimeout(ctx, max(SnapshotGap, min(recallDelay, time.Since(started)/2))) // the screen draws the board
				<-frame.Done()
				drawn()
			}
			past := f.Options.Recall(ctx)
			if hooks.Replay != nil {
				past.Replayed = hooks.Replay(ctx, past)
			}
			past.At = time.Now()
			f.Send(true, past)
		})
	}
	f.keepTime(ctx)
	cancel()
	f.work.Wait()
}

// Send applies several observations under one lock, so that no snapshot contains only some of them, and delivers their
// events. news forces a snapshot. The caller must not hold a lock.
func (f *Feed) Send(news bool, observations ...election.Observation) {
	f.Fold(news, observations...)
	f.Deliver()
}

// Fold is [Feed.Send] without the delivery. Afterwards, the caller must call Deliver without holding a lock.
func (f *Feed) Fold(news bool, observations ...election.Observation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	news = f.checkClock() || news
	for _, observation := range observations {
		news = f.observe(observation) || news
	}
	if !f.complete && f.hooks.Complete != nil && f.tracker.Loaded() && !f.tracker.Waits() {
		f.complete = true
		f.hooks.Complete()
	}
	f.mark()
	if news {
		f.publishSoon()
	}
	if at := f.tracker.Deadline(); !at.IsZero() {
		f.clock.Reset(max(0, time.Until(at)))
	} else {
		f.clock.Stop()
	}
}

// mark queues a complete snapshot for onMark behind the events that it contains. The snapshot names its datacenter,
// because a history stores it under this name. The caller holds the mutex.
func (f *Feed) mark() {
	if !f.marking || !f.tracker.Loaded() || f.tracker.Interrupted() || f.tracker.Waits() {
		return
	}
	if s := f.tracker.Snapshot(time.Now()); s.Datacenter != "" {
		f.marking = false
		ps := f.patterns
		f.delivery.add(func() { f.Options.OnMark(s, ps) })
	}
}

// Mark requests another call of OnMark, as soon as every key has been read. OnEvents and OnMark must not call it.
func (f *Feed) Mark() {
	f.mu.Lock()
	f.checkClock()
	f.marking = f.Options.OnMark != nil
	f.mark()
	f.mu.Unlock()
	f.Deliver()
}

// observe applies one observation and queues its events.
func (f *Feed) observe(observation election.Observation) (news bool) {
	events := f.tracker.Observe(observation)
	switch o := observation.(type) {
	case election.PatternsSet:
		f.patterns, f.marking, f.complete = o.Patterns, f.Options.OnMark != nil, false
	case election.LinkLost:
		f.Options.Logger.Debug("query failed", "query", o.Source, "error", o.Error)
		f.onBoard() // the history is all that can be shown
	}
	if len(events) == 0 {
		return false
	}
	f.delivery.add(func() { f.Options.OnEvents(events) })
	studied := f.study.selected()
	var lost []Loss
	for i, e := range events {
		if slices.Contains(studied, e.Key) {
			Notify(f.happened)
		}
		if e.Type == election.Vacated && !e.Initial {
			next := events[min(i+1, len(events)-1)]
			lost = append(lost, Loss{e, next.Type == election.Deleted && next.Key == e.Key})
		}
	}
	if len(lost) > 0 {
		f.explain(lost)
	}
	return true
}

// keepTime processes timer events until ctx ends.
func (f *Feed) keepTime(ctx context.Context) {
	defer f.clock.Stop()
	defer f.timer.Stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			f.Send(false)
		case <-ctx.Done():
			f.mu.Lock()
			f.ended = true
			f.mu.Unlock()
			return
		case now := <-f.clock.C:
			f.Send(true, election.Clock{At: now})
		case <-f.timer.C:
			f.mu.Lock()
			if f.pending {
				f.publish()
			}
			f.mu.Unlock()
			f.Deliver()
		}
	}
}

// publishSoon publishes a snapshot immediately or after SnapshotGap. It never delays the first complete board.
func (f *Feed) publishSoon() {
	rest := SnapshotGap - time.Since(f.last)
	switch {
	case f.Options.EventsOnly && (f.loaded || f.tracker.Waits()):
	case rest <= 0 && !f.pending, !f.loaded && f.tracker.Loaded():
		f.publish()
	case !f.pending:
		f.pending = true
		f.timer.Reset(rest)
	}
}

func (f *Feed) publish() {
	f.timer.Stop()
	f.last, f.pending = time.Now(), false
	snapshot := f.tracker.Snapshot(f.last)
	f.loaded = snapshot.Loaded
	select {
	case <-f.snapshots:
	default:
	}
	f.snapshots <- snapshot
	if f.loaded {
		f.onBoard()
	}
}

// StoppedTimer returns a timer that must be reset before it fires.
func StoppedTimer() *time.Timer {
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

// Deliver calls OnEvents and OnMark with what [Feed.Fold] has queued, in order. If another goroutine already does, Deliver
// returns immediately, and that goroutine also makes the new calls.
func (f *Feed) Deliver() {
	d := &f.delivery
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
