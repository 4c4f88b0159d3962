// Package source joins several stores of elections into one, so that the dashboard observes and changes all of them.
// It does not depend on the kind of a [Source].
package source

import (
	"context"
	"errors"
	"sync"

	"electop/election"
	"electop/internal/act"
	"electop/internal/crash"
)

// Group joins several sources. It carries out an action in the datacenter of the action's target.
type Group[S member] struct {
	sources   []S
	snapshots chan *election.Snapshot
}

type member interface {
	comparable
	Source
}

// NewGroup joins sources with different names.
func NewGroup[S member](sources ...S) *Group[S] {
	return &Group[S]{sources: sources, snapshots: make(chan *election.Snapshot)}
}

// Snapshots delivers the newest snapshot of all sources. [Group.Run] closes the channel. If there is only one source,
// the channel is that of the source.
func (g *Group[S]) Snapshots() <-chan *election.Snapshot {
	if len(g.sources) == 1 {
		return g.sources[0].Snapshots()
	}
	return g.snapshots
}

// Run joins the snapshots until ctx or all sources end.
func (g *Group[S]) Run(ctx context.Context) {
	defer close(g.snapshots)
	if len(g.sources) == 1 {
		<-ctx.Done()
		return
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	type arrival struct {
		from int
		snap *election.Snapshot // nil if the source has ended
	}
	arrived, parts := make(chan arrival), make([]*election.Snapshot, len(g.sources))
	for i, s := range g.sources {
		parts[i] = &election.Snapshot{Datacenter: s.Datacenter(), Connection: election.Connection{State: election.Connecting}}
		crash.Go(&readers, func() {
			for more := true; more; {
				a := arrival{from: i}
				select {
				case <-ctx.Done():
					return
				case a.snap, more = <-s.Snapshots():
				}
				select {
				case <-ctx.Done():
					return
				case arrived <- a:
				}
			}
		})
	}
	var next *election.Snapshot
	var out chan<- *election.Snapshot // nil while there is no new snapshot
	for left := len(g.sources); left > 0; {
		select {
		case <-ctx.Done():
			return
		case a := <-arrived:
			if a.snap == nil {
				left--
				continue
			}
			parts[a.from] = a.snap
			next, out = Join(parts...), g.snapshots
		case out <- next:
			out = nil
		}
	}
}

// errUnknown reports that the group has no source for the target's datacenter. An action must not choose a datacenter
// itself.
var errUnknown = errors.New("the datacenter of the target is unknown; nothing was written")

// Find returns the source of a datacenter. If there is only one source, Find ignores the name, because the name may be
// unknown.
func (g *Group[S]) Find(datacenter string) (found S, err error) {
	for _, s := range g.sources {
		if len(g.sources) == 1 || s.Datacenter() == datacenter {
			return s, nil
		}
	}
	return found, errUnknown
}

// Act carries out an action in the target's datacenter.
func (g *Group[S]) Act(ctx context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	s, err := g.Find(d.Datacenter)
	if err != nil {
		return act.Outcome{Action: kind, Target: d.Target, Kind: act.OutcomeRefused, Reason: err.Error()}
	}
	return s.Act(ctx, kind, d)
}

// Rights reads the token's permissions in the target's datacenter.
func (g *Group[S]) Rights(ctx context.Context, t election.Target) (election.MissingRules, error) {
	s, err := g.Find(t.Datacenter)
	if err != nil {
		return nil, err
	}
	return s.Rights(ctx, t)
}

// WatchChecks replaces the nodes whose checks the snapshots of one datacenter contain.
func (g *Group[S]) WatchChecks(datacenter string, nodes []string) {
	if s, err := g.Find(datacenter); err == nil {
		s.WatchChecks(nodes)
	}
}

// Study adds the surroundings of one election to the snapshots. The key "" selects no election.
func (g *Group[S]) Study(datacenter, key string) {
	chosen, _ := g.Find(datacenter)
	for _, s := range g.sources {
		selected := ""
		if s == chosen {
			selected = key
		}
		s.Study(selected)
	}
}

// WatchSessions adds the sessions of all datacenters to the snapshots while on is true.
func (g *Group[S]) WatchSessions(on bool) {
	for _, s := range g.sources {
		s.WatchSessions(on)
	}
}

// Source is a store in which elections are held, such as the KV store of one Consul datacenter.
type Source interface {
	// Datacenter is the name of the source. The elections, events and targets of the source contain this name.
	Datacenter() string
	// Snapshots delivers the observed state, which includes the state of the connection. The source closes the channel
	// when it ends.
	Snapshots() <-chan *election.Snapshot
	// WatchChecks, Study and WatchSessions select what the snapshots contain in addition to elections: the health checks
	// of nodes, the surroundings of the election with this key ("" selects no election), and the list of sessions.
	// These methods do not block.
	WatchChecks(nodes []string)
	Study(key string)
	WatchSessions(on bool)
	act.Operator
	// Rights reads the permissions for actions on a hold.
	Rights(ctx context.Context, t election.Target) (election.MissingRules, error)
}
