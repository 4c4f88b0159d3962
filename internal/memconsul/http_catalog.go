package memconsul

import (
	"maps"
	"slices"
)

// nodeServices is the body of /v1/catalog/node.
type nodeServices struct {
	Node     nodeInfo
	Services map[string]*service
}

func (n *node) sortedServices() []*service {
	out := make([]*service, 0, len(n.services))
	for _, id := range slices.Sorted(maps.Keys(n.services)) {
		out = append(out, n.services[id])
	}
	return out
}

func (a *Agent) serveCatalogRegister(rq *request) (any, error) {
	var reg registration
	if err := rq.decodeJSON(&reg); err != nil {
		return nil, err
	}
	if reg.Datacenter == "" {
		reg.Datacenter = a.cfg.Datacenter
	}
	if err := a.store.register(reg); err != nil {
		return nil, err
	}
	return true, nil
}

func (a *Agent) serveCatalogDeregister(rq *request) (any, error) {
	var dereg deregistration
	if err := rq.decodeJSON(&dereg); err != nil {
		return nil, err
	}
	if err := a.store.deregister(dereg); err != nil {
		return nil, err
	}
	return true, nil
}

func (a *Agent) serveCatalogNodes(rq *request) (any, error) {
	return a.queryCatalog(rq, topic{topicNodes, ""}, func(s *store) answer {
		infos := []nodeInfo{}
		for _, n := range s.catalog.sortedNodes() {
			infos = append(infos, n.info)
		}
		return answer{index: s.catalog.nodesIndex, body: infos}
	})
}

func (a *Agent) serveCatalogNode(rq *request) (any, error) {
	name := fold(rq.rest)
	if name == "" {
		return nil, badRequest("Missing node name")
	}
	return a.queryCatalog(rq, topic{topicNode, name}, func(s *store) answer {
		n := s.catalog.nodes[name]
		if n == nil {
			return answer{body: (*nodeServices)(nil)}
		}
		shown := &nodeServices{Node: n.info, Services: map[string]*service{}}
		for _, svc := range n.services {
			shown.Services[svc.ID] = svc
		}
		return answer{index: n.index, body: shown}
	})
}

func (a *Agent) serveDatacenters(*request) (any, error) {
	return []string{a.cfg.Datacenter}, nil
}
