package memconsul

import (
	"sync"
	"time"

	"electop/internal/memconsul/store"
)

const ttlTimerSpace = "check/"

// localChecks contains the checks that clients registered through the agent endpoints.
type localChecks struct {
	mu     sync.Mutex
	checks map[string]*ttlCheck
}

// ttlCheck is a check that becomes critical if no client updates it within its TTL. For a check of another type, the
// TTL is 0 and the status never changes, because this agent does not run checks.
type ttlCheck struct {
	ttl time.Duration
	def store.Check
}

// addLocalCheck registers a check on the agent's own node. A check that is already registered keeps its status and
// output.
func (a *Agent) addLocalCheck(def store.Check, ttl time.Duration) error {
	a.local.mu.Lock()
	defer a.local.mu.Unlock()
	if old := a.local.checks[store.Fold(def.CheckID)]; old != nil {
		def.Status, def.Output = old.def.Status, old.def.Output
	}
	if err := a.publish(def); err != nil {
		return err
	}
	a.local.checks[store.Fold(def.CheckID)] = &ttlCheck{ttl: ttl, def: def}
	a.armCheck(def.CheckID, ttl)
	return nil
}

// publish writes one of the agent's checks to the catalog.
func (a *Agent) publish(def store.Check) error {
	return a.store.Register(store.Registration{Node: a.cfg.NodeName, SkipNodeUpdate: true, Checks: []*store.Check{&def}})
}

func (a *Agent) armCheck(id string, ttl time.Duration) {
	if ttl > 0 {
		a.store.Timers.Set(ttlTimerSpace+store.Fold(id), ttl, func() { a.expireCheck(id) })
	}
}

func (a *Agent) expireCheck(id string) {
	a.local.mu.Lock()
	defer a.local.mu.Unlock()
	own := a.local.checks[store.Fold(id)]
	if own == nil {
		return
	}
	output := "TTL expired"
	if own.def.Output != "" {
		output += " (last output before timeout follows): " + own.def.Output
	}
	// The call cannot fail, because the check is in the catalog while its timer runs.
	_ = a.changeCheck(own, store.StatusCritical, output)
}

// updateCheck sets the status of a TTL check and restarts its TTL.
func (a *Agent) updateCheck(id, status, output string) error {
	a.local.mu.Lock()
	defer a.local.mu.Unlock()
	own := a.local.checks[store.Fold(id)]
	if own == nil {
		return unknownCheck(id)
	}
	if own.ttl <= 0 {
		return refused("CheckID %q does not have associated TTL", id)
	}
	a.armCheck(id, own.ttl)
	return a.changeCheck(own, status, output)
}

// changeCheck stores status and output. Like Consul, it updates the catalog only if the status has changed.
func (a *Agent) changeCheck(own *ttlCheck, status, output string) error {
	sameStatus := own.def.Status == status
	own.def.Status, own.def.Output = status, output
	if sameStatus {
		return nil
	}
	return a.publish(own.def)
}

func unknownCheck(id string) error {
	return notFound("Unknown check ID %q. Ensure that the check ID is passed, not the check name.", id)
}

func (a *Agent) removeLocalCheck(id string) error {
	a.local.mu.Lock()
	defer a.local.mu.Unlock()
	if a.local.checks[store.Fold(id)] == nil {
		return unknownCheck(id)
	}
	a.forgetCheck(id)
	return a.store.Deregister(store.Deregistration{Node: a.cfg.NodeName, CheckID: id})
}

func (a *Agent) forgetCheck(id string) {
	delete(a.local.checks, store.Fold(id))
	a.store.Timers.Remove(ttlTimerSpace + store.Fold(id))
}

// removeLocalService deregisters a service with its checks.
func (a *Agent) removeLocalService(id string) error {
	a.local.mu.Lock()
	defer a.local.mu.Unlock()
	if !a.store.HasService(a.cfg.NodeName, id) {
		return notFound("Unknown service ID %q. Ensure that the service ID is passed, not the service name.", id)
	}
	for checkID, own := range a.local.checks {
		if store.Fold(own.def.ServiceID) == store.Fold(id) {
			a.forgetCheck(checkID)
		}
	}
	return a.store.Deregister(store.Deregistration{Node: a.cfg.NodeName, ServiceID: id})
}

// serveCheckNote returns the handler of /v1/agent/check/pass, warn or fail, depending on status.
func (a *Agent) serveCheckNote(status string) func(*request) (any, error) {
	return func(rq *request) (any, error) {
		return nil, a.updateCheck(rq.rest, status, rq.params.Get("note"))
	}
}

func (a *Agent) serveCheckUpdate(rq *request) (any, error) {
	var update struct{ Status, Output string }
	if err := rq.decodeJSON(&update); err != nil {
		return nil, err
	}
	if !validStatus(update.Status) {
		return nil, badRequest("Invalid check status: '%s'", update.Status)
	}
	return nil, a.updateCheck(rq.rest, update.Status, update.Output)
}
