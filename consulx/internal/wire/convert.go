// Package wire translates between Consul's HTTP API and package election: it converts responses to election types,
// and checks which keys a URL can address.
package wire

import (
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// Pair converts a key of Consul's API.
func Pair(p *api.KVPair) election.Pair {
	return election.Pair{
		Key: p.Key, Value: p.Value, Flags: p.Flags, Session: p.Session, LockIndex: p.LockIndex,
		CreateIndex: p.CreateIndex, ModifyIndex: p.ModifyIndex,
	}
}

// Session converts a session. datacenter is empty for the agent's own datacenter.
func Session(e *api.SessionEntry, datacenter string) *election.Session {
	s := &election.Session{
		ID: e.ID, Name: e.Name, Node: e.Node, Datacenter: datacenter, Behavior: e.Behavior, LockDelay: e.LockDelay,
		CreateIndex: e.CreateIndex, NodeChecks: slices.Clone(e.NodeChecks),
	}
	// An empty TTL means that the session has no TTL. ParseDuration accepts every other TTL that Consul accepts.
	s.TTL, _ = time.ParseDuration(e.TTL)
	for _, check := range e.ServiceChecks {
		s.ServiceChecks = append(s.ServiceChecks, check.ID)
	}
	// Clients older than Consul 1.7 set node checks in the field Checks.
	for _, id := range e.Checks {
		if !slices.Contains(s.NodeChecks, id) && !slices.Contains(s.ServiceChecks, id) {
			s.NodeChecks = append(s.NodeChecks, id)
		}
	}
	return s
}

// Checks converts health checks of Consul's API.
func Checks(all api.HealthChecks) []election.Check {
	checks := make([]election.Check, 0, len(all))
	for _, c := range all {
		if c == nil { // only a faulty proxy sends null
			continue
		}
		checks = append(checks, election.Check{
			ID: c.CheckID, Name: c.Name, Node: c.Node, Service: c.ServiceName, Status: c.Status,
			Output: c.Output, ModifyIndex: c.ModifyIndex,
		})
	}
	return checks
}
