package observe

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"electop/consulx/internal/blocking"
	"electop/consulx/observe/internal/shard"
	"electop/election"
)

const (
	// settlePace limits how often a layout is computed, by what that costs.
	settlePace = 10 * time.Microsecond
	// settleAfter lets the first board be drawn before its keys are divided.
	settleAfter = 100 * time.Millisecond
	// listGrace is how long a response may arrive after a list of names that shows
	// the same change.
	listGrace = 100 * time.Millisecond
)

// coverage reads everything under one prefix: in one query while there are few
// keys, in shards when there are many.
//
// No change is lost between two layouts: a closed shard reports nothing more, and
// the shards that read its keys continue at its position or read everything again.
// Some shard reads every key that was ever seen, so the end of a key is reported
// too.
type coverage struct {
	o      *Observer
	layout shard.Layout
	epochs *blocking.Epochs
	ready  <-chan struct{}

	moved   chan struct{} // something about the keys of a shard
	lists   chan listing  // nil while nobody asks for names
	list    listing
	open    map[shard.Watch]*openShard
	finding context.CancelFunc // ends the question for names
	// answered is when the first response came, settled when the layout was last
	// computed.
	answered, settled time.Time
	loops             sync.WaitGroup
}

// openShard is a shard in the layout.
type openShard struct {
	poller *keyPoller
	cancel context.CancelFunc
}

func newCoverage(o *Observer, root shard.Watch, limit int, r *blocking.Epochs, ready <-chan struct{}) *coverage {
	return &coverage{
		o: o, layout: shard.Layout{Root: root, Limit: limit}, epochs: r, ready: ready,
		moved: make(chan struct{}, 1), open: map[shard.Watch]*openShard{},
	}
}

// run polls until ctx ends and waits for its queries.
func (a *coverage) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer a.loops.Wait()
	defer cancel() // a panic must not wait for queries that know nothing of it
	a.start(ctx, a.layout.Root, keyState{})
	settle, check := stoppedTimer(), stoppedTimer()
	defer settle.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.moved:
			settle.Reset(a.untilSettle())
		case <-settle.C:
			a.settle(ctx)
		case list := <-a.lists:
			if a.take(list) {
				a.settle(ctx)
			}
			check.Reset(a.compare(ctx))
		case <-check.C:
			check.Reset(a.compare(ctx))
		}
	}
}

// untilSettle is how long to wait before the next layout.
func (a *coverage) untilSettle() time.Duration {
	if a.answered.IsZero() {
		a.answered = time.Now()
	}
	pace := time.Duration(len(a.list.names)) * settlePace
	return max(0, settleAfter-time.Since(a.answered), pace-time.Since(a.settled))
}

// notify requests a new layout.
func (a *coverage) notify() { blocking.Notify(a.moved) }

// keepNewest replaces a list that was not received yet. It never blocks.
func keepNewest(lists chan listing, l listing) {
	select {
	case before := <-lists:
		l.gap = l.gap || before.gap
	default:
	}
	lists <- l
}

// take stores a list and reports whether it names other keys than the list before.
func (a *coverage) take(l listing) bool {
	before := a.list
	a.list = l
	return before.at.IsZero() || shard.Differ(before.names, l.names)
}

// settle adapts the layout to the keys that are known to exist.
func (a *coverage) settle(ctx context.Context) {
	a.settled = time.Now()
	states, ok := a.states()
	if !ok {
		return // a shard that is under way tells when it has an answer, or fails
	}
	want := a.present()
	var retired []retiredShard
	for {
		a.layout.Fixed = unreadable(states)
		want = a.o.arrange(a.layout, a.keys(states, retired), want)
		closed := a.closeOthers(want)
		if len(closed) == 0 {
			break
		}
		// Their last responses may require another layout.
		retired = append(retired, closed...)
		for _, r := range closed {
			delete(states, r.Watch)
		}
	}
	for _, w := range want {
		if a.open[w] == nil {
			a.start(ctx, w, a.inherit(w, retired))
		}
	}
	a.find(ctx, len(want) > 1 || want[0] != a.layout.Root)
}

// states are the states of all shards; ok is false while one of them has no result.
func (a *coverage) states() (states map[shard.Watch]keyState, ok bool) {
	states = make(map[shard.Watch]keyState, len(a.open))
	for w, s := range a.open {
		state := s.poller.known()
		if state.phase == opening {
			return nil, false
		}
		a.layout.Fine = a.layout.Fine || state.heavy
		states[w] = state
	}
	return states, true
}

// unreadable are the shards whose latest attempt failed. They stay in the layout:
// others in their place would fail as well, and report it again.
func unreadable(states map[shard.Watch]keyState) []shard.Watch {
	var watches []shard.Watch
	for w, state := range states {
		if state.phase == failing {
			watches = append(watches, w)
		}
	}
	return shard.Disjoint(watches)
}

func (a *coverage) present() []shard.Watch {
	watches := make([]shard.Watch, 0, len(a.open))
	for w := range a.open {
		watches = append(watches, w)
	}
	return shard.Disjoint(watches)
}

