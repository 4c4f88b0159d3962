package cli

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// inspect finds the problems of the chosen elections, in their order.
func (r *rescue) inspect(ctx context.Context, chosen []*election.Election) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var vacant, held []*election.Election
	for _, e := range chosen {
		switch s := e.Session; {
		case e.State(r.snapshot.At) == election.OfSemaphore:
		case !e.Exists || !e.Pair.Held():
			vacant = append(vacant, e)
		case s != nil && s.TTL == 0: // see Board.Fix
			held = append(held, e)
		}
	}
	facts := r.surroundings(ctx, vacant)
	r.probe(ctx, facts)
	r.readNodes(ctx, held, facts)
	var sessions []*election.Session
	for _, f := range facts {
		if f.Around != nil {
			sessions = f.Around.Sessions // the same for all
		}
	}
	r.board = insight.NewBoard(r.snapshot.Elections, sessions)
	for _, e := range chosen {
		f := facts[e]
		if f == nil || f.taken {
			continue
		}
		if fix := r.board.Fix(e, f.FixFacts); fix != nil {
			r.items = append(r.items, &rescueItem{election: e, fix: fix})
		}
	}
}

// rescueFacts are the facts about one election.
type rescueFacts struct {
	insight.FixFacts
	taken bool // a session acquired the key after the first read
}

func (f *rescueFacts) probed(found consulx.ProbeResult) {
	switch found.State {
	case consulx.LockHeld:
		f.taken = true
	case consulx.LockDelayed:
		f.Delay = insight.DelayActive
	case consulx.LockFree:
		f.Delay = insight.DelayNone
	}
}

func (r *rescue) surroundings(ctx context.Context, vacant []*election.Election) map[*election.Election]*rescueFacts {
	facts := map[*election.Election]*rescueFacts{}
	if len(vacant) == 0 {
		return facts
	}
	keys := make([]string, len(vacant))
	for i, e := range vacant {
		keys[i] = e.Key()
	}
	for i, around := range consulx.Surveys(ctx, r.client, keys) {
		facts[vacant[i]] = &rescueFacts{FixFacts: insight.FixFacts{Now: r.snapshot.At, Around: &around}}
	}
	return facts
}

// probe asks Consul for the lock-delay of each vacant election. Without the permission
// the lock-delay stays unknown.
func (r *rescue) probe(ctx context.Context, facts map[*election.Election]*rescueFacts) {
	if r.o.readOnly {
		return
	}
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for e, f := range facts {
		if e.Unaddressable || e.Unreadable {
			continue
		}
		g.Go(func() error {
			if found, err := consulx.ProbeLockDelay(ctx, r.client, e.Key()); err == nil {
				f.probed(found)
			}
			return nil
		})
	}
	_ = g.Wait() // the facts have the results
}

// readNodes reads the checks of the leaders' nodes.
func (r *rescue) readNodes(ctx context.Context, held []*election.Election, facts map[*election.Election]*rescueFacts) {
	checks := map[string][]election.Check{}
	for _, e := range held {
		checks[e.Session.Node] = nil
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for _, node := range slices.Sorted(maps.Keys(checks)) { // the map changes meanwhile
		g.Go(func() error {
			read := consulx.NodeChecks(ctx, r.client, node)
			mu.Lock()
			defer mu.Unlock()
			checks[node] = read.Checks
			return nil
		})
	}
	_ = g.Wait() // without its checks, a node gives no evidence
	for _, e := range held {
		facts[e] = &rescueFacts{FixFacts: insight.FixFacts{Now: r.snapshot.At, Checks: checks[e.Session.Node]}}
	}
}
