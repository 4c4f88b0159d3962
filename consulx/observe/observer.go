// Package observe turns Consul's responses to blocking queries into the observations of package election. An observer
// reads states, not transitions: Consul merges changes between two responses.
package observe

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/crash"
)

// firstPatience is how long the first responses are delayed at most to wait for the datacenter's name, which all events
// contain. recallPatience is how long events, but no snapshots, wait at most for the history, and recallDelay is how long
// the read of the history waits at most for the first complete board, which it would delay.
const (
	firstPatience  = time.Second
	recallPatience = 2 * time.Second
	recallDelay    = 300 * time.Millisecond
)

// sessionPatience is how long a response about keys is delayed at most to wait for the sessions of new leaders.
const sessionPatience = 50 * time.Millisecond

// Options configure an [Observer].
type Options struct {
	Patterns election.Patterns
	// OnEvents receives every event, in order and one call at a time. It must not block and must not call the
	// observer.
	OnEvents func([]election.Event)
	// OnMark receives the first complete snapshot, another one after each change of the patterns, and one after each call
	// of [Observer.Mark], with the patterns of the snapshot. It is called between two calls of OnEvents: the snapshot
	// contains exactly the events before it. The rules of OnEvents apply.
	OnMark func(*election.Snapshot, election.Patterns)
	// Logger receives failed queries at level debug; nil discards them.
	Logger *slog.Logger
	// Wait is the wait time of blocking queries. The observer shortens it by up to an eighth at random. 0 means 22 s.
	Wait time.Duration
	// EventsOnly ends the snapshots after the first complete one. A snapshot is expensive if there are many
	// elections.
	EventsOnly bool
	// Recall, if not nil, reads the elections from a history. The observer calls it once. Recall must handle its own
	// errors.
	Recall func(ctx context.Context) election.HistoryRead
}

// Observer watches the elections of the patterns.
type Observer struct {
	client     *consulx.Client
	options    Options
	patterns   atomic.Pointer[election.Patterns]
	replaced   chan struct{} // signals that next contains other patterns
	nextMu     sync.Mutex
	next       election.Patterns
	watches    int          // maximum number of blocking queries for keys
	keyQueries atomic.Int64 // running blocking queries for keys
	// arrange computes the next layout. Only tests replace this function.
	arrange  func(l layout, keys []listedKey, present []watch) []watch
	patience time.Duration // sessionPatience, unless a test replaces it

	feed
	started atomic.Bool
	epochs  *consulx.Epochs
	ready   <-chan struct{} // channel that is closed when the tracker can receive responses about keys

	checks         *watchSet
	study          *study
	sessionList    *watchSet
	sessions       *sessionCache
	investigations chan struct{}
	work           sync.WaitGroup // short-lived goroutines: session reads, investigations
}

