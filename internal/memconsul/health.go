package memconsul

// checkedService is one instance of a service with its node and its checks.
type checkedService struct {
	Node    nodeInfo
	Service *service
	Checks  []*check
}

func (a *Agent) serveHealthNode(rq *request) (any, error) {
	node := fold(rq.rest)
	if node == "" {
		return nil, badRequest("Missing node name")
	}
	return a.queryChecks(rq, topic{topicNodeChecks, node}, func(c *check) bool { return fold(c.Node) == node })
}

func (a *Agent) serveHealthChecks(rq *request) (any, error) {
	name := fold(rq.rest)
	if name == "" {
		return nil, badRequest("Missing service name")
	}
	return a.queryChecks(rq, topic{topicServiceName, name}, func(c *check) bool { return fold(c.ServiceName) == name })
}

func (a *Agent) serveHealthState(rq *request) (any, error) {
	state := rq.rest
	if state == "" {
		return nil, badRequest("Missing check state")
	}
	return a.queryChecks(rq, topic{topicChecks, ""}, func(c *check) bool { return state == "any" || c.Status == state })
}

func (a *Agent) queryChecks(rq *request, wake topic, match func(*check) bool) (any, error) {
	pass, err := parseCheckFilter(rq.params.Get("filter"))
	if err != nil {
		return nil, err
	}
	return a.queryCatalog(rq, wake, func(s *store) answer {
		found := s.catalog.checksWhere(func(c *check) bool { return match(c) && pass(c) })
		return answer{index: s.catalog.checksIndex, body: found}
	})
}

func (a *Agent) serveHealthService(rq *request) (any, error) {
	name := fold(rq.rest)
	if name == "" {
		return nil, badRequest("Missing service name")
	}
	if rq.params.Has("filter") {
		return nil, badRequest("memconsul supports no filter on services")
	}
	tag, passing := rq.params.Get("tag"), rq.params.Has("passing")
	body, err := a.queryCatalog(rq, topic{topicServiceName, name}, func(s *store) answer {
		found := s.catalog.instances(name)
		index := s.catalog.serviceIndex[name]
		if len(found) == 0 && s.catalog.extinction > 0 {
			index = s.catalog.extinction
		} else if index == 0 {
			index = max(s.catalog.nodesIndex, s.catalog.checksIndex, s.catalog.servicesIndex)
		}
		return answer{index: index, body: found}
	})
	found, ok := body.([]checkedService)
	if !ok {
		return nil, err
	}
	shown := []checkedService{}
	for _, inst := range found {
		if inst.hasTag(tag) && (!passing || inst.allPassing()) {
			shown = append(shown, inst)
		}
	}
	return shown, nil
}

// instances returns the instances of a service, sorted by node, with the checks of the instance and of its node.
func (t *catalogTable) instances(name string) []checkedService {
	var out []checkedService
	for _, n := range t.sortedNodes() {
		for _, svc := range n.sortedServices() {
			if fold(svc.Service) != name {
				continue
			}
			out = append(out, checkedService{n.info, svc, t.checksWhere(func(c *check) bool {
				return fold(c.Node) == fold(n.info.Node) && (c.ServiceID == "" || fold(c.ServiceID) == fold(svc.ID))
			})})
		}
	}
	return out
}

func (c checkedService) hasTag(tag string) bool {
	if tag == "" {
		return true
	}
	for _, own := range c.Service.Tags {
		if fold(own) == fold(tag) {
			return true
		}
	}
	return false
}

func (c checkedService) allPassing() bool {
	for _, own := range c.Checks {
		if own.Status != statusPassing {
			return false
		}
	}
	return true
}
