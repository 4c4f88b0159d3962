// Package observe turns Consul's responses to blocking queries into the observations of package election. An observer
// reads states, not transitions: Consul merges changes between two responses.
package observe

import (
	"cmp"
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
	"electop/election/tracker"
	"electop/internal/crash"
	"electop/internal/feed"
)

// firstPatience is how long the first responses are delayed at most to wait for the datacenter's name, which all events
// contain.
const firstPatience = time.Second

// sessionPatience is how long a response about keys is delayed at most to wait for the sessions of new leaders.
const sessionPatience = 50 * time.Millisecond

// Observer watches the elections of the patterns.
type Observer struct {
	client     *consulx.Client
	options    feed.Options
	patterns   atomic.Pointer[election.Patterns]
	replaced   chan struct{} // signals that next contains other patterns
	nextMu     sync.Mutex
	next       election.Patterns
	watches    int          // maximum number of blocking queries for keys
	keyQueries atomic.Int64 // running blocking queries for keys
	// arrange computes the next layout. Only tests replace this function.
	arrange func(l layout, keys []listedKey, present []watch) []watch

	*feed.Feed
	epochs *consulx.Epochs
	ready  <-chan struct{} // channel that is closed when the tracker can receive responses about keys

	checks      *watchSet
	study       *study
	sessionList *watchSet
	sessions    *sessionCache
}

// New returns an idle observer; see [Observer.Run].
func New(c *consulx.Client, o feed.Options) *Observer {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Wait <= 0 {
		o.Wait = consulx.DefaultWait
	}
	o.ExplainWithin = cmp.Or(o.ExplainWithin, tracker.ExplainWithin)
	observer := &Observer{
		client: c, options: o, replaced: make(chan struct{}, 1),
		watches: c.KeyQueries(), arrange: layout.Next, Feed: feed.New(o),
		checks: newWatchSet(0), sessionList: newWatchSet(1),
	}
	observer.study = &study{o: observer, wake: make(chan struct{}, 1), cancel: func() {}}
	observer.patterns.Store(&o.Patterns)
	if name := c.Datacenter(); name != "" { // every snapshot must contain the datacenter's name
		observer.Send(false, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
	}
	observer.sessions = newSessionCache(c, o.Wait/2, observer.Go, func(late []*election.Session) {
		observer.Send(true, election.SessionsRead{At: time.Now(), Sessions: late})
	})
	return observer
}

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
	return o.Feed.Run(ctx, func(ctx context.Context) feed.Hooks {
		o.epochs = consulx.NewEpochs(ctx)
		o.sessions.ctx = ctx
		if slices.ContainsFunc(o.Patterns(), func(p election.Pattern) bool { return !p.Exact() && !p.Excludes() }) {
			o.sessions.ReadFirst()
		}
		o.searchIdle(ctx)
		return feed.Hooks{
			Watch: func() { o.watchAll(ctx) },
			Happened: func(events []election.Event, find func(string) *election.Election) {
				o.study.happened(events)
				if lost := o.losses(events, find); len(lost) > 0 {
					o.Go(func() { o.investigate(ctx, lost) })
				}
			},
			Jumped: o.jumped,
		}
	})
}

// jumped replaces the connections, which may be dead.
func (o *Observer) jumped() {
	o.client.Close()
	o.epochs.Next()
}

// watchAll runs all queries until ctx ends.
func (o *Observer) watchAll(ctx context.Context) {
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
			o.Send(true, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
			return
		}
		first()
		epoch, _ := o.epochs.Current()
		consulx.Sleep(epoch, b.Next())
	}
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
	l.o.Send(true, lossOf(l.source, l.part, err, l.at, retryAt))
}

func (l *link) restore(a consulx.Answer) {
	l.at = time.Now()
	if l.lost && !a.Rejected {
		l.lost = false
		l.o.Send(true, election.LinkUp{At: l.at, Source: l.source})
	}
}

// end clears a reported failure.
func (l *link) end() {
	if l.lost {
		l.o.Send(true, election.LinkUp{At: time.Now(), Source: l.source})
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
