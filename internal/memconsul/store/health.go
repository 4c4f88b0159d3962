package store

// Instance is one instance of a service with its node and its checks.
type Instance struct {
	Node    NodeInfo
	Service *Service
	Checks  []*Check
}

// instances returns the instances of a service, sorted by node, with the checks of the instance and of its node.
func (t *catalogTable) instances(name string) []Instance {
	var out []Instance
	for _, n := range t.sortedNodes() {
		for _, svc := range n.sortedServices() {
			if Fold(svc.Service) != name {
				continue
			}
			out = append(out, Instance{n.info, svc, t.checksWhere(func(c *Check) bool {
				return Fold(c.Node) == Fold(n.info.Node) && (c.ServiceID == "" || Fold(c.ServiceID) == Fold(svc.ID))
			})})
		}
	}
	return out
}

// NodeChecks returns a query for the checks of one node, sorted by ID.
func (s *Store) NodeChecks(node string) Query[[]*Check] {
	node = Fold(node)
	return s.checks(topic{topicNodeChecks, node}, func(c *Check) bool { return Fold(c.Node) == node })
}

// ServiceChecks returns a query for the checks of one service, sorted by node and ID.
func (s *Store) ServiceChecks(service string) Query[[]*Check] {
	service = Fold(service)
	return s.checks(topic{topicServiceName, service}, func(c *Check) bool { return Fold(c.ServiceName) == service })
}

// Checks returns a query for all checks with a status, sorted by node and ID. The status "any" matches every check.
func (s *Store) Checks(status string) Query[[]*Check] {
	return s.checks(topic{topicChecks, ""}, func(c *Check) bool { return status == "any" || c.Status == status })
}

func (s *Store) checks(wake topic, match func(*Check) bool) Query[[]*Check] {
	return Query[[]*Check]{s, wake, func(s *Store) Result[[]*Check] {
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: s.catalog.checksWhere(match)}
	}}
}

// Instances returns a query for the instances of one service, sorted by node.
func (s *Store) Instances(service string) Query[[]Instance] {
	service = Fold(service)
	return Query[[]Instance]{s, topic{topicServiceName, service}, func(s *Store) Result[[]Instance] {
		found := s.catalog.instances(service)
		index := s.catalog.serviceIndex[service]
		if len(found) == 0 && s.catalog.extinction > 0 {
			index = s.catalog.extinction
		} else if index == 0 {
			index = max(s.catalog.nodesIndex, s.catalog.checksIndex, s.catalog.servicesIndex)
		}
		return Result[[]Instance]{Index: index, Body: found}
	}}
}
