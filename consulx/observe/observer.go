// Package observe turns Consul's responses to blocking queries into the observations of package election. An observer
// reads states, not transitions: Consul merges changes between two responses.
package observe

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
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
	areas      []*coverage  // of the latest patterns
	watches    int          // maximum number of blocking queries for keys
	keyQueries atomic.Int64 // running blocking queries for keys
	// arrange computes the next layout. Only tests replace this function.
	arrange func(l layout, keys []listedKey, present []watch) []watch

	*feed.Feed
	epochs *consulx.Epochs
	ready  chan struct{} // channel that is closed when the tracker can receive responses about keys

	study    study
	sessions *sessionCache
}

// New returns an idle observer; see [Observer.Run].
func New(c *consulx.Client, o feed.Options) *Observer {
	if o.Wait <= 0 {
		o.Wait = consulx.DefaultWait
	}
	observer := &Observer{
		client: c, watches: c.KeyQueries(), arrange: layout.Next, Feed: feed.New(o), ready: make(chan struct{}),
	}
	observer.study.o = observer
	if name := c.Datacenter(); name != "" { // every snapshot must contain the datacenter's name
		observer.Send(false, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
	}
	observer.sessions = &sessionCache{
		o: observer, ctx: context.Background(), forget: o.Wait / 2, known: map[string]*election.Session{},
		fetches: map[string]*fetch{}, absent: map[string]time.Time{}, held: map[string][]*election.Pair{},
	}
	return observer
}

// useKeys adds n to the number of running queries for keys. Queries for checks use the remaining connections.
func (o *Observer) useKeys(n int64) { o.AllowChecks(o.client.CheckQueries(int(o.keyQueries.Add(n)))) }

// Run observes until ctx ends, and waits for its goroutines. It must be called only once. If Consul is
// unreachable, Run retries, and the snapshots contain the error.
func (o *Observer) Run(ctx context.Context) {
	o.Feed.Run(ctx, func(ctx context.Context) feed.Hooks {
		o.epochs = consulx.NewEpochs(ctx)
		o.sessions.ctx = ctx
		if slices.ContainsFunc(o.Patterns(), func(p election.Pattern) bool { return !p.Exact() && !p.Excludes() }) {
			o.sessions.ReadFirst()
		}
		ready := sync.OnceFunc(func() { close(o.ready) })
		time.AfterFunc(firstPatience, ready)
		o.Go(func() { o.nameDatacenter(ctx, ready) })
		o.Go(func() { o.probe(ctx) })
		return feed.Hooks{
			Watch: o.watchKeys, Checks: o.watchChecks, Sessions: o.watchSessions, Study: o.study.visit, Explain: o.explain,
			Complete: func() {
				if !o.Options.EventsOnly {
					o.Go(func() { o.findIdle(ctx) })
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

// poll repeats the query of a poller until ctx ends; see [consulx.Loop].
func (o *Observer) poll(ctx context.Context, p consulx.Poller, from consulx.Position, assigned bool) {
	l := consulx.Loop{Poller: p, Wait: o.Options.Wait, Epochs: o.epochs, Client: o.client, From: from, Assigned: assigned}
	l.Run(ctx)
}

// nameDatacenter reads the datacenter's name until it is known. It calls first after the first attempt, unless ctx ended it.
func (o *Observer) nameDatacenter(ctx context.Context, first func()) {
	var b consulx.Backoff
	for name := ""; name == ""; {
		if name, _ = o.client.DatacenterName(ctx); name != "" {
			o.Send(true, election.DatacenterRead{At: time.Now(), Datacenter: sanitize.Text(name)})
		}
		if ctx.Err() != nil {
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

// Failed reports that the source does not respond.
func (l *link) Failed(err error, retryAt time.Time) {
	l.lost = true
	l.o.Send(true, lossOf(l.source, l.part, err, l.at, retryAt))
}

func (l *link) restore(a consulx.Answer) {
	l.at = time.Now()
	if !a.Rejected {
		l.end()
	}
}

// end clears a reported failure.
func (l *link) end() {
	if l.lost {
		l.lost = false
		l.o.Send(true, election.LinkUp{At: time.Now(), Source: l.source})
	}
}

// lossOf describes the failure of a source. seen is the time of the latest response of the source. After a timeout,
// the data counts as stale since seen, because the connection may have failed at any time after that response.
func lossOf(source string, part election.Part, err error, seen, retryAt time.Time) election.LinkLost {
	lost := election.LinkLost{
		At: time.Now(), Source: source, Part: part, Error: consulx.Describe(err), RetryAt: retryAt, Refused: consulx.IsDenied(err),
	}
	if consulx.Overdue(err) {
		lost.Since = seen
	}
	return lost
}
