package observe

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// trial is one run of a scenario. Its leader has its own node, which exists only in the catalog, so that the test can
// remove it.
type trial struct {
	backend
	op      *consulx.Operator
	node    string
	key     string
	session string
}

// scenario is one way for a term to end.
type scenario struct {
	name  string
	cause election.Cause
	says  string
	// delayed is set if a lock-delay follows.
	delayed bool
	entry   api.SessionEntry
	end     func(p *trial) error
	slow    bool // the trial takes 20 s
}

const endingDelay = 5 * time.Second

func (p *trial) destroy() error {
	_, err := p.API.Session().Destroy(p.session, nil)
	return err
}

// awaitSessionEnd waits until the session no longer exists. The observer needs the connections of p.API.
func (p *trial) awaitSessionEnd() error {
	for index := uint64(0); ; {
		q := &api.QueryOptions{WaitIndex: index, WaitTime: patience}
		entry, meta, err := p.Client.Reader(q).API().Session().Info(p.session, q)
		if err != nil || entry == nil {
			return err
		}
		index = meta.LastIndex
	}
}

func (p *trial) target() election.Target { return election.Target{Key: p.key, Session: p.session} }

func (p *trial) register(checks ...*api.HealthCheck) error {
	_, err := p.API.Catalog().Register(&api.CatalogRegistration{
		Node: p.node, Address: "10.9.9.9", NodeMeta: map[string]string{"external-node": "true"},
		Service: &api.AgentService{ID: "web-" + p.node, Service: "web"}, Checks: checks,
	}, nil)
	return err
}

func (p *trial) nodeCheck(status, output string) *api.HealthCheck {
	return &api.HealthCheck{Node: p.node, CheckID: "disk", Name: "disk", Status: status, Output: output}
}

func (p *trial) serviceCheck(status, output string) *api.HealthCheck {
	id := "web-" + p.node
	return &api.HealthCheck{Node: p.node, CheckID: "service:" + id, ServiceID: id, Name: "web", Status: status, Output: output}
}

func (p *trial) deregister(check string) error {
	_, err := p.API.Catalog().Deregister(&api.CatalogDeregistration{Node: p.node, CheckID: check}, nil)
	return err
}

// scenarios returns the twelve endings in docs/endings.md.
func scenarios() []scenario {
	return []scenario{
		{
			name: "released by its holder", cause: election.Released, says: "still exists",
			end: func(p *trial) error {
				_, _, err := p.API.KV().Release(&api.KVPair{Key: p.key, Session: p.session}, nil)
				return err
			},
		},
		{
			name: "released with electop", cause: election.OperatorRelease, says: "with electop",
			end: func(p *trial) error { return p.op.Release(p.T.Context(), p.target()) },
		},
		{
			name: "destroyed with electop", cause: election.OperatorDestroy, says: "with electop", delayed: true,
			end: func(p *trial) error {
				return p.op.DestroySession(p.T.Context(), election.Destroy{Target: p.target(), Shown: time.Now()})
			},
		},
		{
			name: "destroyed by a client, no TTL", cause: election.SessionDestroyed, says: "had no TTL", delayed: true,
			end: (*trial).destroy,
		},
		{
			name: "destroyed by a client, TTL 60s", cause: election.SessionExpiredOrDestroyed, says: "TTL was 1m0s",
			delayed: true, entry: api.SessionEntry{TTL: "60s"}, end: (*trial).destroy,
		},
		{
			name: "TTL 10s not renewed", cause: election.SessionExpiredOrDestroyed, says: "TTL was 10s",
			delayed: true, entry: api.SessionEntry{TTL: "10s"}, slow: true, end: (*trial).awaitSessionEnd,
		},
		{
			name: "service check critical", cause: election.CheckCritical, says: "HTTP GET: 503", delayed: true,
			end: func(p *trial) error { return p.register(p.serviceCheck(api.HealthCritical, "HTTP GET: 503")) },
		},
		{
			name: "node check critical", cause: election.CheckCritical, says: "disk full", delayed: true,
			end: func(p *trial) error { return p.register(p.nodeCheck(api.HealthCritical, "disk full")) },
		},
		{
			name: "check deregistered", cause: election.CheckGone, says: "check disk of node", delayed: true,
			end: func(p *trial) error { return p.deregister("disk") },
		},
		{
			name: "node deregistered", cause: election.NodeGone, says: "no longer registered", delayed: true,
			end: func(p *trial) error { return p.deregister("") },
		},
		{
			name: "key deleted, session remains", cause: election.KeyDeleted, says: "its session still exists",
			end: func(p *trial) error { _, err := p.API.KV().Delete(p.key, nil); return err },
		},
		{
			name: "Behavior delete, destroyed", cause: election.SessionDestroyed, says: "had no TTL", delayed: true,
			entry: api.SessionEntry{Behavior: api.SessionBehaviorDelete}, end: (*trial).destroy,
		},
	}
}

// begin creates a leader.
func (s scenario) begin(p *trial) {
	t := p.T
	t.Helper()
	must(t, p.register(p.nodeCheck(api.HealthPassing, ""), p.serviceCheck(api.HealthPassing, "")))
	t.Cleanup(func() { _ = p.deregister("") })
	entry := s.entry
	entry.Name, entry.Node, entry.LockDelay = "web", p.node, endingDelay
	entry.NodeChecks = []string{"disk"}
	entry.ServiceChecks = []api.ServiceCheck{{ID: "service:web-" + p.node}}
	id, _, err := p.API.Session().Create(&entry, nil)
	must(t, err)
	p.session = id
	t.Cleanup(func() { _, _ = p.API.Session().Destroy(id, nil) })
	p.Acquire(api.KVPair{Key: p.key, Session: id, Value: []byte("web-1")})
}

// run runs one trial and compares the reported cause with the expected one.
func (s scenario) run(t *testing.T, b *board, p *trial) {
	t.Helper()
	s.begin(p)
	b.until("the session of "+p.key, func() bool {
		e := b.last.Find(election.KeyID(p.key))
		return e != nil && e.Session != nil
	})
	_, n := b.event(0, election.Elected, p.key)
	must(t, s.end(p))
	lost, n := b.event(n, election.Vacated, p.key)
	why, _ := b.event(n, election.Explained, p.key)
	var wanted time.Time
	if s.delayed {
		wanted = lost.Time.Add(endingDelay)
	}
	if why.Cause != s.cause || !strings.Contains(why.Evidence, s.says) {
		t.Errorf("the reported cause is %s: %s; want %s: %s", why.Cause, why.Evidence, s.cause, s.says)
	}
	if why.Time.Before(lost.Time) {
		t.Errorf("the cause was reported at %s, before the loss at %s", why.Time, lost.Time)
	}
	if why.Session != p.session || why.Term != lost.Term {
		t.Errorf("another term was explained: %+v; want term %d of session %s", why, lost.Term, p.session)
	}
	if !why.LockDelayUntil.Equal(wanted) {
		t.Errorf("lock-delay until %s, want %s", why.LockDelayUntil, wanted)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if s.slow && os.Getenv("ELECTOP_FAULTS") != "all" {
				t.Skip("the session expires after 20 s; set ELECTOP_FAULTS=all")
			}
			back := newBackend(t, consulx.Config{Address: consultest.Shared(t).Addr()})
			prefix, name := back.Prefix(), strings.NewReplacer(" ", "-", ",", "").Replace(s.name)
			b := observe(t, back.Client, prefix+"*/leader")
			b.loaded()
			s.run(t, b, &trial{backend: back, op: consulx.NewOperator(back.Client, b.o.Note), node: name, key: prefix + name + "/leader"})
		})
	}
}
