package consulx

import (
	"context"
	"errors"

	"electop/election/sanitize"
)

// Info describes the agent that answers, as far as the token may know.
type Info struct {
	Datacenter string
	// Node and Version are empty when the token may not read the agent.
	Node    string
	Version string
	// ConsensusLeader is the address of Consul's own leader, empty without a
	// quorum.
	ConsensusLeader string
}

// Info asks who answers. The agent tells itself only to tokens that may read
// it; the datacenters and the consensus leader need no rights.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	leader, err := c.consensusLeader(ctx)
	if err != nil {
		return info, err
	}
	info.ConsensusLeader = leader
	var self struct {
		Config struct{ Datacenter, NodeName, Version string }
	}
	_, err = c.api.Raw().Query("/v1/agent/self", &self, c.read(ctx))
	if err = c.wrap(err); err != nil && !errors.Is(err, ErrDenied) {
		return info, err
	}
	info.Datacenter, info.Node, info.Version = self.Config.Datacenter, self.Config.NodeName, self.Config.Version
	if c.datacenter != "" {
		info.Datacenter = c.datacenter
	}
	if info.Datacenter == "" {
		info.Datacenter, err = c.localDatacenter(ctx)
	}
	for _, text := range []*string{&info.Datacenter, &info.Node, &info.Version, &info.ConsensusLeader} {
		*text = sanitize.Text(c.redact(*text))
	}
	return info, c.wrap(err)
}

// localDatacenter is the first of the list, which Consul sorts by distance. The
// library's own call takes no context.
func (c *Client) localDatacenter(ctx context.Context) (string, error) {
	var all []string
	if _, err := c.api.Raw().Query("/v1/catalog/datacenters", &all, c.read(ctx)); err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", nil
	}
	return all[0], nil
}

// consensusLeader is the address of Consul's own leader, "" while there is
// none.
func (c *Client) consensusLeader(ctx context.Context) (string, error) {
	leader, err := c.api.Status().LeaderWithQueryOptions(c.read(ctx))
	return leader, c.wrap(err)
}
