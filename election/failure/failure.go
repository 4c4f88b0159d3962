// Package failure finds leaders that have failed although their sessions still hold the keys.
package failure

import (
	"fmt"
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
	session *election.Session
	// Until is when the checks stopped being current, zero if they are current.
	Until time.Time
}

// Of finds evidence in the checks of the leader's node that the leader has failed. It returns nil if there is
// none. nodes contains the known checks by node.
func Of(e *election.Election, nodes map[string]election.NodeChecks) *Failure {
	if e.Session == nil {
		return nil
	}
	known := nodes[e.Session.Node]
	if known.Err != "" {
		return nil
	}
	f := In(e, known.Checks)
	if f != nil {
		f.Until = known.Until
	}
	return f
}

// Current reports whether there is a failure, and the checks that show it are current.
func (f *Failure) Current() bool { return f != nil && f.Until.IsZero() }

// In is like [Of] for the current checks of the leader's node.
func In(e *election.Election, checks []election.Check) *Failure {
	s := e.Session
	if s == nil || !e.Exists || e.Unreadable || s.ID != e.Pair.Session {
		return nil
	}
	for i := range checks {
		if c := &checks[i]; c.ID == NodeCheck && failsUnbound(s, c) {
			return &Failure{OfNode: true, Check: c, session: s}
		}
	}
	if c := failedService(e, checks); c != nil && s.TTL == 0 { // with a TTL, the leader must renew its session
		return &Failure{Check: c, session: s}
	}
	return nil
}

// failedService returns a critical check of the leader's service on which the session does not depend. It returns nil
// if another check of the service is not critical.
func failedService(e *election.Election, checks []election.Check) (failed *election.Check) {
	for i := range checks {
		c := &checks[i]
		switch {
		case !checksLeader(e, c):
		case c.Status != election.StatusCritical:
			return nil
		case failed == nil && failsUnbound(e.Session, c):
			failed = c
		}
	}
	return failed
}

// failsUnbound reports whether a check of the session's node is critical, but the session does not depend on it.
func failsUnbound(s *election.Session, c *election.Check) bool {
	return c.Status == election.StatusCritical && c.Node == s.Node && !s.DependsOn(c.ID)
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
	s := f.session
	node, rest := sanitize.Line(s.Node, election.LabelLength), " and has no TTL."
	if s.TTL > 0 {
		rest = fmt.Sprintf(": it remains until its TTL expires, about %s after the last renewal.", 2*s.TTL)
	}
	if f.OfNode {
		return fmt.Sprintf("The leader's node %s has failed (%s is critical), but its session is not bound to %s%s", node, NodeCheck, NodeCheck, rest)
	}
	return fmt.Sprintf("The leader's service is critical (%s on %s), but its session is not bound to that check%s", sanitize.Line(f.Check.ID, election.LabelLength), node, rest)
}
