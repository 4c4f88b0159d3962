package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"
)

const (
	// firstAccident is early, so that a viewer need not wait.
	firstAccident = 4 * time.Second
	criticalTime  = 12 * time.Second
	warningTime   = 10 * time.Second
	nodeLossTime  = 15 * time.Second
	crashTime     = 40 * time.Second
	nodeLoss      = "node"
	// stepTimeout bounds one step of the script.
	stepTimeout = 5 * time.Second
)

// accident is a failure of the leader of a service.
type accident struct {
	kind string
	// happen causes the failure and returns a line that describes it. It passes the
	// recovery to after.
	happen func(ctx context.Context, m *member, after later) (string, error)
}

// later runs a step after d, unless the demonstration ends first.
type later func(d time.Duration, step func(ctx context.Context) error)

// accidents returns all kinds of accidents. The script shuffles them, so that each
// happens once before any is repeated.
func accidents() []accident {
	return []accident{
		{"check", failCheck}, {"resign", stepDown}, {"overwrite", overwrite},
		{"crash", crash}, {nodeLoss, loseNode}, {"warning", warn},
	}
}

func failCheck(ctx context.Context, m *member, after later) (string, error) {
	err := m.setHealth(ctx, api.HealthCritical, fmt.Sprintf("HTTP GET http://%s:%d/health: 503 Service Unavailable", m.node.address, m.port))
	after(criticalTime, func(ctx context.Context) error {
		return m.setHealth(ctx, api.HealthPassing, "HTTP GET: 200 OK")
	})
	return m.name + "'s health check goes critical", err
}

func warn(ctx context.Context, m *member, after later) (string, error) {
	err := m.setHealth(ctx, api.HealthWarning, "disk 91% full")
	after(warningTime, func(ctx context.Context) error {
		return m.setHealth(ctx, api.HealthPassing, "HTTP GET: 200 OK")
	})
	return m.name + "'s health check warns", err
}

func stepDown(ctx context.Context, m *member, _ later) (string, error) {
	return m.name + " steps down", m.resign(ctx)
}

func overwrite(ctx context.Context, m *member, _ later) (string, error) {
	_, err := m.service.client.API().KV().Put(
		&api.KVPair{Key: m.service.key, Value: m.value()}, (&api.WriteOptions{}).WithContext(ctx))
	return "a client writes " + m.service.key + " without the lock", err
}

func crash(_ context.Context, m *member, _ later) (string, error) {
	m.crash(crashTime)
	return m.name + " crashes; its session expires after " + (2 * sessionTTL).String(), nil
}

func loseNode(ctx context.Context, m *member, after later) (string, error) {
	n := m.node
	err := n.deregister(ctx)
	after(nodeLossTime, m.service.demo.returnNode(n))
	return n.name + " is lost, with every session on it", err
}

// returnNode registers a lost node again, with the checks of its members.
func (d *demonstration) returnNode(n *node) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := n.register(ctx); err != nil {
			return err
		}
		for _, s := range d.all() {
			for _, m := range s.members {
				if m.node != n {
					continue
				}
				if err := m.refresh(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// hasLostNode reports whether a node is lost. A second loss would leave only one of
// three nodes.
func (d *demonstration) hasLostNode() bool {
	return slices.ContainsFunc(d.nodes, (*node).isLost)
}

// play causes an accident at every interval until ctx ends.
func (d *demonstration) play(ctx context.Context, g *errgroup.Group) {
	r := rand.New(rand.NewPCG(d.o.Seed, d.o.Seed)) //nolint:gosec // not for security: the script is repeatable by its seed
	after := func(pause time.Duration, step func(ctx context.Context) error) {
		g.Go(func() error {
			if wait(ctx, pause); ctx.Err() == nil {
				d.attempt(ctx, step)
			}
			return nil
		})
	}
	wait(ctx, firstAccident)
	var deck []accident
	for ctx.Err() == nil {
		if len(deck) == 0 {
			deck = shuffled(r)
		}
		if deck[0].kind == nodeLoss && d.hasLostNode() {
			deck = append(deck[1:], deck[0])
		}
		if m := d.victim(r); m != nil {
			d.happen(ctx, deck[0], m, after)
			deck = deck[1:]
		}
		wait(ctx, d.o.Every)
	}
}

func shuffled(r *rand.Rand) []accident {
	deck := accidents()
	r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// victim is the leader of a random service, nil if no service has one.
func (d *demonstration) victim(r *rand.Rand) *member {
	for _, i := range r.Perm(len(d.services)) {
		if m := d.services[i].leader(); m != nil {
			return m
		}
	}
	return nil
}

func (d *demonstration) happen(ctx context.Context, a accident, m *member, after later) {
	d.attempt(ctx, func(ctx context.Context) error {
		line, err := a.happen(ctx, m, after)
		if err == nil {
			d.o.Report(m.service.name + ": " + line)
		}
		return err
	})
}

// attempt runs a step of the script. It reports an error and the script continues.
func (d *demonstration) attempt(ctx context.Context, step func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := step(ctx); err != nil && ctx.Err() == nil {
		d.o.Report("the script failed: " + err.Error())
	}
}
