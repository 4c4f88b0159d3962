package consulx

import (
	"context"

	"electop/election"
)

// NodeChecks reads the health checks of a node once
// (GET /v1/health/node/:node). A node that does not exist has none.
func NodeChecks(ctx context.Context, c *Client, node string) ([]election.Check, error) {
	checks, meta, err := c.api.Health().Node(node, c.read(ctx))
	if err != nil {
		return nil, c.wrap(err)
	}
	if len(checks) == 0 && c.filtered(meta) {
		return nil, fail(ErrDenied, "checks of node %s may not be read with this token", node)
	}
	return toChecks(checks), nil
}
