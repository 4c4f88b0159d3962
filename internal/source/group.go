package source

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"electop/election"
	"electop/election/insight"
	"electop/internal/crash"
)

// Group joins several sources. It carries out an action in the datacenter of the action's target.
type Group struct {
	sources   []Source
	snapshots chan *election.Snapshot
}

// NewGroup joins sources with different names.
func NewGroup(sources ...Source) *Group {
	return &Group{sources: sources, snapshots: make(chan *election.Snapshot)}
}

// Names returns the names of the sources, or nil if there is only one source.
func (g *Group) Names() (names []string) {
	if len(g.sources) == 1 {
		return nil
	}
	for _, s := range g.sources {
		names = append(names, s.Datacenter())
	}
	return names
}

// Snapshots delivers the newest snapshot of all sources. [Group.Run] closes the channel. If there is only one source,
// the channel is that of the source.
func (g *Group) Snapshots() <-chan *election.Snapshot {
	if len(g.sources) == 1 {
		return g.sources[0].Snapshots()
	}
	return g.snapshots
}

// Run joins the snapshots until ctx or all sources end.
func (g *Group) Run(ctx context.Context) error {
	defer close(g.snapshots)
	if len(g.sources) == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	in := newInbox(g.sources)
	defer in.readers.Wait()
	in.read(ctx)
	var m merger
	var next *election.Snapshot
	var out chan<- *election.Snapshot // nil while there is no new snapshot
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-in.ended:
			return nil
		case <-in.changed:
			next, out = m.merge(in.newest()), g.snapshots
		case out <- next:
			out = nil
		}
	}
}

// inbox holds the newest snapshot of each source.
type inbox struct {
	sources []Source
	latest  []atomic.Pointer[election.Snapshot]
	changed chan struct{} // receives a value after a snapshot was stored
	ended   chan struct{} // closed when all sources have ended
	left    atomic.Int64
	readers sync.WaitGroup
}

func newInbox(sources []Source) *inbox {
	in := &inbox{
		sources: sources, latest: make([]atomic.Pointer[election.Snapshot], len(sources)),
		changed: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	in.left.Store(int64(len(sources)))
	for i, s := range sources {
		in.latest[i].Store(&election.Snapshot{Datacenter: s.Datacenter(), Connection: election.Connection{State: election.Connecting}})
	}
	return in
}

// read reads each source in a goroutine until the source or ctx ends.
func (in *inbox) read(ctx context.Context) {
	for i, s := range in.sources {
		crash.Go(&in.readers, func() {
			receive(ctx, s, func(snap *election.Snapshot) {
				in.latest[i].Store(snap)
				select {
				case in.changed <- struct{}{}:
				default:
				}
			})
			if in.left.Add(-1) == 0 {
				close(in.ended)
			}
		})
	}
}

func (in *inbox) newest() []*election.Snapshot {
	parts := make([]*election.Snapshot, len(in.latest))
	for i := range in.latest {
		parts[i] = in.latest[i].Load()
	}
	return parts
}

// receive passes the snapshots of a source to store until the source or ctx ends.
func receive(ctx context.Context, s Source, store func(*election.Snapshot)) {
	for {
		select {
		case <-ctx.Done():
			return
		case snap, more := <-s.Snapshots():
			if !more {
				return
			}
			store(snap)
		}
	}
}

// find returns the source of a datacenter, or nil if there is none. If there is only one source, find ignores the name,
// because the name may be unknown.
func (g *Group) find(datacenter string) Source {
	if len(g.sources) == 1 {
		return g.sources[0]
	}
	if i := slices.IndexFunc(g.sources, func(s Source) bool { return s.Datacenter() == datacenter }); i >= 0 {
		return g.sources[i]
	}
	return nil
}

// errUnknown reports that the group has no source for the target's datacenter. An action must not choose a datacenter
// itself.
var errUnknown = errors.New("the datacenter of the target is unknown; nothing was written")

// Release releases the key of a target in the target's datacenter.
func (g *Group) Release(ctx context.Context, t election.Target) insight.Outcome {
	if s := g.find(t.Datacenter); s != nil {
		return s.Release(ctx, t)
	}
	return refused(election.ActionRelease, t)
}

// DestroySession destroys a session in the target's datacenter.
func (g *Group) DestroySession(ctx context.Context, d election.Destroy) insight.Outcome {
	if s := g.find(d.Datacenter); s != nil {
		return s.DestroySession(ctx, d)
	}
	return refused(election.ActionDestroy, d.Target)
}

func refused(kind election.ActionKind, t election.Target) insight.Outcome {
	return insight.Outcome{Action: kind, Target: t, Kind: insight.OutcomeRefused, Reason: errUnknown.Error()}
}

// Rights reads the token's permissions in the target's datacenter.
func (g *Group) Rights(ctx context.Context, t election.Target) (election.Rights, error) {
	if s := g.find(t.Datacenter); s != nil {
		return s.Rights(ctx, t)
	}
	return election.Rights{}, errUnknown
}

// WatchChecks replaces the nodes whose checks the snapshots of one datacenter contain.
func (g *Group) WatchChecks(datacenter string, nodes []string) {
	if s := g.find(datacenter); s != nil {
		s.WatchChecks(nodes)
	}
}

// Study adds the surroundings of one election to the snapshots. The key "" selects no election.
func (g *Group) Study(datacenter, key string) {
	chosen := g.find(datacenter)
	for _, s := range g.sources {
		if s == chosen {
			s.Study(key)
		} else {
			s.Study("")
		}
	}
}

// WatchSessions adds the sessions of all datacenters to the snapshots while on is true.
func (g *Group) WatchSessions(on bool) {
	for _, s := range g.sources {
		s.WatchSessions(on)
	}
}

// SetPatterns replaces the patterns in all datacenters.
func (g *Group) SetPatterns(ps election.Patterns) {
	for _, s := range g.sources {
		s.SetPatterns(ps)
	}
}

// Survey reads the surroundings of elections in one datacenter.
func (g *Group) Survey(ctx context.Context, datacenter string, keys []string) []election.Surroundings {
	if s := g.find(datacenter); s != nil {
		return s.Survey(ctx, keys)
	}
	return nil
}

// Holdings searches one datacenter, or all datacenters if the name is "". complete is also false if a datacenter does
// not respond. err is set only if no datacenter responds.
func (g *Group) Holdings(
	ctx context.Context, datacenter string, sessions []string, progress func(done, total int),
) (keys []election.Pair, complete bool, err error) {
	complete = true
	responded, searched := false, 0
	err = errUnknown
	if datacenter == "" || g.find(datacenter) != nil {
		err = nil
	}
	for _, s := range g.sources {
		if datacenter != "" && s != g.find(datacenter) {
			continue
		}
		var size atomic.Int64 // atomic, because any goroutine may call progress
		found, all, failed := s.Holdings(ctx, sessions, func(done, total int) {
			size.Store(int64(total))
			progress(searched+done, searched+total)
		})
		searched += int(size.Load())
		keys, complete = append(keys, found...), complete && all
		responded = responded || failed == nil
		err = errors.Join(err, failed)
	}
	complete = complete && err == nil
	if responded {
		err = nil
	}
	return keys, complete, err
}