// keys are all keys that a shard or the list of names contains.
func (a *coverage) keys(states map[shard.Watch]keyState, retired []retiredShard) []shard.Key {
	lists := make([][]shard.Key, 0, 2*(len(states)+len(retired))+1)
	for _, state := range states {
		lists = append(lists, state.keys, state.unseen())
	}
	for _, r := range retired {
		lists = append(lists, r.state.keys, r.state.unseen())
	}
	return shard.Unite(append(lists, a.list.names)...)
}

// unseen are the elections that are no longer readable.
func (s keyState) unseen() []shard.Key {
	keys := make([]shard.Key, len(s.hidden))
	for i, key := range s.hidden {
		keys[i] = shard.Key{Name: key, Election: true}
	}
	return keys
}

// retiredShard is a closed shard and its last state.
type retiredShard struct {
	shard.Watch
	state keyState
}

func (a *coverage) closeOthers(want []shard.Watch) []retiredShard {
	wanted := make(map[shard.Watch]bool, len(want))
	for _, w := range want {
		wanted[w] = true
	}
	var closed []retiredShard
	for w, s := range a.open {
		if !wanted[w] {
			closed = append(closed, retiredShard{Watch: w, state: a.close(w, s)})
		}
	}
	return closed
}

func (a *coverage) close(w shard.Watch, s *openShard) keyState {
	state := s.poller.close()
	s.cancel()
	delete(a.open, w)
	return state
}

// inherit is the initial state of a shard that replaces others.
func (a *coverage) inherit(w shard.Watch, retired []retiredShard) keyState {
	state := inherit(w, retired)
	state.next.Gap = state.next.Gap || a.list.gap
	return state
}

// inherit is the state of the shard that read all of w's keys before. If w reads
// more than any of them, it knows their keys and reads everything again.
func inherit(w shard.Watch, retired []retiredShard) (state keyState) {
	for _, r := range retired {
		if r.Covers(w) || r.within(w) {
			return r.state.part(w.Range)
		}
		if w.Covers(r.Watch) {
			state.join(r.state)
		}
	}
	state.last.sort()
	slices.Sort(state.hidden)
	state.keys = state.last.keys()
	return state
}

// part is the state of a shard that reads a part of the keys.
func (s keyState) part(r election.Range) keyState {
	s.last, s.hidden = s.last.part(r), shard.Cut(s.hidden, r, func(key string) string { return key })
	s.keys, s.heavy, s.phase = s.last.keys(), false, s.phase.inherited()
	return s
}

// join adds what another shard has read. Changes may have been missed.
func (s *keyState) join(other keyState) {
	s.last.pairs = append(s.last.pairs, other.last.pairs...)
	s.last.others = append(s.last.others, other.last.others...)
	s.hidden = append(s.hidden, other.hidden...)
	s.next = s.next.Join(other.next)
	if s.at.IsZero() || other.at.Before(s.at) {
		s.at = other.at
	}
}

// within reports that the single key of w is under the prefix of r.
func (r retiredShard) within(w shard.Watch) bool { return w.Exact && r.Range.Contains(w.Prefix) }

// start opens a shard.
func (a *coverage) start(ctx context.Context, w shard.Watch, state keyState) {
	poller := &keyPoller{
		o: a.o, watch: w, patterns: a.o.patterns, ready: a.ready, onChange: a.notify, state: state,
	}
	a.o.sessions.Holding(w.Name(), holders(state.last.pairs))
	ctx, cancel := context.WithCancel(ctx)
	a.open[w] = &openShard{poller: poller, cancel: cancel}
	a.o.client.Budget().Use(1)
	l := &blocking.Loop{Poller: poller, Wait: a.o.wait, Epochs: a.epochs, Client: a.o.client.Blocking(), From: state.next}
	a.loops.Go(func() {
		defer cancel()
		defer a.o.client.Budget().Use(-1)
		l.Run(ctx)
	})
}

// find starts or ends the list of names.
func (a *coverage) find(ctx context.Context, on bool) {
	if on == (a.lists != nil) {
		return
	}
	if !on {
		a.finding()
		a.lists, a.list = nil, listing{}
		return
	}
	a.o.client.Budget().Use(1)
	ctx, a.finding = context.WithCancel(ctx)
	lists := make(chan listing, 1)
	a.lists = lists
	names := newNamePoller(a.o, a.layout.Root.Prefix, func(l listing) { keepNewest(lists, l) })
	l := &blocking.Loop{Poller: names, Wait: a.o.wait, Epochs: a.epochs, Client: a.o.client.Blocking(), Rest: names.rest}
	a.loops.Go(func() {
		defer a.o.client.Budget().Use(-1)
		l.Run(ctx)
		names.end()
	})
}

// compare replaces shards whose keys differ from the list of names for too long: a
// delete above a prefix can remove all keys of a shard without waking its query. It
// returns when to compare again.
func (a *coverage) compare(ctx context.Context) (rest time.Duration) {
	rest = blocking.DefaultWait
	for w, s := range maps.Clone(a.open) {
		switch left, differs := s.poller.compare(a.list); {
		case !differs:
		case left > 0:
			rest = min(rest, left)
		default:
			last := a.close(w, s)
			last.phase, last.next = opening, last.next.Lost()
			a.start(ctx, w, last)
		}
	}
	return rest
}
