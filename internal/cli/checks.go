package cli

import (
	"context"
	"sync"

	"electop/consulx"
	"electop/election"
	"electop/election/query"
)

// readChecks adds the checks of the leaders' nodes to the snapshots, unless they were read before. It warns about
// nodes whose checks cannot be read.
func (ls lookups) readChecks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var reads sync.WaitGroup
	read := make([]bool, len(ls.all))
	for i, l := range ls.all {
		if read[i] = len(l.snapshot.Checks) == 0; read[i] {
			reads.Go(func() { l.readChecks(ctx, l.snapshot.Elections) })
		}
	}
	reads.Wait()
	for i, l := range ls.all {
		if read[i] {
			l.warnUnreadChecks()
		}
	}
}

func (l lookup) warnUnreadChecks() {
	unread := uint64(0)
	for _, checks := range l.snapshot.Checks {
		if checks.Err != "" {
			unread++
		}
	}
	if unread > 0 {
		l.warn("the checks of %s cannot be read: leaders that have failed may be missing", election.Plural(unread, "node"))
	}
}

// readChecks adds the checks of the leaders' nodes to the snapshot. It includes only the leaders of these elections.
func (l lookup) readChecks(ctx context.Context, elections []*election.Election) {
	var nodes []string
	for _, e := range elections {
		if e.Session != nil {
			nodes = append(nodes, e.Session.Node)
		}
	}
	l.snapshot.Checks = consulx.NodesChecks(ctx, l.client, nodes)
}

// facts returns the data that filters and sort orders use in addition to the elections.
func (ls lookups) facts() query.Facts {
	return query.Facts{At: ls.at(), Checks: func(e *election.Election) map[string]election.NodeChecks {
		for _, l := range ls.all {
			if len(ls.all) == 1 || l.snapshot.Datacenter == e.Datacenter {
				return l.snapshot.Checks
			}
		}
		return nil
	}}
}
