package observe

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/crash"
	"electop/internal/feed"
)

const (
	// settleAfter and settlePace, per known key, delay a layout after the keys of a shard have changed, so that the first
	// board is drawn earlier and layouts need little CPU time.
	settleAfter = 100 * time.Millisecond
	settlePace  = 10 * time.Microsecond
	// listGrace is the time that a shard has to respond after a list of names.
	listGrace = 100 * time.Millisecond
)

// coverage reads all keys under one prefix: few keys with one query, many keys with shards. No change between two
// layouts is lost, because new shards continue at the positions of the shards that they replace, or read all keys
// again. See docs/architecture.md.
type coverage struct {
	o      *Observer
	layout layout
	first  keyState // initial state of the first shard

	moved   chan struct{} // receives a signal when the keys of a shard change
	lists   chan listing  // nil if no query reads the names
	list    listing
	due     listing // the list with which compare will compare the shards
	open    map[watch]*keyPoller
	finding context.CancelFunc // cancels the query for the names
	loops   sync.WaitGroup
}

// run polls until ctx ends and waits for its queries.
func (a *coverage) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer a.loops.Wait()
	defer cancel() // without this call, Wait would block after a panic
	a.start(ctx, a.layout.Root, a.first)
	settle, check := feed.StoppedTimer(), feed.StoppedTimer()
	defer settle.Stop()
	defer check.Stop()
	for moved := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-a.moved:
			if !moved {
				moved = true
				settle.Reset(settleAfter + time.Duration(len(a.list.names))*settlePace)
			}
		case <-settle.C:
			moved = false
			a.settle(ctx)
		case list := <-a.lists:
			before := a.list
			if a.list = list; before.at.IsZero() || differ(before.names, list.names) {
				a.settle(ctx)
			}
			if a.due.at.IsZero() { // a later list must not delay the comparison with this one
				a.due = list
				check.Reset(listGrace)
			}
		case <-check.C:
			a.compare(ctx)
			if a.list.at.After(a.due.at) {
				a.due = a.list
				check.Reset(listGrace)
			} else {
				a.due = listing{}
			}
		}
	}
}

// settle changes the layout to match the known keys.
func (a *coverage) settle(ctx context.Context) {
	states, ok := a.states()
	if !ok {
		return // wait until every shard has responded or failed
	}
	want := disjoint(slices.Collect(maps.Keys(a.open)))
	var retired []*keyPoller
	for {
		a.layout.Fixed = unreadable(states)
		want = a.o.arrange(a.layout, a.keys(states, retired), want)
		closed := a.closeOthers(want)
		if len(closed) == 0 {
			break
		}
		// The last responses of the closed shards may change the layout.
		retired = append(retired, closed...)
		for _, r := range closed {
			delete(states, r.watch)
		}
	}
	for _, w := range want {
		if a.open[w] == nil {
			state := inherit(w, retired)
			state.next.Gap = state.next.Gap || a.list.gap
			a.start(ctx, w, state)
		}
	}
	a.find(ctx, len(want) > 1 || want[0] != a.layout.Root)
}

// states returns the states of all shards. ok is false if a shard has neither responded nor failed.
func (a *coverage) states() (states map[watch]keyState, ok bool) {
	states = make(map[watch]keyState, len(a.open))
	for w, s := range a.open {
		state := s.known()
		if state.phase == opening {
			return nil, false
		}
		states[w] = state
	}
	return states, true
}

// unreadable returns the shards whose latest attempt failed. These shards stay in the layout, because shards that
// replace them would also fail and report the same failure.
func unreadable(states map[watch]keyState) []watch {
	var watches []watch
	for w, state := range states {
		if state.phase == failing {
			watches = append(watches, w)
		}
	}
	return disjoint(watches)
}

// keys returns the keys that a shard or the list of names contains.
func (a *coverage) keys(states map[watch]keyState, retired []*keyPoller) []listedKey {
	lists := [][]listedKey{a.list.names}
	for _, state := range states {
		lists = append(lists, state.keys())
	}
	for _, r := range retired {
		lists = append(lists, r.state.keys())
	}
	return unite(lists...)
}

// keys returns all keys, not sorted. The keys that are no longer readable are elections.
func (s keyState) keys() []listedKey {
	keys := s.last.keys()
	for _, key := range s.hidden {
		keys = append(keys, listedKey{Name: key, Election: true})
	}
	return keys
}

// closeOthers closes the shards that are not wanted, and returns them with their last states.
func (a *coverage) closeOthers(want []watch) (closed []*keyPoller) {
	for w, s := range a.open {
		if !slices.Contains(want, w) {
			a.close(s)
			closed = append(closed, s)
		}
	}
	return closed
}

func (a *coverage) close(s *keyPoller) {
	s.close()
	delete(a.open, s.watch)
}

