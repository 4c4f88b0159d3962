package consulx

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// datacenterPatience is how long the first answers are held back for the
// datacenter's name, so that the first events carry it.
const datacenterPatience = time.Second

// ObserverOptions say what is observed and who is told.
type ObserverOptions struct {
	Patterns election.Patterns
	// OnEvents is told of every event, in order and one call at a time. It must
	// neither block nor call the observer.
	OnEvents func([]election.Event)
	// Logger is told of queries that fail, at the level debug. Nil discards.
	Logger *slog.Logger
	// Probe is how often Consul is asked for its leader; 0 means every second.
	Probe time.Duration
	// Wait is how long a blocking query waits, up to an eighth less by chance; 0
	// means 22 s.
	Wait time.Duration
	// MaxWatches bounds the connections that queries take which wait for news;
	// 0 means 64. More make changes seen sooner where there are thousands of
	// elections; an agent allows one address 200. The client's
	// Config.MaxConnections bounds it too.
	MaxWatches int
	// RecentEvents is how many events a snapshot carries; 0 is the tracker's
	// own choice.
	RecentEvents int
	// EventsOnly ends the snapshots with the first that is loaded: they cost
	// something for every election, changed or not.
	EventsOnly bool
}

// Observer watches the elections that the patterns name.
type Observer struct {
	client     *Client
	patterns   election.Patterns
	onEvents   func([]election.Event)
	log        *slog.Logger
	probeEvery time.Duration
	wait       time.Duration
	watches    int // over keys
	// arrange chooses the next layout; tests put restless ones in its place.
	arrange func(l layout, keys []listed, present []watch) []watch

	folding
	started atomic.Bool

	checks         *checkWatches
	study          *study
	sessionList    *toggle
	sessions       *sessionBook
	permissions    *permissions
	investigations chan struct{}
	work           sync.WaitGroup // short jobs: sessions, investigations
}

// NewObserver makes an observer that does nothing before [Observer.Run].
func NewObserver(c *Client, o ObserverOptions) *Observer {
	if o.OnEvents == nil {
		o.OnEvents = func([]election.Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Probe <= 0 {
		o.Probe = defaultProbe
	}
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	observer := &Observer{
		client: c, patterns: o.Patterns, onEvents: o.OnEvents, log: o.Logger, probeEvery: o.Probe, wait: o.Wait,
		watches: c.budget.forKeys(o.MaxWatches), arrange: layout.next, folding: newFolding(o),
		checks: newCheckWatches(), study: newStudy(), sessionList: newToggle(), permissions: newPermissions(), investigations: make(chan struct{}, maxInvestigations),
	}
	observer.sessions = newSessionBook(c, observer.work.Go, func(late []*election.Session) {
		observer.send(true, election.SessionsRead{At: time.Now(), Sessions: late})
	})
	return observer
}

// Snapshots gives the newest snapshot, at most 30 a second; those that nobody
// took in time are replaced. It is closed when [Observer.Run] returns.
func (o *Observer) Snapshots() <-chan *election.Snapshot { return o.publisher.snapshots }

// Note tells what this program does to a hold, so that the cause of its end is
// told right.
func (o *Observer) Note(a election.OperatorAction) { o.send(true, a) }

// WatchChecks keeps the health checks of these nodes in the snapshots, of the
// first 6 to 16 as connections allow. Each call replaces the set.
func (o *Observer) WatchChecks(nodes []string) { o.checks.set(nodes) }

// Run observes until ctx ends and returns when everything that it started has
// ended: nil, unless it was called twice. An unreachable Consul is no error: the
// snapshots tell of it, and it is tried again.
func (o *Observer) Run(ctx context.Context) error {
	if o.started.Swap(true) {
		return errors.New("an observer runs once")
	}
	defer close(o.publisher.snapshots)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRounds(ctx)
	defer r.stop()
	o.sessions.ctx = ctx
	if slices.ContainsFunc(o.patterns, func(p election.Pattern) bool { return !p.Exact() }) {
		o.sessions.readFirst()
	}
	o.mu.Lock()
	o.beat, o.restart = time.Now(), func() {
		o.client.Close() // connections may have died meanwhile
		r.next()
	}
	o.mu.Unlock()
	o.lookInto = func(lost []loss) { o.work.Go(func() { o.investigate(ctx, lost) }) }
	var loops sync.WaitGroup
	o.client.budget.onChange(o.checks.allow)
	loops.Go(func() { o.watchAll(ctx, r) })
	o.keepTime(ctx)
	cancel()
	loops.Wait()
	o.work.Wait()
	return nil
}

// watchAll runs everything that asks Consul until ctx ends.
func (o *Observer) watchAll(ctx context.Context, r *rounds) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { o.probe(ctx, r) })
	all.Go(func() {
		o.checks.run(ctx, func(ctx context.Context, node string) { o.watchChecks(ctx, node, r) })
	})
	all.Go(func() { o.sessions.retry(ctx) })
	all.Go(func() { o.study.run(ctx, o) })
	all.Go(func() {
		o.sessionList.run(ctx, func(ctx context.Context) { o.watchSessions(ctx, r) })
	})
	named := make(chan struct{})
	all.Go(func() { o.nameDatacenter(ctx, r, named) })
	areas := planWatches(o.patterns, o.watches)
	for _, w := range areas {
		a := newArea(o, w, max(1, o.watches/len(areas)-1), r, named)
		all.Go(func() { a.run(ctx) })
	}
}

// nameDatacenter finds out where the answers come from. It closes named when it
// knows or when others need not wait any longer.
func (o *Observer) nameDatacenter(ctx context.Context, r *rounds, named chan<- struct{}) {
	var once sync.Once
	release := func() { once.Do(func() { close(named) }) }
	defer release()
	patience := time.AfterFunc(datacenterPatience, release)
	defer patience.Stop()
	var b backoff
	for name := o.client.datacenter; ctx.Err() == nil; {
		if name != "" {
			o.send(true, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
			return
		}
		info, err := o.client.Info(ctx)
		if name = info.Datacenter; err != nil || name == "" {
			release()
			sleep(r.current(), b.next())
		}
	}
}
