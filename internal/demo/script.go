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
	// firstAccident comes early, so that nobody waits for the show to begin.
	firstAccident = 4 * time.Second
	illFor        = 12 * time.Second
	warnFor       = 10 * time.Second
	nodeLostFor   = 15 * time.Second
	crashedFor    = 40 * time.Second
	nodeLoss      = "node"
	// actLimit bounds one call of the script.
	actLimit = 5 * time.Second
)

// accident is something that goes wrong with the leader of a service.
type accident struct {
	kind string
	// happen does it and gives a line that tells of it. What has to be undone
	// later is handed to after.
	happen func(ctx context.Context, m *member, after later) (string, error)
}

// later runs a step after a while, unless the demonstration ends before.
type later func(d time.Duration, step func(ctx context.Context) error)

// accidents are all that can happen; the script deals them like cards, so that
// each comes before any comes again.
func accidents() []accident {
	return []accident{
		{"check", failCheck}, {"resign", stepDown}, {"overwrite", overwrite},
		{"crash", crash}, {nodeLoss, loseNode}, {"warning", warn},
	}
}

func failCheck(ctx context.Context, m *member, after later) (string, error) {
	err := m.setHealth(ctx, api.HealthCritical, fmt.Sprintf("HTTP GET http://%s:%d/health: 503 Service Unavailable", m.node.address, m.port))
	after(illFor, func(ctx context.Context) error {
		return m.setHealth(ctx, api.HealthPassing, "HTTP GET: 200 OK")
	})
	return m.name + "'s health check goes critical", err
}

func warn(ctx context.Context, m *member, after later) (string, error) {
	err := m.setHealth(ctx, api.HealthWarning, "disk 91% full")
	after(warnFor, func(ctx context.Context) error {
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
	return "somebody writes " + m.service.key + " without the lock", err
}

func crash(_ context.Context, m *member, _ later) (string, error) {
	m.crash(crashedFor)
	return m.name + " crashes; its session expires after " + (2 * sessionTTL).String(), nil
}

func loseNode(ctx context.Context, m *member, after later) (string, error) {
	n := m.node
	err := n.deregister(ctx)
	after(nodeLostFor, m.service.demo.returnNode(n))
	return n.name + " is lost, with every session on it", err
}

// returnNode registers a lost node again, with the checks of all who live there.
func (d *Demo) returnNode(n *node) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := n.register(ctx); err != nil {
			return err
		}
		for _, s := range d.services {
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

// aNodeIsLost reports that the show has lost a node already: without two of
// three nothing would be left to look at.
func (d *Demo) aNodeIsLost() bool {
	return slices.ContainsFunc(d.nodes, (*node).isLost)
}

// play lets an accident happen every now and then until ctx ends.
func (d *Demo) play(ctx context.Context, g *errgroup.Group) {
	r := rand.New(rand.NewPCG(d.o.Seed, d.o.Seed)) //nolint:gosec // a script, repeatable by its seed
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
		if deck[0].kind == nodeLoss && d.aNodeIsLost() {
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

// victim is the leader of a random service that has one.
func (d *Demo) victim(r *rand.Rand) *member {
	for _, i := range r.Perm(len(d.services)) {
		if m := d.services[i].leader(); m != nil {
			return m
		}
	}
	return nil
}

func (d *Demo) happen(ctx context.Context, a accident, m *member, after later) {
	d.attempt(ctx, func(ctx context.Context) error {
		line, err := a.happen(ctx, m, after)
		if err == nil {
			d.o.Tell(m.service.name + ": " + line)
		}
		return err
	})
}

// attempt does a step of the script. A Consul that fails is part of the show:
// the script goes on.
func (d *Demo) attempt(ctx context.Context, step func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, actLimit)
	defer cancel()
	if err := step(ctx); err != nil && ctx.Err() == nil {
		d.o.Tell("the script met an error: " + err.Error())
	}
}
