package memconsul

import (
	"net/http"

	"electop/internal/memconsul/store"
)

// Version is the Consul version whose behavior this package implements. /v1/agent/self reports it.
const Version = "1.22.7"

// Config contains the names of the agent's datacenter and node. The zero value is valid.
type Config struct {
	Datacenter string // the default is "dc1"
	NodeName   string // the default is "node-1"
	Address    string // the node's address in the catalog; the default is "127.0.0.1"
}

// Agent is an in-process agent. Its methods are safe for concurrent use.
type Agent struct {
	cfg    Config
	nodeID string
	routes []route
	store  *store.Store
	local  localChecks
}

var (
	_ http.Handler      = (*Agent)(nil)
	_ http.RoundTripper = (*Agent)(nil)
)

// New returns an agent. Its own node is registered, with a passing serfHealth check. Call Close to stop its timers.
func New(cfg Config) *Agent {
	if cfg.Datacenter == "" {
		cfg.Datacenter = "dc1"
	}
	if cfg.NodeName == "" {
		cfg.NodeName = "node-1"
	}
	if cfg.Address == "" {
		cfg.Address = "127.0.0.1"
	}
	a := &Agent{
		cfg:    cfg,
		nodeID: store.NewUUID(),
		store:  store.New(),
		local:  localChecks{checks: map[string]*ttlCheck{}},
	}
	a.routes = a.routeTable()
	a.registerSelf()
	return a
}

// Close ends every blocked query with the current result and stops all timers. It returns when all timer functions
// have ended. Later requests do not block, and sessions and checks do not expire. Close may be called again.
func (a *Agent) Close() { a.store.Close() }

func (a *Agent) registerSelf() {
	reg := store.Registration{
		ID: a.nodeID, Node: a.cfg.NodeName, Address: a.cfg.Address, Datacenter: a.cfg.Datacenter,
		TaggedAddresses: map[string]string{"lan": a.cfg.Address, "wan": a.cfg.Address},
		NodeMeta:        map[string]string{"consul-network-segment": "", "consul-version": Version},
		Checks: []*store.Check{{
			Node: a.cfg.NodeName, CheckID: store.SerfHealth, Name: "Serf Health Status",
			Status: store.StatusPassing, Output: "Agent alive and reachable",
		}},
	}
	if err := a.store.Register(reg); err != nil {
		// An error here is a bug, because only the names in the registration vary.
		panic("memconsul: cannot register the agent's own node: " + err.Error())
	}
}
