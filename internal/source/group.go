// Package source joins the snapshots of several stores of elections into one, so that the dashboard shows all of them.
// It does not depend on the kind of a [Source].
package source

import (
	"context"
	"sync"

	"electop/election"
	"electop/internal/crash"
)

// Source is an observed store in which elections are held, such as the KV store of one Consul datacenter.
type Source interface {
	// Datacenter is the name of the source. The elections and events of the source contain this name.
	Datacenter() string
	// Snapshots delivers the observed state, which includes the state of the connection. The source closes the channel
	// when it ends.
	Snapshots() <-chan *election.Snapshot
}

// Run joins the snapshots of sources with different names until ctx or all sources end. It sends the newest joined
// snapshot to joined, and closes joined.
func Run[S Source](ctx context.Context, sources []S, joined chan<- *election.Snapshot) {
	defer close(joined)
	var readers sync.WaitGroup
	defer readers.Wait()
	type arrival struct {
		from int
		snap *election.Snapshot // nil if the source has ended
	}
	arrived, parts := make(chan arrival), make([]*election.Snapshot, len(sources))
	for i, s := range sources {
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
	for left := len(sources); left > 0; {
		select {
		case <-ctx.Done():
			return
		case a := <-arrived:
			if a.snap == nil {
				left--
				continue
			}
			parts[a.from] = a.snap
			next, out = Join(parts...), joined
		case out <- next:
			out = nil
		}
	}
}
