package observe

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// losses returns the terms that ended according to events.
func (o *Observer) losses(events []election.Event, find func(string) *election.Election) []Loss {
	var all []Loss
	for _, e := range events {
		if e.Type != election.Vacated || e.Initial {
			continue
		}
		now := find(e.Key)
		all = append(all, Loss{Event: e, Session: o.sessions.Get(e.Session), Deleted: now == nil || !now.Exists})
	}
	return all
}

// investigate sends the evidence for every loss to the tracker.
func (o *Observer) investigate(ctx context.Context, all []Loss) {
	ctx, cancel := context.WithTimeout(ctx, o.options.ExplainWithin*9/10) // the tracker needs the evidence in time
	defer cancel()
	o.Send(true, findEvidence(ctx, o.client, all)...)
}

// Loss is a term that ended, with the state before the end.
type Loss struct {
	Event   election.Event
	Session *election.Session // nil if the session was never read
	Deleted bool              // set if the key no longer exists
}

// findEvidence reads the sessions that held the keys, their health checks and the tombstones of deleted keys. It returns the
// evidence for every loss. If ctx ends first, the evidence contains the error.
func findEvidence(ctx context.Context, client *consulx.Client, all []Loss) []election.Observation {
	var ids, nodes, keys []string
	for _, l := range all {
		ids = append(ids, l.Event.Session)
	}
	fates := consulx.ReadEach(ids, func(id string) election.Evidence { return readFate(ctx, client, id) })
	ended := func(l Loss) bool {
		fate := fates[l.Event.Session]
		return fate.SessionRead && !fate.SessionExists && l.Session != nil
	}
	for _, l := range all {
		if ended(l) {
			nodes = append(nodes, l.Session.Node)
			if l.Deleted {
				keys = append(keys, l.Event.Key)
			}
		}
	}
	states := consulx.ReadEach(nodes, func(node string) nodeState { return readNode(ctx, client, node) })
	deleted := consulx.ReadEach(keys, func(key string) uint64 { return deleteIndex(ctx, client, key) })
	found := make([]election.Observation, 0, len(all))
	for _, l := range all {
		ev := fates[l.Event.Session]
		if ended(l) {
			ev = states[l.Session.Node].evidence(l.Session)
			ev.SessionRead, ev.SessionsIndex, ev.DeleteIndex = true, fates[l.Event.Session].SessionsIndex, deleted[l.Event.Key]
		}
		found = append(found, election.TermEvidence{At: time.Now(), Event: l.Event, Outcome: ev})
	}
	return found
}

// readFate returns the part of the evidence about a session.
func readFate(ctx context.Context, c *consulx.Client, id string) election.Evidence {
	entry, meta, err := c.API().Session().Info(id, c.Consistent(ctx))
	switch {
	case err != nil:
		return election.Evidence{Err: consulx.Describe(c.Wrap(err))}
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
		i := slices.IndexFunc(checks, func(c election.Check) bool { return election.SameNode(c.ID, id) })
		if i >= 0 && checks[i].Status == election.StatusCritical {
			return true
		}
		all = all && i >= 0
	}
	return all
}
