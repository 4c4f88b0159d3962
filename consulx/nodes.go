package consulx

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// FailedNodes returns the nodes whose serfHealth is critical, and none if the checks cannot be read.
func (c *Client) FailedNodes(ctx context.Context) (nodes []string) {
	q := c.Read(ctx)
	q.Filter = `CheckID=="serfHealth"`
	checks, _, _ := c.api.Health().State(api.HealthCritical, q)
	for _, check := range ChecksOf(checks) {
		nodes = append(nodes, check.Node)
	}
	return nodes
}

// Checks reads the health checks of nodes once. Those of a node that does not exist are empty.
func (c *Client) Checks(ctx context.Context, nodes []string) map[string]election.NodeChecks {
	return ReadEach(nodes, func(node string) election.NodeChecks {
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
	})
}

// ChecksOf converts health checks of Consul's API.
func ChecksOf(all api.HealthChecks) []election.Check {
	checks := make([]election.Check, 0, len(all))
	for _, c := range all {
		if c == nil { // only a faulty proxy sends null
			continue
		}
		checks = append(checks, election.Check{
			ID: c.CheckID, Name: c.Name, Node: c.Node, Service: c.ServiceName, Status: c.Status,
			Output: c.Output, ModifyIndex: c.ModifyIndex,
		})
	}
	return checks
}

// Nodes lists all nodes. ErrIncomplete reports that the token cannot read all of them.
func (c *Client) Nodes(ctx context.Context) (names []string, err error) {
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
