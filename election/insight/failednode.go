package insight

import (
	"fmt"
	"time"

	"electop/election"
)

// NodeCheck is the check with which Consul monitors its agent on a node.
const NodeCheck = "serfHealth"

// FailureSeen is how long electop must see that a node check is critical before it destroys a session: Consul does not
// report since when a check is critical, and a short loss of the network is no failure.
const FailureSeen = 15 * time.Second

// FailureBrief describes a failure in two words.
const FailureBrief = "node failed"

// Failure is a leader whose node has failed although its session still holds the key: [NodeCheck] is critical, and the
// session does not depend on it.
type Failure struct {
	Check   *election.Check
	Session *election.Session
	// Until is the time at which the checks stopped being current, or zero if they are current.
	Until time.Time
}

// FailureOf returns the failure of an election's leader, or nil if the checks show none. nodes contains the known checks by
// node.
func FailureOf(e *election.Election, nodes map[string]election.NodeChecks) *Failure {
	s := e.Session
	if s == nil || !e.Exists || e.Unreadable || !e.Pair.HeldBy(s.ID) || s.DependsOn(NodeCheck) {
		return nil
	}
	known := nodes[s.Node]
	for i := range known.Checks {
		if c := &known.Checks[i]; c.ID == NodeCheck && c.Service == "" && c.Status == election.StatusCritical && known.Err == "" && election.SameNode(c.Node, s.Node) {
			return &Failure{Check: c, Session: s, Until: known.Until}
		}
	}
	return nil
}

// Current reports whether the leader's node has failed according to current checks.
func (f *Failure) Current() bool { return f != nil && f.Until.IsZero() }

// Why describes the failure in one sentence.
func (f *Failure) Why() string {
	s, rest := f.Session, " and has no TTL."
	if s.TTL > 0 {
		rest = fmt.Sprintf(": it remains until its TTL expires, about %s after the last renewal.", 2*s.TTL)
	}
	return fmt.Sprintf("The leader's node %s has failed (%s is critical), but its session is not bound to %s%s",
		election.Label(s.Node), NodeCheck, NodeCheck, rest)
}
