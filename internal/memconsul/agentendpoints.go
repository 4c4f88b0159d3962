package memconsul

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"electop/internal/memconsul/store"
)

func (a *Agent) serveSelf(*request) (any, error) {
	type config struct {
		Datacenter, PrimaryDatacenter, NodeName, NodeID, Revision string
		Server                                                    bool
		Version, BuildDate, BindAddr                              string
	}
	type member struct {
		Name   string
		Addr   string
		Port   int
		Tags   map[string]string
		Status int
	}
	const alive = 1
	return struct {
		Config      config
		DebugConfig map[string]any
		Coord       any
		Member      member
		Stats       map[string]map[string]string
		Meta        map[string]string
	}{
		Config: config{
			Datacenter: a.cfg.Datacenter, PrimaryDatacenter: a.cfg.Datacenter, NodeName: a.cfg.NodeName,
			NodeID: a.nodeID, Server: true, Version: Version, BuildDate: "1970-01-01T00:00:01Z", BindAddr: a.cfg.Address,
		},
		DebugConfig: map[string]any{},
		Member: member{
			Name: a.cfg.NodeName, Addr: a.cfg.Address, Port: 8301, Status: alive,
			Tags: map[string]string{"role": "consul", "dc": a.cfg.Datacenter, "id": a.nodeID, "build": Version + ":"},
		},
		Stats: map[string]map[string]string{},
		Meta:  map[string]string{"consul-network-segment": "", "consul-version": Version},
	}, nil
}

func (a *Agent) serveServiceRegister(rq *request) (any, error) {
	var def serviceDefinition
	if err := rq.decodeJSON(&def); err != nil {
		return nil, err
	}
	if def.Name == "" {
		return nil, badRequest("Missing service name")
	}
	if def.ID == "" {
		def.ID = def.Name
	}
	checks, err := def.ownChecks(a.cfg.NodeName)
	if err != nil {
		return nil, err
	}
	svc := &store.Service{
		ID: def.ID, Service: def.Name, Tags: def.Tags, Address: def.Address, Meta: def.Meta, Port: def.Port,
		Weights: def.Weights, EnableTagOverride: def.EnableTagOverride,
	}
	if err := a.store.Register(store.Registration{Node: a.cfg.NodeName, SkipNodeUpdate: true, Service: svc}); err != nil {
		return nil, err
	}
	for _, own := range checks {
		if err := a.addLocalCheck(own.def, own.ttl); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// ownChecks returns the checks in a service's definition, with the names and IDs that Consul would set.
func (d *serviceDefinition) ownChecks(node string) ([]ttlCheck, error) {
	defs := d.Checks
	// Like Consul, ignore an empty check.
	if d.Check != nil && !reflect.DeepEqual(*d.Check, checkDefinition{}) {
		defs = append(defs, d.Check)
	}
	var out []ttlCheck
	for i, c := range defs {
		kind, err := c.kind()
		if err != nil {
			return nil, err
		}
		if c.Status != "" && !validStatus(c.Status) {
			return nil, badRequest("Status for checks must 'passing', 'warning', 'critical'")
		}
		own := c.check(node, kind)
		own.ServiceID = d.ID
		if own.Name == "" {
			own.Name = fmt.Sprintf("Service '%s' check", d.Name)
		}
		if c.ID == "" && c.CheckID == "" {
			own.CheckID = "service:" + d.ID
			if len(defs) > 1 {
				own.CheckID += fmt.Sprintf(":%d", i+1)
			}
		}
		out = append(out, ttlCheck{ttl: time.Duration(c.TTL), def: own})
	}
	return out, nil
}

func (a *Agent) serveServiceDeregister(rq *request) (any, error) {
	return nil, a.removeLocalService(rq.rest)
}

func (a *Agent) serveCheckRegister(rq *request) (any, error) {
	var def checkDefinition
	if err := rq.decodeJSON(&def); err != nil {
		return nil, err
	}
	if def.Name == "" {
		return nil, badRequest("Missing check name")
	}
	if def.Status != "" && !validStatus(def.Status) {
		return nil, badRequest("Bad check status")
	}
	kind, err := def.kind()
	if err != nil {
		return nil, err
	}
	if def.ServiceID != "" && !a.store.HasService(a.cfg.NodeName, def.ServiceID) {
		return nil, notFound("ServiceID %q does not exist", def.ServiceID)
	}
	own := def.check(a.cfg.NodeName, kind)
	own.Interval, own.Timeout = time.Duration(def.Interval).String(), time.Duration(def.Timeout).String()
	return nil, a.addLocalCheck(own, time.Duration(def.TTL))
}

func (a *Agent) serveCheckDeregister(rq *request) (any, error) {
	return nil, a.removeLocalCheck(rq.rest)
}

// checkDefinition is the body of PUT /v1/agent/check/register, and part of a [serviceDefinition].
type checkDefinition struct {
	ID, CheckID, Name, Notes, Status, ServiceID string
	TTL, Interval, Timeout                      jsonDuration
	HTTP, TCP, UDP, GRPC, Method, Body          string
	Header                                      map[string][]string
	Args                                        []string
	DeregisterCriticalServiceAfter              string
}

// serviceDefinition is the body of PUT /v1/agent/service/register.
type serviceDefinition struct {
	ID, Name, Kind, Address string
	Tags                    []string
	Meta                    map[string]string
	Port                    int
	Weights                 *store.Weights
	EnableTagOverride       bool
	Check                   *checkDefinition
	Checks                  []*checkDefinition
}

// jsonDuration is a duration that is a string or a number of nanoseconds in JSON.
type jsonDuration time.Duration

// UnmarshalJSON accepts "10s" and 10000000000.
func (d *jsonDuration) UnmarshalJSON(data []byte) error {
	var raw any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	switch v := raw.(type) {
	case nil:
	case string:
		if v == "" {
			return nil
		}
		parsed, err := time.ParseDuration(v)
		if err != nil {
			return err
		}
		*d = jsonDuration(parsed)
	case float64:
		*d = jsonDuration(v)
	default:
		return fmt.Errorf("invalid duration %s", data)
	}
	return nil
}

// kind returns Consul's name for the type of the check, or an error if the definition is invalid.
func (c *checkDefinition) kind() (string, error) {
	name := ""
	switch {
	case c.GRPC != "":
		name = "grpc"
	case c.HTTP != "":
		name = "http"
	case c.TCP != "":
		name = "tcp"
	case c.UDP != "":
		name = "udp"
	case len(c.Args) > 0:
		name = "script"
	}
	switch {
	case c.Interval > 0 && c.TTL > 0:
		return "", badRequest("Invalid check: Interval and TTL cannot both be specified")
	case name != "" && c.Interval <= 0:
		return "", badRequest("Invalid check: Interval must be > 0 for Script, HTTP, H2PING, TCP, UDP or OSService checks")
	case name == "" && c.TTL <= 0:
		return "", badRequest("Invalid check: TTL must be > 0 for TTL checks")
	case name == "":
		name = "ttl"
	}
	return name, nil
}

func validStatus(status string) bool {
	return status == store.StatusPassing || status == store.StatusWarning || status == store.StatusCritical
}

// check returns the catalog entry of the check. A check without a status is initially critical.
func (c *checkDefinition) check(node, kind string) store.Check {
	id := c.ID
	if id == "" {
		id = c.CheckID
	}
	out := store.Check{Node: node, CheckID: id, Name: c.Name, Notes: c.Notes, Status: c.Status, ServiceID: c.ServiceID, Type: kind}
	out.SetDefaults(node)
	return out
}
