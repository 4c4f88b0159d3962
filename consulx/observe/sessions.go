package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// sessionListGap limits the lists of all sessions to two per second, because every change to the datacenter's sessions
// ends the blocking query.
const sessionListGap = 500 * time.Millisecond

// WatchSessions adds every session of the datacenter to the snapshots while on is true. Initially it is off.
func (o *Observer) WatchSessions(on bool) {
	if on {
		o.sessionList.set([]string{"all"})
	} else {
		o.sessionList.set(nil)
	}
}

// watchSessions polls all sessions until ctx ends, and then marks the list as outdated.
func (o *Observer) watchSessions(ctx context.Context, _ string) {
	q := &sessionsPoller{link: link{o: o, source: "sessions", part: election.Part{Kind: election.PartSessions}}}
	defer q.end()
	o.poll(ctx, q, consulx.Position{}, false)
	o.send(true, election.SessionListUnwatched{At: time.Now()})
}

// sessionsPoller reads every session of the datacenter.
type sessionsPoller struct {
	link
	answer []*election.Session
	last   []*election.Session
	asked  bool
	// problem is the reason why last may lack sessions. It is empty if last is complete.
	problem string
}

func (s *sessionsPoller) Poll(q *api.QueryOptions) (meta *api.QueryMeta, err error) {
	s.answer, meta, err = s.o.client.Reader(q).ListSessions(q)
	return meta, err
}

func (s *sessionsPoller) Accept(ctx context.Context, a consulx.Answer) (bool, error) {
	at, meta := time.Now(), a.QueryMeta
	if len(s.answer) == 0 && len(s.last) > 0 && s.o.client.MayOmit(meta) {
		// A blocked query whose token was revoked returns one empty list. A new query returns the error.
		var err error
		if meta, err = s.Poll(s.o.client.Consistent(ctx)); err != nil {
			return false, err
		}
	}
	s.restore(a)
	sessions, err := s.answer, s.o.client.JudgeSessions(s.answer, meta)
	s.answer = nil
	problem, first := consulx.ReadProblem("sessions", err), !s.asked || a.Gap
	news := first || problem != s.problem || !sameSessions(sessions, s.last)
	s.last, s.asked, s.problem = sessions, true, problem
	if !news {
		return false, nil
	}
	read := election.SessionListRead{At: at, Sessions: sessions, Index: meta.LastIndex, AfterGap: first, Partial: errors.Is(err, consulx.ErrIncomplete)}
	if !read.Partial {
		read.Err, read.Denied = problem, consulx.LacksRule(err)
	}
	s.o.send(true, read)
	consulx.Sleep(ctx, sessionListGap-time.Since(at))
	return true, nil
}

func (s *sessionsPoller) Failed(err error, retryAt time.Time) {
	s.asked = false
	s.lose(err, retryAt)
	s.o.send(true, election.SessionListRead{At: time.Now(), Err: consulx.ReadProblem("sessions", err), Denied: consulx.LacksRule(err)})
}

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
	part := election.Part{Kind: election.PartChecks, Node: node}
	q := &checkPoller{link: link{o: o, source: "checks of " + node, part: part}, node: node}
	defer q.end()
	o.poll(ctx, q, consulx.Position{}, false)
	o.send(true, election.ChecksUnwatched{At: time.Now(), Node: node})
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
	k.o.send(true, read)
	return true, nil
}

func (k *checkPoller) Failed(err error, retryAt time.Time) {
	k.asked = false
	k.lose(err, retryAt)
	k.o.send(true, election.ChecksRead{At: time.Now(), Node: k.node, Err: consulx.Describe(err)})
}
