package consulx

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// How many nodes' checks are watched at once: fewer where shards of keys take
// most of the connections.
const (
	maxCheckWatches   = 16
	tightCheckWatches = 8
)

// checkWatches keeps one blocking query for every node that is asked for.
type checkWatches struct {
	mu     sync.Mutex
	nodes  []string
	change chan struct{}
	// tight is set when connections are short.
	tight atomic.Bool
}

func newCheckWatches() *checkWatches { return &checkWatches{change: make(chan struct{}, 1)} }

func (w *checkWatches) set(nodes []string) {
	limit := maxCheckWatches
	if w.tight.Load() {
		limit = tightCheckWatches
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(nodes[:min(len(nodes), limit)])))
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Equal(w.nodes, wanted) {
		return
	}
	w.nodes = wanted
	select {
	case w.change <- struct{}{}:
	default:
	}
}

func (w *checkWatches) wanted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes
}

// run starts and ends queries as the set of nodes changes, until ctx ends, and
// waits for them.
func (w *checkWatches) run(ctx context.Context, start func(ctx context.Context, node string)) {
	running := map[string]context.CancelFunc{}
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		wanted := w.wanted()
		for node, cancel := range running {
			if !slices.Contains(wanted, node) {
				cancel()
				delete(running, node)
			}
		}
		for _, node := range wanted {
			if running[node] == nil && node != "" {
				nctx, cancel := context.WithCancel(ctx)
				running[node] = cancel
				wg.Go(func() { start(nctx, node) })
			}
		}
		select {
		case <-ctx.Done():
			for _, cancel := range running {
				cancel()
			}
			return
		case <-w.change:
		}
	}
}

// watchChecks asks for the checks of one node until ctx ends.
func (o *Observer) watchChecks(ctx context.Context, node string, r *rounds) {
	l := &loop{question: &checkQuestion{o: o, node: node}, wait: o.wait, rounds: r, options: o.client.read}
	l.run(ctx)
}

// checkQuestion asks for the checks of one node.
type checkQuestion struct {
	o      *Observer
	node   string
	answer []election.Check
	last   []election.Check
	asked  bool
}

func (k *checkQuestion) ask(q *api.QueryOptions) (*api.QueryMeta, error) {
	checks, meta, err := k.o.client.api.Health().Node(k.node, q)
	if err != nil {
		return nil, k.o.client.wrap(err)
	}
	k.answer = toChecks(checks)
	return meta, nil
}

func (k *checkQuestion) take(_ context.Context, meta *api.QueryMeta, gap bool) (bool, error) {
	if k.asked && !gap && slices.Equal(k.answer, k.last) {
		return false, nil
	}
	read := election.ChecksRead{At: time.Now(), Node: k.node, Checks: k.answer, Partial: k.o.client.filtered(meta)}
	if len(k.answer) == 0 && (k.o.client.filtered(meta) || len(k.last) > 0 && k.o.client.doubtful(meta)) {
		read.Err = "not readable with this token"
	}
	k.last, k.asked = k.answer, true
	k.o.send(true, read)
	return true, nil
}

func (k *checkQuestion) failed(err error, _ time.Time) {
	k.asked = false
	k.o.send(true, election.ChecksRead{At: time.Now(), Node: k.node, Err: Describe(err)})
}
