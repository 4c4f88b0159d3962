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

// Info describes the agent. Its node and version are readable with some tokens
// only; the datacenter and the consensus leader are public.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	leader, err := c.ConsensusLeader(ctx)
	if err != nil {
		return info, err
	}
	info.ConsensusLeader = leader
	var self struct {
		Config struct{ Datacenter, NodeName, Version string }
	}
	_, err = c.api.Raw().Query("/v1/agent/self", &self, c.Read(ctx))
	if err = c.Wrap(err); err != nil && !errors.Is(err, ErrDenied) {
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
		*text = sanitize.Text(c.Redact(*text))
	}
	return info, c.Wrap(err)
}

// localDatacenter is the first of the list, which Consul sorts by distance. The
// library's own call takes no context.
func (c *Client) localDatacenter(ctx context.Context) (string, error) {
	var all []string
	if _, err := c.api.Raw().Query("/v1/catalog/datacenters", &all, c.Read(ctx)); err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", nil
	}
	return all[0], nil
}

// ConsensusLeader is the address of Consul's own leader, "" while there is
// none.
func (c *Client) ConsensusLeader(ctx context.Context) (string, error) {
	leader, err := c.api.Status().LeaderWithQueryOptions(c.Read(ctx))
	return leader, c.Wrap(err)
}
