package observe

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/feed"
)

// explain reads the sessions that held the keys, their health checks and the tombstones of deleted keys. It returns the
// evidence for every loss. If ctx ends first, the evidence contains the error.
func (o *Observer) explain(ctx context.Context, all []feed.Loss) []election.Observation {
	var ids, nodes, keys []string
	for _, l := range all {
		ids = append(ids, l.Session)
	}
	fates := consulx.ReadEach(ids, func(id string) election.Evidence { return readFate(ctx, o.client, id) })
	ended := make([]*election.Session, len(all)) // nil if the session exists or was never read
	for i, l := range all {
		if fate := fates[l.Session]; !fate.SessionRead || fate.SessionExists {
			continue
		}
		if ended[i] = o.sessions.Get(l.Session); ended[i] == nil && l.Node != "" {
			ended[i] = &election.Session{Node: l.Node, NodeChecks: []string{""}} // only the tracker knows its checks, from the history
		}
		if ended[i] != nil {
			nodes = append(nodes, ended[i].Node)
			if l.Deleted {
				keys = append(keys, l.Key)
			}
		}
	}
	states := consulx.ReadEach(nodes, func(node string) nodeState { return readNode(ctx, o.client, node) })
	deleted := consulx.ReadEach(keys, func(key string) uint64 { return deleteIndex(ctx, o.client, key) })
	found := make([]election.Observation, 0, len(all))
	for i, l := range all {
		ev := fates[l.Session]
		if s := ended[i]; s != nil {
			index := ev.SessionsIndex
			ev = states[s.Node].evidence(s)
			ev.SessionRead, ev.SessionsIndex, ev.DeleteIndex = true, index, deleted[l.Key]
		}
		found = append(found, election.TermEvidence{At: time.Now(), Event: l.Event, Outcome: ev})
	}
	return found
}

// readFate returns the part of the evidence about a session.
func readFate(ctx context.Context, c *consulx.Client, id string) election.Evidence {
	entry, meta, err := c.SessionInfo(id, c.Consistent(ctx))
	switch {
	case err != nil:
		return election.Evidence{Err: consulx.Describe(err)}
	case entry == nil && c.Filtered(meta):
		return election.Evidence{Err: "sessions cannot be read with this token"}
	}
	return election.Evidence{SessionRead: true, SessionExists: entry != nil, SessionsIndex: meta.LastIndex}
}

// deleteIndex returns the Raft index of a key's deletion, or 0 if the index is unknown. If no key has the prefix, the
// index of a list of names is the index of the latest tombstone under the prefix.
func deleteIndex(ctx context.Context, c *consulx.Client, key string) uint64 {
	if !askable(key) {
		return 0
	}
	names, meta, err := c.API().KV().Keys(key, "", c.Consistent(ctx))
	if err != nil || len(names) > 0 || c.Filtered(meta) {
		return 0
	}
	return meta.LastIndex
}

// nodeState is the result of reading a node and its checks.
type nodeState struct {
	election.Evidence
	filtered bool
}

func readNode(ctx context.Context, c *consulx.Client, name string) (state nodeState) {
	checks, meta, err := c.API().Health().Node(name, c.Consistent(ctx))
	if err == nil {
		state.filtered, state.ChecksIndex = c.Filtered(meta), meta.LastIndex
		state.Checks, state.NodeExists = consulx.ChecksOf(checks), true
	}
	if err == nil && len(checks) == 0 {
		// Consul gives the same response for a node without checks and for a node that does not exist.
		var node *api.CatalogNode
		if node, meta, err = c.API().Catalog().Node(name, c.Consistent(ctx)); err == nil {
			state.NodeExists, state.filtered = node != nil, state.filtered || c.Filtered(meta)
		}
	}
	switch {
	case err != nil:
		return nodeState{Evidence: election.Evidence{Err: consulx.Describe(c.Wrap(err))}}
	case !state.NodeExists && state.filtered:
		return nodeState{Evidence: election.Evidence{Err: "nodes cannot be read with this token"}}
	}
	state.ChecksRead = true
	return state
}

// evidence returns what the node shows about a session that ended.
func (n nodeState) evidence(s *election.Session) election.Evidence {
	if n.ChecksRead && n.filtered && !suffices(s, n.Checks) {
		return election.Evidence{Err: "its checks cannot be read with this token"}
	}
	return n.Evidence
}

// suffices reports whether a list of health checks can explain the end of a session even if ACLs filtered the list: a
// check of the session is critical, or all its checks are present.
func suffices(s *election.Session, checks []election.Check) bool {
	all := true
	for _, id := range s.Checks() {
		c := election.FindCheck(checks, id)
		if c != nil && c.Status == election.StatusCritical {
			return true
		}
		all = all && c != nil
	}
	return all
}
