package consulx

import (
	"context"
	"time"

	"electop/election"
)

// NodeChecks reads the health checks of a node once
// (GET /v1/health/node/:node). A node that does not exist has none; what went
// wrong is in Err.
func NodeChecks(ctx context.Context, c *Client, node string) election.NodeChecks {
	checks, meta, err := c.api.Health().Node(node, c.read(ctx))
	read := election.NodeChecks{At: time.Now(), Checks: toChecks(checks)}
	switch {
	case err != nil:
		read.Err = Describe(c.wrap(err))
	case len(checks) == 0 && c.filtered(meta):
		read.Err = "not readable with this token"
	default:
		read.Partial = c.filtered(meta)
	}
	return read
}
