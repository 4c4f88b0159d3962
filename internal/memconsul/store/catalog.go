package store

import (
	"cmp"
	"maps"
	"slices"
)

// SerfHealth is the ID of the check that each agent's node has.
const SerfHealth = "serfHealth"

// NodeInfo is a node in the form of the HTTP API.
type NodeInfo struct {
	ID              string
	Node            string
	Address         string
	Datacenter      string
	TaggedAddresses map[string]string
	Meta            map[string]string
	CreateIndex     uint64
	ModifyIndex     uint64
}

// Service is one instance of a service on a node in the form of the HTTP API.
type Service struct {
	ID                string
	Service           string
	Tags              []string
	Address           string
	Meta              map[string]string
	Port              int `json:",omitempty"`
	Weights           *Weights
	EnableTagOverride bool
	Proxy             serviceProxy
	Connect           struct{}
	PeerName          string
	CreateIndex       uint64
	ModifyIndex       uint64
}

// Weights are the weights of a service in DNS responses.
type Weights struct{ Passing, Warning int }

// serviceProxy is always empty, because this agent does not implement the service mesh.
type serviceProxy struct {
	Mode        string
	MeshGateway struct{}
	Expose      struct{}
}

type node struct {
	info     NodeInfo
	services map[string]*Service
	checks   map[string]*Check
	index    uint64 // index of the latest change to the node or to one of its services
}

// catalogTable is the catalog. The keys of its maps are folded names (see [Fold]).
type catalogTable struct {
	nodes map[string]*node

	nodesIndex  uint64
	checksIndex uint64
}

// checksWhere returns the checks that match, sorted by node and ID.
func (t *catalogTable) checksWhere(match func(*Check) bool) []*Check {
	out := []*Check{}
	for _, n := range t.nodes {
		for _, c := range n.checks {
			if match(c) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Check) int {
		return cmp.Or(cmp.Compare(Fold(a.Node), Fold(b.Node)), cmp.Compare(Fold(a.CheckID), Fold(b.CheckID)))
	})
	return out
}

func (t *catalogTable) sortedNodes() []*node {
	names := slices.Sorted(maps.Keys(t.nodes))
	out := make([]*node, 0, len(names))
	for _, name := range names {
		out = append(out, t.nodes[name])
	}
	return out
}

// HasService reports whether a service with this ID is registered on the node.
func (s *Store) HasService(nodeName, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.catalog.nodes[Fold(nodeName)]
	return n != nil && n.services[Fold(id)] != nil
}

// NodeServices is a node with its services by ID.
type NodeServices struct {
	Node     NodeInfo
	Services map[string]*Service
}

// Nodes returns a query for all nodes, sorted by name.
func (s *Store) Nodes() Query[[]NodeInfo] {
	return Query[[]NodeInfo]{s, topic{topicNodes, ""}, func(s *Store) Result[[]NodeInfo] {
		infos := []NodeInfo{}
		for _, n := range s.catalog.sortedNodes() {
			infos = append(infos, n.info)
		}
		return Result[[]NodeInfo]{Index: s.catalog.nodesIndex, Body: infos}
	}}
}

// Node returns a query for a node and its services. The body is nil if the node does not exist.
func (s *Store) Node(name string) Query[*NodeServices] {
	name = Fold(name)
	return Query[*NodeServices]{s, topic{topicNode, name}, func(s *Store) Result[*NodeServices] {
		n := s.catalog.nodes[name]
		if n == nil {
			return Result[*NodeServices]{}
		}
		shown := &NodeServices{Node: n.info, Services: map[string]*Service{}}
		for _, svc := range n.services {
			shown.Services[svc.ID] = svc
		}
		return Result[*NodeServices]{Index: n.index, Body: shown}
	}}
}
