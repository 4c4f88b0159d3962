package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// watchSet runs one blocking query for each requested name, such as a node, up to limit names.
type watchSet struct {
	mu     sync.Mutex
	asked  []string // requested names, the most important first
	limit  int
	change chan struct{}
}

func newWatchSet(limit int) *watchSet { return &watchSet{limit: limit, change: make(chan struct{}, 1)} }

// set replaces the requested names.
func (w *watchSet) set(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = slices.Clone(names)
	consulx.Notify(w.change)
}

// allow sets the maximum number of watched names.
func (w *watchSet) allow(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
	consulx.Notify(w.change)
}

// wanted returns the names to watch, without duplicates.
func (w *watchSet) wanted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.asked[:min(len(w.asked), w.limit)])))
}

// run starts and ends queries when the set of watched names changes. When ctx ends, it waits for all queries.
func (w *watchSet) run(ctx context.Context, start func(ctx context.Context, node string)) {
	running := map[string]func(){} // each function ends a query and waits until it has ended
	defer func() { endAll(running, nil) }()
	for {
		wanted := w.wanted()
		endAll(running, wanted)
		for _, node := range wanted {
			if running[node] == nil && node != "" {
				nctx, cancel := context.WithCancel(ctx)
				done := make(chan struct{})
				running[node] = func() { cancel(); <-done }
				go func() {
					defer close(done)
					start(nctx, node)
				}()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-w.change:
		}
	}
}

// endAll ends the queries for nodes that are no longer requested, and waits until these queries have ended. Otherwise
// a late report could mark a node that is requested again as unwatched.
func endAll(running map[string]func(), wanted []string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for node, end := range running {
		if !slices.Contains(wanted, node) {
			wg.Go(end)
			delete(running, node)
		}
	}
}

// watchChecks polls the health checks of one node until ctx ends, and then marks them as outdated.
func (o *Observer) watchChecks(ctx context.Context, node string) {
	part := election.Part{Kind: election.PartChecks}
	q := &checkPoller{link: link{o: o, source: "checks of " + node, part: part}, node: node}
	defer q.end()
	o.poll(ctx, q, consulx.Position{}, false)
	o.Send(true, election.ChecksUnwatched{At: time.Now(), Node: node})
}

// checkPoller reads the health checks of one node.
type checkPoller struct {
	link
	node   string
	answer []election.Check
	last   []election.Check
	asked  bool
}

func (k *checkPoller) Poll(q *api.QueryOptions) (*api.QueryMeta, error) {
	checks, meta, err := k.o.client.Reader(q).API().Health().Node(k.node, q)
	if err != nil {
		return nil, k.o.client.Wrap(err)
	}
	k.answer = consulx.ChecksOf(checks)
	return meta, nil
}

func (k *checkPoller) Accept(_ context.Context, a consulx.Answer) (bool, error) {
	k.restore(a)
	if k.asked && !a.Gap && slices.Equal(k.answer, k.last) {
		return false, nil
	}
	read := election.ChecksRead{At: time.Now(), Node: k.node, Checks: k.answer, Partial: k.o.client.Filtered(a.QueryMeta)}
	if len(k.answer) == 0 && (k.o.client.Filtered(a.QueryMeta) || len(k.last) > 0 && k.o.client.MayOmit(a.QueryMeta)) {
		read.Err = "not readable with this token"
	}
	k.last, k.asked = k.answer, true
	k.o.Send(true, read)
	return true, nil
}

func (k *checkPoller) Failed(err error, retryAt time.Time) {
	k.asked = false
	k.lose(err, retryAt)
	k.o.Send(true, election.ChecksRead{At: time.Now(), Node: k.node, Err: consulx.Describe(err)})
}
