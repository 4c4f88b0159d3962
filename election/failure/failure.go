// Package failure finds leaders that have failed although their sessions still hold the keys.
package failure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// NodeCheck is the check with which Consul monitors its agent on a node.
const NodeCheck = "serfHealth"

// Failure is evidence that a leader has failed although its session still holds the key.
type Failure struct {
	// OfNode is set if the node has failed, and not only the leader's service.
	OfNode bool
	// Check is the critical check. The session does not depend on it.
	Check   *election.Check
	Session *election.Session
	// Until is the time at which the checks stopped being current, or zero if they are current.
	Until time.Time
}

// Of looks in the checks of the leader's node for evidence that the leader has failed. It returns nil if it finds no
// evidence. nodes contains the known checks by node. For many elections, use [NewNodes].
func Of(e *election.Election, nodes map[string]election.NodeChecks) *Failure {
	if e.Session == nil {
		return nil
	}
	node := e.Session.Node
	return NewNodes(map[string]election.NodeChecks{node: nodes[node]}).Of(e)
}

// In is like [Of], but takes the checks of the leader's node, which must be current.
func In(e *election.Election, checks []election.Check) *Failure {
	if e.Session == nil {
		return nil
	}
	return Of(e, map[string]election.NodeChecks{e.Session.Node: {Checks: checks}})
}

// Nodes holds the nodes that have a critical check, by name. A node can have hundreds of checks, and few of them are
// critical.
type Nodes map[string]node

type node struct {
	checks   []election.Check
	critical []*election.Check
	until    time.Time
}

// NewNodes returns the nodes that have a critical check. checks contains the known checks by node.
func NewNodes(checks map[string]election.NodeChecks) Nodes {
	nodes := Nodes{}
	for name, known := range checks {
		n := node{checks: known.Checks, until: known.Until}
		for i := range n.checks {
			if c := &n.checks[i]; c.Status == election.StatusCritical {
				n.critical = append(n.critical, c)
			}
		}
		if len(n.critical) > 0 && known.Err == "" {
			nodes[name] = n
		}
	}
	return nodes
}

// Of is like the function [Of] for the checks with which ns was created.
func (ns Nodes) Of(e *election.Election) *Failure {
	s := e.Session
	if s == nil || !e.Exists || e.Unreadable || s.ID != e.Pair.Session {
		return nil
	}
	n := ns[s.Node]
	for _, c := range n.critical {
		if c.ID == NodeCheck && unbound(s, c) {
			return &Failure{OfNode: true, Check: c, Session: s, Until: n.until}
		}
	}
	if s.TTL > 0 { // the session expires if the leader has failed
		return nil
	}
	if c := n.failedService(e); c != nil {
		return &Failure{Check: c, Session: s, Until: n.until}
	}
	return nil
}

// failedService returns a critical check of the leader's service on which the session does not depend. It returns nil
// if another check of the service is not critical.
func (n node) failedService(e *election.Election) *election.Check {
	i := slices.IndexFunc(n.critical, func(c *election.Check) bool { return checksLeader(e, c) && unbound(e.Session, c) })
	if i < 0 || slices.ContainsFunc(n.checks, func(c election.Check) bool {
		return c.Status != election.StatusCritical && checksLeader(e, &c)
	}) {
		return nil
	}
	return n.critical[i]
}

// Known reports whether the checks of the leader's node show whether the leader has failed. If ACLs hide some checks,
// the visible checks must include [NodeCheck] and a check of the leader's service.
func Known(e *election.Election, known election.NodeChecks) bool {
	if known.Err != "" || !known.Partial {
		return known.Err == ""
	}
	return slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.ID == NodeCheck }) &&
		slices.ContainsFunc(known.Checks, func(c election.Check) bool { return checksLeader(e, &c) })
}

// Current reports whether the leader has failed according to current checks.
func (f *Failure) Current() bool { return f != nil && f.Until.IsZero() }

// unbound reports whether a check is registered on the session's node and the session does not depend on it.
func unbound(s *election.Session, c *election.Check) bool {
	return election.SameNode(c.Node, s.Node) && !s.DependsOn(c.ID)
}

// checksLeader reports whether a check belongs to the leader's service: the service or ID of the check equals the
// name of the session, the leader or the election.
func checksLeader(e *election.Election, c *election.Check) bool {
	if c.Service == "" {
		return false
	}
	id := strings.TrimPrefix(c.ID, "service:")
	for _, name := range [...]string{e.Session.Name, e.Name, e.Leader} {
		if name == c.Service || name == id {
			return true
		}
	}
	return false
}

// Brief describes the failure in two words.
func (f *Failure) Brief() string {
	if f.OfNode {
		return "node failed"
	}
	return "service critical"
}

// Why describes the evidence in one sentence.
func (f *Failure) Why() string {
	s := f.Session
	node, rest := sanitize.Line(s.Node, election.LabelLength), " and has no TTL."
	if s.TTL > 0 {
		rest = fmt.Sprintf(": it remains until its TTL expires, about %s after the last renewal.", 2*s.TTL)
	}
	if f.OfNode {
		return fmt.Sprintf("The leader's node %s has failed (%s is critical), but its session is not bound to %s%s", node, NodeCheck, NodeCheck, rest)
	}
	return fmt.Sprintf("The leader's service is critical (%s on %s), but its session is not bound to that check%s", sanitize.Line(f.Check.ID, election.LabelLength), node, rest)
}
