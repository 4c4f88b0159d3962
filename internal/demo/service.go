package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/campaign"
	"electop/election"
)

const (
	// resignPause is the pause after a member has resigned. It prevents the member from leading again immediately.
	resignPause = 4 * time.Second
	// retryPause is the pause after an error.
	retryPause = time.Second
	// sessionTTL is the minimum that Consul allows. The session of a crashed member expires after about twice the
	// TTL.
	sessionTTL = 10 * time.Second
)

// service is one election and its candidates.
type service struct {
	demo    *demonstration
	name    string
	key     string
	session campaign.SessionOptions // session of each candidate, without the node and its check
	plain   bool                    // the value is a plain name, not JSON
	members []*member
}

func (d *demonstration) addService(i int) {
	delays := []time.Duration{5 * time.Second, 3 * time.Second, 15 * time.Second, 8 * time.Second}
	name := fmt.Sprintf("service-%02d", i+1)
	if names := strings.Fields("auth billing cron invoices mail payments reports search sessions web"); i < len(names) {
		name = names[i]
	}
	s := d.addElection(name, name+"/leader", delays[i%len(delays)], i%4 == 3)
	if i%8 == 6 { // use the session settings of Patroni
		s.session.Behavior, s.session.LockDelay, s.plain = election.BehaviorDelete, time.Millisecond, true
	}
	for j := range d.o.Candidates {
		n := i + j
		if j == 1 && i%4 == 1 { // add a candidate on the first candidate's node, so that a drain needs several releases
			n = i
		}
		s.add(d.nodes[n%len(d.nodes)], 8000+10*i+j)
	}
}

// addElection adds an election without candidates.
func (d *demonstration) addElection(name, key string, lockDelay time.Duration, plain bool) *service {
	s := &service{demo: d, name: name, key: Prefix + key, plain: plain, session: campaign.SessionOptions{
		Name: name, TTL: sessionTTL, LockDelay: lockDelay, NodeChecks: []string{nodeCheck},
	}}
	d.services = append(d.services, s)
	return s
}

func (s *service) add(n *node, port int) {
	m := &member{service: s, name: fmt.Sprintf("%s-%d", s.name, len(s.members)+1), node: n, port: port}
	m.health.Store(&health{status: api.HealthPassing})
	s.members = append(s.members, m)
}

// leader returns the member that leads, or nil if no member leads.
func (s *service) leader() *member {
	for _, m := range s.members {
		if m.leading.Load() {
			return m
		}
	}
	return nil
}

// member is one candidate of a service.
type member struct {
	service *service
	name    string
	node    *node
	port    int

	leading   atomic.Bool
	candidate atomic.Pointer[campaign.Candidate]
	crash     atomic.Pointer[context.CancelFunc]
	health    atomic.Pointer[health]
}

// health is the state of a member's check.
type health struct{ status, output string }

func (m *member) check() string { return "service:" + m.name }

// setHealth changes the state of the member's check.
func (m *member) setHealth(ctx context.Context, status, output string) error {
	m.health.Store(&health{status, output})
	return m.register(ctx)
}

// register adds the member's service and check to the catalog. It does nothing while the node is not in the catalog.
func (m *member) register(ctx context.Context) error {
	n, h := m.node, m.health.Load()
	if n.lost.Load() {
		return nil
	}
	return n.put(ctx, &api.CatalogRegistration{
		Node: n.name, Address: n.address, SkipNodeUpdate: true,
		Service: &api.AgentService{ID: m.name, Service: m.service.name, Address: n.address, Port: m.port},
		Check: &api.AgentCheck{
			Node: n.name, CheckID: m.check(), Name: "Service " + m.name, ServiceID: m.name, ServiceName: m.service.name,
			Status: h.status, Output: h.output,
		},
	})
}

func (m *member) value() []byte {
	if m.service.plain {
		return []byte(m.name)
	}
	return fmt.Appendf(nil, `{"Node":%q,"Address":%q,"Port":%d}`, m.name, m.node.address, m.port)
}

// run competes until ctx ends, and pauses after each crash.
func (m *member) run(ctx context.Context) {
	for ctx.Err() == nil {
		life, die := context.WithCancel(ctx)
		m.crash.Store(&die)
		m.compete(life, ctx)
		die()
		consulx.Sleep(ctx, crashTime)
	}
}

// compete campaigns repeatedly until life ends. If life ends before ctx, the member simulates a crash: it neither
// renews its session nor destroys it.
func (m *member) compete(life, ctx context.Context) {
	session := m.service.session
	session.Node, session.ServiceChecks = m.node.name, []string{m.check()}
	c := campaign.New(m.node.client, campaign.Options{Key: m.service.key, Value: m.value(), Flags: election.LockFlag, Session: session})
	m.candidate.Store(c)
	for life.Err() == nil {
		pause := retryPause
		if m.register(life) == nil && m.lead(life, c) {
			pause = rand.N(300 * time.Millisecond) //nolint:gosec // so that another member can lead
		}
		consulx.Sleep(life, pause)
	}
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if ctx.Err() == nil {
		cancel()
	}
	_ = c.Close(closeCtx) // a crashed member must not destroy its session
}

// lead campaigns once and returns when the leadership is lost or life ends. It returns false if the campaign failed.
func (m *member) lead(life context.Context, c *campaign.Candidate) bool {
	l, err := c.Campaign(life)
	if err != nil {
		return false
	}
	m.leading.Store(true)
	select {
	case <-l.Lost():
	case <-life.Done():
	}
	m.leading.Store(false)
	if l.Err() == nil {
		consulx.Sleep(life, resignPause)
	}
	return true
}

// nodeCheck is the ID of the check of every node. It is not serfHealth, because Consul removes a node with that check
// if the node is not a member of its cluster.
const nodeCheck = "node-alive"

// node is a node that exists only in Consul's catalog.
type node struct {
	name, address string
	client        *consulx.Client
	lost          atomic.Bool // removed from the catalog
}

// register adds the node and its check to the catalog.
func (n *node) register(ctx context.Context) error {
	n.lost.Store(false)
	return n.put(ctx, &api.CatalogRegistration{
		Node: n.name, Address: n.address,
		Check: &api.AgentCheck{
			Node: n.name, CheckID: nodeCheck, Name: "Node is alive", Status: api.HealthPassing, Output: "heartbeat received",
		},
	})
}

func (n *node) put(ctx context.Context, r *api.CatalogRegistration) error {
	_, err := n.client.API().Catalog().Register(r, n.client.Write(ctx))
	return err
}
