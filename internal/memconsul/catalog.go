package memconsul

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	serfHealth = "serfHealth"

	statusPassing  = "passing"
	statusWarning  = "warning"
	statusCritical = "critical"
)

// nodeInfo is a node as the HTTP API shows it.
type nodeInfo struct {
	ID              string
	Node            string
	Address         string
	Datacenter      string
	TaggedAddresses map[string]string
	Meta            map[string]string
	CreateIndex     uint64
	ModifyIndex     uint64
}

// service is one instance of a service on a node as the HTTP API shows it.
type service struct {
	ID                string
	Service           string
	Tags              []string
	Address           string
	Meta              map[string]string
	Port              int `json:",omitempty"`
	Weights           *weights
	EnableTagOverride bool
	Proxy             serviceProxy
	Connect           struct{}
	PeerName          string
	CreateIndex       uint64
	ModifyIndex       uint64
}

type weights struct{ Passing, Warning int }

// serviceProxy is always empty: this agent has no service mesh.
type serviceProxy struct {
	Mode        string
	MeshGateway struct{}
	Expose      struct{}
}

// check is a health check as the HTTP API shows it.
type check struct {
	Node        string
	CheckID     string
	Name        string
	Status      string
	Notes       string
	Output      string
	ServiceID   string
	ServiceName string
	ServiceTags []string
	Type        string
	Interval    string
	Timeout     string
	ExposedPort int
	Definition  json.RawMessage
	CreateIndex uint64
	ModifyIndex uint64
}

func (c *check) sameContent(o *check) bool {
	a, b := *c, *o
	a.CreateIndex, a.ModifyIndex = 0, 0
	b.CreateIndex, b.ModifyIndex = 0, 0
	return reflect.DeepEqual(a, b)
}

// registration is the body of PUT /v1/catalog/register.
type registration struct {
	Datacenter      string
	ID              string
	Node            string
	Address         string
	TaggedAddresses map[string]string
	NodeMeta        map[string]string
	Service         *service
	Check           *check
	Checks          []*check
	SkipNodeUpdate  bool
}

// deregistration is the body of PUT /v1/catalog/deregister.
type deregistration struct {
	Datacenter string
	Node       string
	Address    string
	ServiceID  string
	CheckID    string
}

type node struct {
	info     nodeInfo
	services map[string]*service
	checks   map[string]*check
	index    uint64 // of the latest change of the node or its services
}

// catalogTable is the committed catalog, keyed by folded names.
type catalogTable struct {
	nodes map[string]*node

	nodesIndex    uint64
	checksIndex   uint64
	servicesIndex uint64
	extinction    uint64 // of the latest deregistration of an instance of a service
	serviceIndex  map[string]uint64
}

func newCatalogTable() catalogTable {
	return catalogTable{nodes: map[string]*node{}, serviceIndex: map[string]uint64{}}
}

