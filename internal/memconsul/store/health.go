package store

import (
	"encoding/json"
	"reflect"
)

// Values of Check.Status.
const (
	StatusPassing  = "passing"
	StatusWarning  = "warning"
	StatusCritical = "critical"
)

// Check is a health check in the form of the HTTP API.
type Check struct {
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

func (c *Check) sameContent(o *Check) bool {
	a, b := *c, *o
	a.CreateIndex, a.ModifyIndex = 0, 0
	b.CreateIndex, b.ModifyIndex = 0, 0
	return reflect.DeepEqual(a, b)
}

// SetDefaults sets the fields that the client omitted. A check without a status is critical.
func (c *Check) SetDefaults(nodeName string) {
	if c.Node == "" {
		c.Node = nodeName
	}
	if c.CheckID == "" {
		c.CheckID = c.Name
	}
	if c.Status == "" {
		c.Status = StatusCritical
	}
	if c.ServiceTags == nil {
		c.ServiceTags = []string{}
	}
	if len(c.Definition) == 0 || string(c.Definition) == "null" {
		c.Definition = json.RawMessage("{}")
	}
}

func (s *Store) checkServicesExist(r *Registration) error {
	n := s.catalog.nodes[Fold(r.Node)]
	for _, c := range r.Checks {
		if c.ServiceID == "" || r.Service != nil && Fold(r.Service.ID) == Fold(c.ServiceID) {
			continue
		}
		if n == nil || n.services[Fold(c.ServiceID)] == nil {
			return refused("Unknown service ID '%s' for check ID '%s'", c.ServiceID, c.CheckID)
		}
	}
	return nil
}

func (s *Store) ensureCheck(n *node, given *Check, index uint64) {
	c := *given
	c.Node = n.info.Node
	if svc := n.services[Fold(c.ServiceID)]; svc != nil {
		c.ServiceName, c.ServiceTags = svc.Service, svc.Tags
	}
	old := n.checks[Fold(c.CheckID)]
	c.CreateIndex, c.ModifyIndex = index, index
	if old != nil {
		c.CreateIndex = old.CreateIndex
	}
	if c.Status == StatusCritical {
		s.invalidateByCheck(c.Node, c.CheckID, index)
	}
	if old != nil && old.sameContent(&c) {
		return
	}
	n.checks[Fold(c.CheckID)] = &c
	s.checkChanged(n, index)
}

func (s *Store) removeCheck(n *node, id string, index uint64) {
	c := n.checks[Fold(id)]
	if c == nil {
		return
	}
	delete(n.checks, Fold(id))
	s.checkChanged(n, index)
	s.invalidateByCheck(n.info.Node, c.CheckID, index)
}

// checkChanged notifies the queries for the checks of the node.
func (s *Store) checkChanged(n *node, index uint64) {
	s.catalog.checksIndex = index
	s.notify(topicNodeChecks, Fold(n.info.Node))
}

// NodeChecks returns a query for the checks of one node, sorted by ID.
func (s *Store) NodeChecks(node string) Query[[]*Check] {
	node = Fold(node)
	return Query[[]*Check]{s, topic{topicNodeChecks, node}, func(s *Store) Result[[]*Check] {
		found := s.catalog.checksWhere(func(c *Check) bool { return Fold(c.Node) == node })
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: found}
	}}
}

// StateChecks returns a query for the checks with a status. It does not wait for changes.
func (s *Store) StateChecks(status string) Query[[]*Check] {
	return Query[[]*Check]{store: s, read: func(s *Store) Result[[]*Check] {
		found := s.catalog.checksWhere(func(c *Check) bool { return c.Status == status })
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: found}
	}}
}
