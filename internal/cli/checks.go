package cli

import (
	"context"

	"electop/consulx"
	"electop/election"
	"electop/election/query"
)

// readChecks adds the checks of the leaders' nodes to the snapshots, unless they were read before.
func (ls lookups) readChecks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for _, l := range ls.all {
		if len(l.snapshot.Checks) == 0 {
			l.readChecks(ctx, l.snapshot.Elections)
		}
	}
}

// readChecks adds the checks of the nodes of some leaders to the snapshot.
func (l lookup) readChecks(ctx context.Context, elections []*election.Election) {
	var nodes []string
	for _, e := range elections {
		if e.Session != nil {
			nodes = append(nodes, e.Session.Node)
		}
	}
	l.snapshot.Checks = consulx.NodesChecks(ctx, l.client, nodes)
}

// facts contains the data, in addition to the elections, that filters and orders depend on.
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
