package demo

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
)

// nodeCheck is the ID of the check of every node. It is not serfHealth, because Consul removes a node with that check
// if the node is not a member of its cluster.
const nodeCheck = "node-alive"

// node is a node that exists only in Consul's catalog.
type node struct {
	name, address string
	client        *consulx.Client
	lost          atomic.Bool // removed from the catalog
}

// register adds the node and its check to the catalog.
func (n *node) register(ctx context.Context) error {
	n.lost.Store(false)
	return n.put(ctx, &api.CatalogRegistration{
		Node: n.name, Address: n.address,
		Check: &api.AgentCheck{
			Node: n.name, CheckID: nodeCheck, Name: "Node is alive", Status: api.HealthPassing, Output: "heartbeat received",
		},
	})
}

// deregister removes the node, which invalidates all its sessions.
func (n *node) deregister(ctx context.Context) error {
	n.lost.Store(true)
	_, err := n.client.API().Catalog().Deregister(&api.CatalogDeregistration{Node: n.name}, n.client.Write(ctx))
	return err
}

// setCheck registers a member's service and its check. It does nothing while the node is not in the catalog.
func (n *node) setCheck(ctx context.Context, m *member, status, output string) error {
	if n.lost.Load() {
		return nil
	}
	return n.put(ctx, &api.CatalogRegistration{
		Node: n.name, Address: n.address, SkipNodeUpdate: true,
		Service: &api.AgentService{ID: m.name, Service: m.service.name, Address: n.address, Port: m.port},
		Check: &api.AgentCheck{
			Node: n.name, CheckID: m.check(), Name: "Service " + m.name, ServiceID: m.name, ServiceName: m.service.name,
			Status: status, Output: output,
		},
	})
}

func (n *node) put(ctx context.Context, r *api.CatalogRegistration) error {
	_, err := n.client.API().Catalog().Register(r, n.client.Write(ctx))
	return err
}
