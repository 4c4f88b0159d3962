package store

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Registration is the body of PUT /v1/catalog/register.
type Registration struct {
	Datacenter      string
	ID              string
	Node            string
	Address         string
	TaggedAddresses map[string]string
	NodeMeta        map[string]string
	Service         *Service
	Check           *Check
	Checks          []*Check
	SkipNodeUpdate  bool
}

// Deregistration is the body of PUT /v1/catalog/deregister.
type Deregistration struct {
	Datacenter string
	Node       string
	Address    string
	ServiceID  string
	CheckID    string
}

func (r *Registration) settle() error {
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
		c.SetDefaults(r.Node)
		if !strings.EqualFold(c.Node, r.Node) {
			return refused("Node '%s' for check '%s' doesn't match register request node '%s'", c.Node, c.CheckID, r.Node)
		}
	}
	return nil
}

func (s *Service) settle() error {
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
		s.Weights = &Weights{Passing: 1, Warning: 1}
	}
	return nil
}

// Register adds or changes a node, a service on the node, and checks. It applies all changes or none. Every critical
// check, even one that was critical before, invalidates the sessions that depend on it.
func (s *Store) Register(r Registration) error {
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

func (s *Store) ensureNode(r *Registration, index uint64) *node {
	n := s.catalog.nodes[Fold(r.Node)]
	info := NodeInfo{
		ID: r.ID, Node: r.Node, Address: r.Address, Datacenter: r.Datacenter,
		TaggedAddresses: r.TaggedAddresses, Meta: r.NodeMeta, CreateIndex: index, ModifyIndex: index,
	}
	if n == nil {
		n = &node{services: map[string]*Service{}, checks: map[string]*Check{}}
		s.catalog.nodes[Fold(r.Node)] = n
	} else {
		info.CreateIndex, info.ModifyIndex = n.info.CreateIndex, n.info.ModifyIndex
		if r.SkipNodeUpdate || reflect.DeepEqual(info, n.info) {
			return n
		}
		info.ModifyIndex = index
	}
	n.info = info
	s.nodeChanged(n, index)
	return n
}

func (s *Store) ensureService(n *node, svc *Service, index uint64) {
	own := *svc
	own.CreateIndex, own.ModifyIndex = index, index
	if old := n.services[Fold(own.ID)]; old != nil {
		own.CreateIndex, own.ModifyIndex = old.CreateIndex, old.ModifyIndex
		if reflect.DeepEqual(own, *old) {
			return
		}
		own.ModifyIndex = index
	}
	n.services[Fold(own.ID)] = &own
	n.index = index
	s.notify(topicNode, Fold(n.info.Node))
}

// Deregister removes a check, a service with its checks, or the whole node. It ignores unknown names.
func (s *Store) Deregister(d Deregistration) error {
	if d.Node == "" {
		return refused("Must provide node")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	index := s.nextIndex()
	n := s.catalog.nodes[Fold(d.Node)]
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

func (s *Store) removeNode(n *node, index uint64) {
	for _, id := range slices.Sorted(maps.Keys(n.services)) {
		s.removeService(n, id, index)
	}
	for _, id := range slices.Sorted(maps.Keys(n.checks)) {
		s.removeCheck(n, id, index)
	}
	delete(s.catalog.nodes, Fold(n.info.Node))
	s.nodeChanged(n, index)
	for _, sess := range s.sessions.selected(func(sess *Session) bool { return Fold(sess.Node) == Fold(n.info.Node) }) {
		s.invalidateSession(sess.ID, index)
	}
}

func (s *Store) removeService(n *node, id string, index uint64) {
	svc := n.services[Fold(id)]
	if svc == nil {
		return
	}
	for _, checkID := range slices.Sorted(maps.Keys(n.checks)) {
		if Fold(n.checks[checkID].ServiceID) == Fold(id) {
			s.removeCheck(n, checkID, index)
		}
	}
	delete(n.services, Fold(id))
	n.index = index
	s.notify(topicNode, Fold(n.info.Node))
}

func (s *Store) nodeChanged(n *node, index uint64) {
	n.index = index
	s.catalog.nodesIndex = index
	s.notify(topicNode, Fold(n.info.Node))
	s.notify(topicNodes, "")
}
