package consulx

import (
	"context"
	"time"

	"electop/election/sanitize"
)

// clusterTimeout bounds the read of the cluster's identity.
const clusterTimeout = 5 * time.Second

// Cluster returns the identity of the cluster: the trust domain of its service mesh, which every token can read. It is
// empty if the service mesh is disabled or Consul does not respond.
func (c *Client) Cluster(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var roots struct{ TrustDomain string }
	if _, err := c.api.Raw().Query("/v1/connect/ca/roots", &roots, c.Read(ctx)); err != nil {
		return ""
	}
	return sanitize.Line(c.Redact(roots.TrustDomain), 100)
}