// checksWhere returns the checks that match, sorted by node and ID.
func (t *catalogTable) checksWhere(match func(*check) bool) []*check {
	out := []*check{}
	for _, n := range t.nodes {
		for _, c := range n.checks {
			if match(c) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b *check) int {
		return cmp.Or(cmp.Compare(fold(a.Node), fold(b.Node)), cmp.Compare(fold(a.CheckID), fold(b.CheckID)))
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

func (r *registration) settle() error {
	if r.Node == "" {
		return refused("Must provide node")
	}
	if r.Address == "" && !r.SkipNodeUpdate {
		return refused("Must provide address if SkipNodeUpdate is not set")
	}
	if r.Service != nil {
		if err := r.Service.settle(); err != nil {
			return err
		}
	}
	if r.Check != nil {
		r.Checks = append(r.Checks, r.Check)
	}
	for _, c := range r.Checks {
		c.settle(r.Node)
		if !strings.EqualFold(c.Node, r.Node) {
			return refused("Node '%s' for check '%s' doesn't match register request node '%s'", c.Node, c.CheckID, r.Node)
		}
	}
	return nil
}

func (s *service) settle() error {
	switch {
	case s.ID == "" && s.Service == "":
		return errors.New("service name (Service.Service) is required; " +
			"both Service ID (Service.ID) and Service Name cannot be empty")
	case s.ID == "":
		s.ID = s.Service
	case s.Service == "":
		return refused("Must provide service name (Service.Service) when service ID is provided")
	}
	if s.Tags == nil {
		s.Tags = []string{}
	}
	if s.Weights == nil {
		s.Weights = &weights{Passing: 1, Warning: 1}
	}
	return nil
}

// settle sets the defaults of omitted fields. A check without a status is critical.
func (c *check) settle(nodeName string) {
	if c.Node == "" {
		c.Node = nodeName
	}
	if c.CheckID == "" {
		c.CheckID = c.Name
	}
	if c.Status == "" {
		c.Status = statusCritical
	}
	if c.ServiceTags == nil {
		c.ServiceTags = []string{}
	}
	if len(c.Definition) == 0 || string(c.Definition) == "null" {
		c.Definition = json.RawMessage("{}")
	}
}

// register adds or changes a node, a service on it and checks, all or none. Critical checks invalidate the sessions
// that depend on them, also if they were critical before.
func (s *store) register(r registration) error {
	if err := r.settle(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkServicesExist(&r); err != nil {
		return err
	}
	index := s.nextIndex()
	n := s.ensureNode(&r, index)
	if r.Service != nil {
		s.ensureService(n, r.Service, index)
	}
	for _, c := range r.Checks {
		s.ensureCheck(n, c, index)
	}
	return nil
}

func (s *store) checkServicesExist(r *registration) error {
	n := s.catalog.nodes[fold(r.Node)]
	for _, c := range r.Checks {
		if c.ServiceID == "" || r.Service != nil && fold(r.Service.ID) == fold(c.ServiceID) {
			continue
		}
		if n == nil || n.services[fold(c.ServiceID)] == nil {
			return refused("Unknown service ID '%s' for check ID '%s'", c.ServiceID, c.CheckID)
		}
	}
	return nil
}

func (s *store) ensureNode(r *registration, index uint64) *node {
	n := s.catalog.nodes[fold(r.Node)]
	info := nodeInfo{
		ID: r.ID, Node: r.Node, Address: r.Address, Datacenter: r.Datacenter,
		TaggedAddresses: r.TaggedAddresses, Meta: r.NodeMeta, CreateIndex: index, ModifyIndex: index,
	}
	if n == nil {
		n = &node{services: map[string]*service{}, checks: map[string]*check{}}
		s.catalog.nodes[fold(r.Node)] = n
	} else {
		info.CreateIndex, info.ModifyIndex = n.info.CreateIndex, n.info.ModifyIndex
		if r.SkipNodeUpdate || reflect.DeepEqual(info, n.info) {
			return n
		}
		info.ModifyIndex = index
	}
	n.info = info
	s.nodeChanged(n, index)
	s.servicesOfNodeChanged(n, index)
	return n
}

func (s *store) ensureService(n *node, svc *service, index uint64) {
	own := *svc
	own.CreateIndex, own.ModifyIndex = index, index
	if old := n.services[fold(own.ID)]; old != nil {
		own.CreateIndex, own.ModifyIndex = old.CreateIndex, old.ModifyIndex
		if reflect.DeepEqual(own, *old) {
			return
		}
		own.ModifyIndex = index
	}
	n.services[fold(own.ID)] = &own
	n.index = index
	s.notify(topicNode, fold(n.info.Node))
	s.serviceChanged(own.Service, index)
}

func (s *store) ensureCheck(n *node, given *check, index uint64) {
	c := *given
	c.Node = n.info.Node
	if svc := n.services[fold(c.ServiceID)]; svc != nil {
		c.ServiceName, c.ServiceTags = svc.Service, svc.Tags
	}
	old := n.checks[fold(c.CheckID)]
	c.CreateIndex, c.ModifyIndex = index, index
	if old != nil {
		c.CreateIndex = old.CreateIndex
	}
	if c.Status == statusCritical {
		s.invalidateByCheck(c.Node, c.CheckID, index)
	}
	if old != nil && old.sameContent(&c) {
		return
	}
	n.checks[fold(c.CheckID)] = &c
	s.checkChanged(n, &c, index)
}

// deregister removes a service with its checks, a check, or the whole node. Unknown names are ignored.
func (s *store) deregister(d deregistration) error {
	if d.Node == "" {
		return refused("Must provide node")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	index := s.nextIndex()
	n := s.catalog.nodes[fold(d.Node)]
	switch {
	case n == nil:
	case d.ServiceID != "":
		s.removeService(n, d.ServiceID, index)
	case d.CheckID != "":
		s.removeCheck(n, d.CheckID, index)
	default:
		s.removeNode(n, index)
	}
	return nil
}

func (s *store) removeNode(n *node, index uint64) {
	for _, id := range slices.Sorted(maps.Keys(n.services)) {
		s.removeService(n, id, index)
	}
	for _, id := range slices.Sorted(maps.Keys(n.checks)) {
		s.removeCheck(n, id, index)
	}
	delete(s.catalog.nodes, fold(n.info.Node))
	s.nodeChanged(n, index)
	for _, sess := range s.sessions.selected(func(sess *session) bool { return fold(sess.Node) == fold(n.info.Node) }) {
		s.invalidateSession(sess.ID, index)
	}
}

func (s *store) removeService(n *node, id string, index uint64) {
	svc := n.services[fold(id)]
	if svc == nil {
		return
	}
	for _, checkID := range slices.Sorted(maps.Keys(n.checks)) {
		if fold(n.checks[checkID].ServiceID) == fold(id) {
			s.removeCheck(n, checkID, index)
		}
	}
	delete(n.services, fold(id))
	n.index = index
	s.catalog.extinction = index
	s.notify(topicNode, fold(n.info.Node))
	s.serviceChanged(svc.Service, index)
}

func (s *store) removeCheck(n *node, id string, index uint64) {
	c := n.checks[fold(id)]
	if c == nil {
		return
	}
	delete(n.checks, fold(id))
	s.checkChanged(n, c, index)
	s.invalidateByCheck(n.info.Node, c.CheckID, index)
}

func (s *store) nodeChanged(n *node, index uint64) {
	n.index = index
	s.catalog.nodesIndex = index
	s.notify(topicNode, fold(n.info.Node))
	s.notify(topicNodes, "")
}

// checkChanged notifies the queries on the check and its service. A check of the node belongs to all its services.
func (s *store) checkChanged(n *node, c *check, index uint64) {
	s.catalog.checksIndex = index
	s.notify(topicNodeChecks, fold(n.info.Node))
	s.notify(topicChecks, "")
	if c.ServiceName != "" {
		s.serviceChanged(c.ServiceName, index)
	} else {
		s.servicesOfNodeChanged(n, index)
	}
}

func (s *store) servicesOfNodeChanged(n *node, index uint64) {
	for _, svc := range n.services {
		s.serviceChanged(svc.Service, index)
	}
}

func (s *store) serviceChanged(name string, index uint64) {
	s.catalog.servicesIndex = index
	s.catalog.serviceIndex[fold(name)] = index
	s.notify(topicServiceName, fold(name))
}
