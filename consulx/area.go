package consulx

import (
	"context"
	"sync"
	"time"
)

const (
	// settlePace spaces changes of the layout by what working one out costs.
	settlePace = 10 * time.Microsecond
	// listGrace is how long a shard may take to tell what a list of names
	// already shows.
	listGrace = 100 * time.Millisecond
)

// area reads everything under one prefix: in one query while there are few keys,
// in shards that follow the keys when there are many.
//
// No change falls between two layouts. A shard that is closed hands nothing over
// any more, and tells how far it came; those that read its keys from then on wait
// beyond the same index, or read them anew. Everything that any query has shown to
// exist is read by some shard: so the end of a key is told, too, before its shard
// goes.
type area struct {
	o      *Observer
	layout layout
	rounds *rounds
	ready  <-chan struct{}

	moved   chan struct{} // something about the keys of a shard
	lists   chan listing
	list    listing
	open    map[watch]*openShard
	finding context.CancelFunc // ends the question for names, nil while there is none
	settled time.Time
	loops   sync.WaitGroup
}

// openShard is a shard that is being read.
type openShard struct {
	question *keyQuestion
	cancel   context.CancelFunc
}

func newArea(o *Observer, root watch, limit int, r *rounds, ready <-chan struct{}) *area {
	return &area{
		o: o, layout: layout{root: root, limit: limit}, rounds: r, ready: ready,
		moved: make(chan struct{}, 1), lists: make(chan listing, 1), open: map[watch]*openShard{},
	}
}

// run reads until ctx ends and waits for its queries.
func (a *area) run(ctx context.Context) {
	defer a.loops.Wait()
	a.start(ctx, a.layout.root, keyState{}, false)
	settle, check := stoppedTimer(), stoppedTimer()
	defer settle.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.moved:
			pace := time.Duration(len(a.list.names)) * settlePace
			settle.Reset(max(0, pace-time.Since(a.settled)))
		case <-settle.C:
			a.settle(ctx)
		case list := <-a.lists:
			if a.take(list) {
				a.settle(ctx)
			}
			check.Reset(listGrace)
		case <-check.C:
			a.compare(ctx)
		}
	}
}

// stir has the layout looked at. It never blocks.
func (a *area) stir() {
	select {
	case a.moved <- struct{}{}:
	default:
	}
}

// listed keeps the newest list. It never blocks.
func (a *area) listed(l listing) {
	select {
	case <-a.lists:
	default:
	}
	select {
	case a.lists <- l:
	default:
	}
}

// take uses a list and reports whether it names other keys than the one before.
func (a *area) take(l listing) bool {
	if a.finding == nil {
		return false // it came too late
	}
	before := a.list
	a.list = l
	return before.at.IsZero() || l.moved
}

// settle brings the layout in line with the keys that are known to exist.
func (a *area) settle(ctx context.Context) {
	a.settled = time.Now()
	states, ok := a.states()
	if !ok {
		return // a shard without an answer tells when it has one
	}
	want := a.present()
	var retired []retiredShard
	for {
		want = a.o.arrange(a.layout, a.keys(states, retired), want)
		closed := a.closeOthers(want)
		if len(closed) == 0 {
			break
		}
		// What they told last may ask for another layout.
		retired = append(retired, closed...)
		for _, r := range closed {
			delete(states, r.watch)
		}
	}
	for _, w := range want {
		if a.open[w] == nil {
			a.start(ctx, w, inherit(w, retired), false)
		}
	}
	a.find(ctx, len(want) > 1 || want[0] != a.layout.root)
}

// states tells how far every shard has come; ok is false while one of them has
// no answer.
func (a *area) states() (states map[watch]keyState, ok bool) {
	states = make(map[watch]keyState, len(a.open))
	for w, s := range a.open {
		state := s.question.known()
		if !state.delivered {
			return nil, false
		}
		a.layout.fine = a.layout.fine || state.heavy
		states[w] = state
	}
	return states, true
}

