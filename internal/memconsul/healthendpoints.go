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

func (a *Agent) serveHealthState(rq *request) (any, error) {
	return filteredChecks(rq, a.store.StateChecks(rq.rest))
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
