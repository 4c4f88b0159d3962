package consulx

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// Surveys reads the surroundings of elections once: all sessions, and for each election at most 64 keys under the same
// parent. If there are more keys, it prefers the keys of likely contenders. The results are in the order of the keys and
// contain the errors of failed reads.
func Surveys(ctx context.Context, c *Client, keys []string) []election.Surroundings {
	all := make([]election.Surroundings, len(keys))
	var sessions []*election.Session
	var sessionsErr error
	var failed []string
	Each(1+len(keys), func(i int) {
		if i == 0 {
			sessions, sessionsErr = c.AllSessions(c.Read(ctx))
			failed = c.FailedNodes(ctx)
			return
		}
		s := &all[i-1]
		var err error
		s.Key = keys[i-1]
		s.Siblings, s.SiblingsCut, err = c.Siblings(ctx, s.Key)
		s.SiblingsErr = ReadProblem("sibling keys", err)
	})
	at := time.Now()
	for i := range all {
		all[i].At, all[i].Sessions, all[i].SessionsErr = at, sessions, ReadProblem("sessions", sessionsErr)
		all[i].Failed = failed
	}
	return all
}

// Siblings reads the other keys under the parent of key. If some are not readable, it returns the readable ones and
// ErrIncomplete. cut is set if there are more than TxnReads keys.
func (c *Client) Siblings(ctx context.Context, key string) (pairs []election.Pair, cut bool, err error) {
	parent := election.Parent(key)
	switch {
	case parent == "":
		return nil, false, nil
	case LiteralPrefix(parent) != parent:
		return nil, false, Fail(nil, "Consul normalizes the path %s, so its keys cannot be listed", parent)
	}
	keys, err := c.ListKeys(ctx, parent)
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return nil, false, err
	}
	chosen, cut := chooseSiblings(keys, key, parent)
	pairs, exist, readErr := c.ReadExisting(chosen, c.Read(ctx))
	if len(pairs) < len(exist) {
		err = incomplete("keys")
	}
	return pairs, cut, cmp.Or(readErr, err)
}

// chooseSiblings returns at most TxnReads keys, those of likely contenders first: keys that are named after a session
// (semaphores) or are under members/ (Patroni). cut is set if it omitted keys.
func chooseSiblings(keys []string, key, parent string) (chosen []string, cut bool) {
	var others []string
	for _, k := range keys {
		switch {
		case k == key:
		case strings.HasPrefix(k, parent+"members/"), IsSessionID(k[strings.LastIndexByte(k, '/')+1:]):
			chosen = append(chosen, k)
		default:
			others = append(others, k)
		}
	}
	if chosen = append(chosen, others...); len(chosen) > TxnReads {
		return chosen[:TxnReads], true
	}
	return chosen, false
}

// IsSessionID reports whether text has the form of a session ID, a UUID.
func IsSessionID(text string) bool { return sessionID.MatchString(text) }

var sessionID = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// NodeChecks reads the health checks of a node once. The result is empty if the node does not exist.
func NodeChecks(ctx context.Context, c *Client, node string) election.NodeChecks {
	checks, meta, err := c.api.Health().Node(node, c.Read(ctx))
	read := election.NodeChecks{At: time.Now(), Checks: ChecksOf(checks)}
	switch {
	case err != nil:
		read.Err = Describe(c.Wrap(err))
	case checks == nil, slices.Contains(checks, nil):
		read.Err = "the response is not Consul's: it is or contains null"
	case len(checks) == 0 && c.Filtered(meta):
		read.Err = "not readable with this token"
	default:
		read.Partial = c.Filtered(meta)
	}
	return read
}

// FailedNodes returns the nodes whose serfHealth is critical, and none if the checks cannot be read.
func (c *Client) FailedNodes(ctx context.Context) (nodes []string) {
	q := c.Read(ctx)
	q.Filter = `CheckID=="serfHealth"`
	checks, _, _ := c.api.Health().State(api.HealthCritical, q)
	for _, check := range checks {
		if check != nil {
			nodes = append(nodes, check.Node)
		}
	}
	return nodes
}

// NodesChecks is like [NodeChecks] for several nodes.
func NodesChecks(ctx context.Context, c *Client, nodes []string) map[string]election.NodeChecks {
	return ReadEach(nodes, func(node string) election.NodeChecks { return NodeChecks(ctx, c, node) })
}

// Nodes lists all nodes. ErrIncomplete reports that the token cannot read all of them.
func Nodes(ctx context.Context, c *Client) (names []string, err error) {
	all, meta, err := c.api.Catalog().Nodes(c.Read(ctx))
	for _, node := range all {
		if node != nil {
			names = append(names, node.Node)
		}
	}
	if err == nil && (meta.ResultsFilteredByACLs || len(all) == 0) {
		err = incomplete("nodes")
	}
	return names, c.Wrap(err)
}
