package consulx

import (
	"context"
	"time"

	"electop/consulx/internal/wire"
	"electop/election"
)

// NodeChecks reads the health checks of a node once
// (GET /v1/health/node/:node). A node that does not exist has none; what went
// wrong is in Err.
func NodeChecks(ctx context.Context, c *Client, node string) election.NodeChecks {
	checks, meta, err := c.api.Health().Node(node, c.Read(ctx))
	read := election.NodeChecks{At: time.Now(), Checks: wire.Checks(checks)}
	switch {
	case err != nil:
		read.Err = Describe(c.Wrap(err))
	case len(checks) == 0 && c.Filtered(meta):
		read.Err = "not readable with this token"
	default:
		read.Partial = c.Filtered(meta)
	}
	return read
}
