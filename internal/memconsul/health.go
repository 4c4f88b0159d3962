package memconsul

import (
	"slices"

	"electop/internal/memconsul/store"
)

func (a *Agent) serveHealthNode(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing node name")
	}
	return filteredChecks(rq, a.store.NodeChecks(rq.rest))
}

func (a *Agent) serveHealthChecks(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing service name")
	}
	return filteredChecks(rq, a.store.ServiceChecks(rq.rest))
}

func (a *Agent) serveHealthState(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing check state")
	}
	return filteredChecks(rq, a.store.Checks(rq.rest))
}

// filteredChecks runs a query and removes the checks that do not match the request's filter.
func filteredChecks(rq *request, q store.Query[[]*store.Check]) (any, error) {
	pass, err := parseCheckFilter(rq.params.Get("filter"))
	if err != nil {
		return nil, err
	}
	checks, ok := query(rq, q)
	if !ok {
		return nil, nil
	}
	rq.setConsistencyHeader()
	return slices.DeleteFunc(checks, func(c *store.Check) bool { return !pass(c) }), nil
}

func (a *Agent) serveHealthService(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing service name")
	}
	if rq.params.Has("filter") {
		return nil, badRequest("memconsul does not support filters on services")
	}
	tag, passing := rq.params.Get("tag"), rq.params.Has("passing")
	found, ok := query(rq, a.store.Instances(rq.rest))
	if !ok {
		return nil, nil
	}
	rq.setConsistencyHeader()
	shown := []store.Instance{}
	for _, inst := range found {
		if hasTag(inst, tag) && (!passing || allPassing(inst)) {
			shown = append(shown, inst)
		}
	}
	return shown, nil
}

func hasTag(inst store.Instance, tag string) bool {
	if tag == "" {
		return true
	}
	for _, own := range inst.Service.Tags {
		if store.Fold(own) == store.Fold(tag) {
			return true
		}
	}
	return false
}

func allPassing(inst store.Instance) bool {
	for _, own := range inst.Checks {
		if own.Status != store.StatusPassing {
			return false
		}
	}
	return true
}