// inherit returns the state of the old shard that read all keys of w. Without such a shard, inherit joins the states
// of the old shards within w, and the new shard reads all keys again.
func inherit(w watch, retired []*keyPoller) (state keyState) {
	for _, r := range retired {
		if r.watch.Covers(w) {
			return r.state.part(w.Range)
		}
		if w.Covers(r.watch) {
			state.join(r.state)
		}
	}
	state.last.sort()
	slices.Sort(state.hidden)
	return state
}

// part returns the state of a shard that reads only the keys in r.
func (s keyState) part(r election.Range) keyState {
	s.last, s.hidden = s.last.part(r), cut(s.hidden, r, itself)
	if s.phase == failing {
		s.phase = opening
	}
	return s
}

// join adds the keys of another shard. The result has no position to continue at, so the new shard reads all keys
// again.
func (s *keyState) join(other keyState) {
	s.last.PairList = consulx.PairList{Pairs: append(s.last.Pairs, other.last.Pairs...)}
	s.last.others = append(s.last.others, other.last.others...)
	s.hidden = append(s.hidden, other.hidden...)
	s.next = s.next.Join(other.next)
	if s.at.IsZero() || other.at.Before(s.at) {
		s.at = other.at
	}
}

// start opens a shard.
func (a *coverage) start(ctx context.Context, w watch, state keyState) {
	poller := &keyPoller{o: a.o, watch: w, moved: a.moved, state: state}
	a.o.sessions.Holding(w.Name(), state.last.Pairs)
	a.o.sessions.request(holders(state.last.Pairs), true) // while no shard held them, the cache may have dropped the absent ones
	ctx, poller.cancel = context.WithCancel(ctx)
	a.open[w] = poller
	a.loop(ctx, poller, state.next, poller.cancel)
}

// loop starts a query and calls end when it has ended.
func (a *coverage) loop(ctx context.Context, p consulx.Poller, from consulx.Position, end func()) {
	a.o.useKeys(1)
	crash.Go(&a.loops, func() {
		defer end()
		defer a.o.useKeys(-1)
		a.o.poll(ctx, p, from, true)
	})
}

// find starts or ends the query for the names.
func (a *coverage) find(ctx context.Context, on bool) {
	if on == (a.lists != nil) {
		return
	}
	if !on {
		a.finding()
		a.lists, a.list, a.due = nil, listing{}, listing{}
		return
	}
	ctx, a.finding = context.WithCancel(ctx)
	lists := make(chan listing, 1)
	a.lists = lists
	prefix := a.layout.Root.Prefix
	names := &namePoller{prefix: prefix, lists: lists, link: link{
		o: a.o, source: "names under " + prefix, part: election.Part{Kind: election.PartNames, Range: a.layout.Root.Range},
	}}
	a.loop(ctx, names, consulx.Position{}, names.end)
}

// compare restarts shards whose keys differ from a newer list of names, although they had listGrace to respond: a
// recursive delete above a prefix can remove all keys of a shard without ending its query.
func (a *coverage) compare(ctx context.Context) {
	for w, s := range maps.Clone(a.open) {
		state := s.known()
		if state.phase == live && state.at.Before(a.due.at) && differ(state.last.keys(), cut(a.due.names, w.Range, keyName)) {
			a.close(s)
			last := s.state
			last.phase, last.next = opening, last.next.Lost()
			a.start(ctx, w, last)
		}
	}
}

// watchKeys reads the keys of the patterns until ctx ends. Its shards inherit the states of those for the patterns before.
func (o *Observer) watchKeys(ctx context.Context, ps election.Patterns) {
	var before []*keyPoller
	for _, a := range o.areas {
		before = append(before, a.closeOthers(nil)...)
	}
	o.areas = nil
	var all sync.WaitGroup
	defer all.Wait()
	plan := planWatches(ps, o.watches)
	for _, w := range plan {
		a := &coverage{
			o: o, layout: layout{Root: w, Limit: max(1, o.watches/len(plan)-1)}, moved: make(chan struct{}, 1), open: map[watch]*keyPoller{},
		}
		if before != nil {
			a.first = inherit(w, before).selected(ps)
		}
		o.areas = append(o.areas, a)
		crash.Go(&all, func() { a.run(ctx) })
	}
}

// selected returns the state without the keys that the patterns do not select. The shard reads all its keys again.
func (s keyState) selected(ps election.Patterns) keyState {
	unselected := func(key string) bool { return !ps.Selects(key) }
	pairs := election.Without(s.last.Pairs, func(p *election.Pair) bool { return unselected(p.Key) })
	return keyState{
		last: keySet{PairList: consulx.PairList{Pairs: pairs}}, hidden: election.Without(s.hidden, unselected),
		at: s.at, next: s.next.Lost(),
	}
}

// phase is the state of a shard. docs/architecture.md lists the states.
type phase int

const (
	opening phase = iota // no attempt has ended yet
	live                 // the latest attempt succeeded
	failing              // the latest attempt failed
)