func (a *area) present() []watch {
	watches := make([]watch, 0, len(a.open))
	for w := range a.open {
		watches = append(watches, w)
	}
	return disjoint(watches)
}

// keys are all that a shard or the list knows of.
func (a *area) keys(states map[watch]keyState, retired []retiredShard) []listed {
	lists := make([][]listed, 0, len(states)+len(retired)+1)
	for _, state := range states {
		lists = append(lists, state.keys)
	}
	for _, r := range retired {
		lists = append(lists, r.state.keys)
	}
	return unite(append(lists, a.list.names)...)
}

// retiredShard is a shard that was closed and how far it came.
type retiredShard struct {
	watch
	state keyState
}

func (a *area) closeOthers(want []watch) []retiredShard {
	wanted := make(map[watch]bool, len(want))
	for _, w := range want {
		wanted[w] = true
	}
	var closed []retiredShard
	for w, s := range a.open {
		if !wanted[w] {
			closed = append(closed, retiredShard{watch: w, state: a.close(w, s)})
		}
	}
	return closed
}

func (a *area) close(w watch, s *openShard) keyState {
	state := s.question.close()
	s.cancel()
	delete(a.open, w)
	return state
}

// inherit is what a new watch begins with: the state of the one that read all of
// its keys before. One that reads more than that begins with what is known and
// reads everything anew.
func inherit(w watch, retired []retiredShard) (state keyState) {
	for _, r := range retired {
		part := r.state.last.part(w.Range)
		hidden := cut(r.state.hidden, w.Range, func(s string) string { return s })
		if r.covers(w) || r.within(w) {
			state = r.state
			state.last, state.keys, state.hidden, state.heavy = part, part.keys(), hidden, false
			return state
		}
		state.last.pairs = append(state.last.pairs, part.pairs...)
		state.last.passed = append(state.last.passed, part.passed...)
		state.hidden = append(state.hidden, hidden...)
	}
	state.last.sort()
	state.keys = state.last.keys()
	return state
}

// within reports that the single key of w lies under the prefix of r.
func (r retiredShard) within(w watch) bool { return w.Exact && r.Range.Contains(w.Prefix) }

// start opens a watch. gap says that moves may have been missed.
func (a *area) start(ctx context.Context, w watch, state keyState, gap bool) {
	question := &keyQuestion{
		o: a.o, watch: w, patterns: a.o.patterns, ready: a.ready, told: a.stir, state: state,
	}
	a.o.sessions.holding(w.name(), state.last.pairs)
	ctx, cancel := context.WithCancel(ctx)
	a.open[w] = &openShard{question: question, cancel: cancel}
	l := &loop{question: question, wait: a.o.wait, rounds: a.rounds, options: a.o.client.read, index: state.index, gap: gap}
	a.loops.Go(func() {
		defer cancel()
		l.run(ctx)
	})
}

// find begins or ends to ask for names.
func (a *area) find(ctx context.Context, on bool) {
	if on == (a.finding != nil) {
		return
	}
	if !on {
		a.finding()
		a.finding, a.list = nil, listing{}
		return
	}
	a.o.checks.tight.Store(true)
	ctx, a.finding = context.WithCancel(ctx)
	names := &nameQuestion{o: a.o, prefix: a.layout.root.Prefix, tell: a.listed}
	l := &loop{question: names, wait: a.o.wait, rounds: a.rounds, options: a.o.client.read, rest: names.rest}
	a.loops.Go(func() {
		l.run(ctx)
		names.end()
	})
}

// compare has shards read anew whose keys the list shows differently, though
// they had the time to notice: all keys of a shard may vanish at once without
// waking its query, when something above them is deleted.
func (a *area) compare(ctx context.Context) {
	for w, s := range a.open {
		state := s.question.known()
		if !state.delivered || !state.at.Before(a.list.at) || !differ(state.keys, cut(a.list.names, w.Range, listedKey)) {
			continue
		}
		last := a.close(w, s)
		last.index = 0
		a.start(ctx, w, last, true)
	}
}