// New returns an idle observer; see [Observer.Run].
func New(c *consulx.Client, o Options) *Observer {
	if o.OnEvents == nil {
		o.OnEvents = func([]election.Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Wait <= 0 {
		o.Wait = consulx.DefaultWait
	}
	observer := &Observer{
		client: c, options: o, replaced: make(chan struct{}, 1),
		watches: c.KeyQueries(), arrange: layout.Next, patience: sessionPatience, feed: newFeed(o),
		checks: newWatchSet(0), sessionList: newWatchSet(1), investigations: make(chan struct{}, maxInvestigations),
	}
	observer.study = &study{o: observer, wake: make(chan struct{}, 1), cancel: func() {}}
	observer.patterns.Store(&o.Patterns)
	if name := c.Datacenter(); name != "" { // every snapshot must contain the datacenter's name
		observer.tracker.Observe(election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
	}
	observer.sessions = newSessionCache(c, o.Wait/2, observer.work.Go, func(late []*election.Session) {
		observer.send(true, election.SessionsRead{At: time.Now(), Sessions: late})
	})
	return observer
}

// Snapshots returns a channel with the newest snapshot, at most 30 per second. A newer snapshot replaces a snapshot
// that was not received. [Observer.Run] closes the channel.
func (o *Observer) Snapshots() <-chan *election.Snapshot { return o.snapshots }

// Snapshot returns the current state, even with Options.EventsOnly.
func (o *Observer) Snapshot() *election.Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tracker.Snapshot(time.Now())
}

// Note passes an action of this program to the tracker, so that the tracker can explain its effect.
func (o *Observer) Note(a election.OperatorAction) { o.send(true, a) }

// WatchChecks adds the health checks of the first nodes to the snapshots: at most 16 nodes, fewer if too few
// connections are free. Each call replaces the nodes.
func (o *Observer) WatchChecks(nodes []string) { o.checks.set(nodes) }

// useKeys adds n to the number of running queries for keys. Queries for checks use the remaining connections.
func (o *Observer) useKeys(n int64) { o.checks.allow(o.client.CheckQueries(int(o.keyQueries.Add(n)))) }

// SetPatterns replaces the patterns and returns immediately. Elections that match both old and new patterns remain. The
// other elections are removed without events.
func (o *Observer) SetPatterns(ps election.Patterns) {
	o.nextMu.Lock()
	defer o.nextMu.Unlock()
	o.next = ps
	consulx.Notify(o.replaced)
}

// Patterns returns the current patterns.
func (o *Observer) Patterns() election.Patterns { return *o.patterns.Load() }

// Run observes until ctx ends, and waits for its goroutines. It fails only if it is called twice. If Consul is
// unreachable, Run retries, and the snapshots contain the error.
func (o *Observer) Run(ctx context.Context) error {
	if o.started.Swap(true) {
		return errors.New("the observer has already been run")
	}
	defer close(o.snapshots)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.epochs = consulx.NewEpochs(ctx)
	o.sessions.Start(ctx)
	if slices.ContainsFunc(o.Patterns(), func(p election.Pattern) bool { return !p.Exact() && !p.Excludes() }) {
		o.sessions.ReadFirst()
	}
	board, complete := context.WithTimeout(ctx, recallDelay)
	defer complete()
	o.mu.Lock()
	o.beat, o.onBoard = time.Now(), complete
	o.mu.Unlock()
	o.searchIdle(ctx)
	o.lookInto = func(lost []Loss) { crash.Go(&o.work, func() { o.investigate(ctx, lost) }) }
	var loops sync.WaitGroup
	crash.Go(&loops, func() { o.watchAll(ctx, board.Done()) })
	o.keepTime(ctx)
	cancel()
	loops.Wait()
	o.work.Wait()
	return nil
}

// watchAll runs all queries until ctx ends.
func (o *Observer) watchAll(ctx context.Context, board <-chan struct{}) {
	var all sync.WaitGroup
	defer all.Wait()
	crash.Go(&all, func() { o.probe(ctx) })
	crash.Go(&all, func() { o.checks.run(ctx, o.watchChecks) })
	crash.Go(&all, func() { o.study.run(ctx) })
	crash.Go(&all, func() { o.sessionList.run(ctx, o.watchSessions) })
	// The first responses wait for the datacenter's name. The end of ctx drops them, so it must not end their wait.
	ready, release := context.WithTimeout(context.WithoutCancel(ctx), firstPatience)
	defer release()
	o.ready = ready.Done()
	crash.Go(&all, func() {
		o.nameDatacenter(ctx, func() {
			if ctx.Err() == nil {
				release()
			}
		})
	})
	if o.options.Recall != nil {
		crash.Go(&all, func() {
			if !o.options.EventsOnly {
				<-board
			}
			past := o.options.Recall(ctx)
			past.At = time.Now()
			o.send(true, past)
		})
	}
	o.watchKeys(ctx)
}

// poll repeats the query of a poller until ctx ends; see [consulx.Loop].
func (o *Observer) poll(ctx context.Context, p consulx.Poller, from consulx.Position, assigned bool) {
	l := consulx.Loop{Poller: p, Wait: o.options.Wait, Epochs: o.epochs, Client: o.client, From: from, Assigned: assigned}
	l.Run(ctx)
}

// nameDatacenter reads the datacenter's name until it is known. It calls first after the first attempt.
func (o *Observer) nameDatacenter(ctx context.Context, first func()) {
	defer first()
	var b consulx.Backoff
	for ctx.Err() == nil {
		name, err := o.client.DatacenterName(ctx)
		if err == nil && name != "" {
			o.send(true, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
			return
		}
		first()
		epoch, _ := o.epochs.Current()
		consulx.Sleep(epoch, b.Next())
	}
}
