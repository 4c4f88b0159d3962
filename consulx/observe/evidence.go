package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/internal/crash"
)

const (
	// investigationLimit is the timeout of an investigation: the tracker must report the cause within a second after
	// the loss.
	investigationLimit = 900 * time.Millisecond
	// maxInvestigations is the maximum number of concurrent investigations. One investigation covers all losses in a
	// response.
	maxInvestigations = 4
)

// losses returns the terms that ended according to events. answer is the observation that caused the events.
func (o *Observer) losses(events []election.Event, answer election.Observation) []Loss {
	var all []Loss
	read, _ := answer.(election.KeysRead)
	for _, e := range events {
		if e.Type != election.Vacated || e.Initial {
			continue
		}
		_, exists := slices.BinarySearchFunc(read.Pairs, election.Pair{Key: e.Key}, election.ComparePairs)
		all = append(all, Loss{Event: e, Session: o.sessions.Get(e.Session), Deleted: !exists})
	}
	return all
}

// investigate sends the evidence for every loss to the tracker.
func (o *Observer) investigate(ctx context.Context, all []Loss) {
	ctx, cancel := context.WithTimeout(ctx, investigationLimit)
	defer cancel()
	select {
	case o.investigations <- struct{}{}:
		defer func() { <-o.investigations }()
	case <-ctx.Done():
	}
	o.send(true, findEvidence(ctx, o.client, all)...)
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
	fates := gather(all, func(l Loss) string { return l.Event.Session }, func(id string) election.Evidence {
		return readFate(ctx, client, id)
	})
	var gone []Loss
	for _, l := range all {
		if fate := fates[l.Event.Session]; fate.SessionRead && !fate.SessionExists && l.Session != nil {
			gone = append(gone, l)
		}
	}
	nodes := gather(gone, func(l Loss) string { return l.Session.Node }, func(node string) nodeState {
		return readNode(ctx, client, node)
	})
	deleted := gather(withDeletedKey(gone), func(l Loss) string { return l.Event.Key }, func(key string) uint64 {
		return deleteIndex(ctx, client, key)
	})
	found := make([]election.Observation, 0, len(all))
	for _, l := range all {
		ev := combine(l, fates[l.Event.Session], nodes)
		ev.DeleteIndex = deleted[l.Event.Key]
		found = append(found, election.TermEvidence{At: time.Now(), Event: l.Event, Outcome: ev})
	}
	return found
}

func withDeletedKey(all []Loss) []Loss {
	return slices.DeleteFunc(slices.Clone(all), func(l Loss) bool { return !l.Deleted })
}

// gather calls read once for each distinct key, with at most consulx.Parallel concurrent calls.
func gather[T any](all []Loss, key func(Loss) string, read func(string) T) map[string]T {
	answers := map[string]T{}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	keys := map[string]bool{}
	for _, l := range all {
		keys[key(l)] = true
	}
	for k := range keys {
		g.Go(crash.Guard(func() error {
			answer := read(k)
			mu.Lock()
			defer mu.Unlock()
			answers[k] = answer
			return nil
		}))
	}
	_ = g.Wait() // the answers contain the errors of failed reads
	return answers
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
	read, exists bool
	filtered     bool
	checks       []election.Check
	index        uint64
	err          string
}

func readNode(ctx context.Context, c *consulx.Client, name string) nodeState {
	checks, meta, err := c.API().Health().Node(name, c.Consistent(ctx))
	if err != nil {
		return nodeState{err: consulx.Describe(c.Wrap(err))}
	}
	state := nodeState{read: true, exists: true, filtered: c.Filtered(meta), checks: consulx.ChecksOf(checks), index: meta.LastIndex}
	if len(checks) > 0 {
		return state
	}
	// Consul gives the same response for a node without checks and for a node that does not exist.
	node, meta, err := c.API().Catalog().Node(name, c.Consistent(ctx))
	switch {
	case err != nil:
		return nodeState{err: consulx.Describe(c.Wrap(err))}
	case node == nil && (state.filtered || c.Filtered(meta)):
		return nodeState{err: "nodes cannot be read with this token"}
	}
	state.exists = node != nil
	return state
}

func combine(l Loss, found election.Evidence, nodes map[string]nodeState) election.Evidence {
	if !found.SessionRead || found.SessionExists || l.Session == nil {
		return found
	}
	state := nodes[l.Session.Node]
	if state.read && state.filtered && !suffices(l.Session, state.checks) {
		state = nodeState{err: "its checks cannot be read with this token"}
	}
	found.ChecksRead, found.NodeExists = state.read, state.exists
	found.Checks, found.ChecksIndex, found.Err = state.checks, state.index, state.err
	return found
}

// suffices reports whether a list of health checks can explain the end of a session even if ACLs filtered the list: a
// check of the session is critical, or all its checks are present.
func suffices(s *election.Session, checks []election.Check) bool {
	all := true
	for _, id := range s.Checks() {
		i := slices.IndexFunc(checks, func(c election.Check) bool { return election.SameCheck(c.ID, id) })
		if i >= 0 && checks[i].Status == election.StatusCritical {
			return true
		}
		all = all && i >= 0
	}
	return all
}
