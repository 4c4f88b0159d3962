package memconsul

import "electop/internal/memconsul/store"

func (a *Agent) serveCatalogRegister(rq *request) (any, error) {
	var reg store.Registration
	if err := rq.decodeJSON(&reg); err != nil {
		return nil, err
	}
	if reg.Datacenter == "" {
		reg.Datacenter = a.cfg.Datacenter
	}
	return true, a.store.Register(reg)
}

func (a *Agent) serveCatalogDeregister(rq *request) (any, error) {
	var dereg store.Deregistration
	if err := rq.decodeJSON(&dereg); err != nil {
		return nil, err
	}
	return true, a.store.Deregister(dereg)
}

func (a *Agent) serveCatalogNodes(rq *request) (any, error) {
	return catalogQuery(rq, a.store.Nodes())
}

func (a *Agent) serveCatalogNode(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing node name")
	}
	return catalogQuery(rq, a.store.Node(rq.rest))
}

func (a *Agent) serveDatacenters(*request) (any, error) {
	return []string{a.cfg.Datacenter}, nil
}
