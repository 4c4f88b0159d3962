package demo

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
)

const (
	// firstFailure is the delay before the first failure. It is short, so that the user does not have to wait.
	firstFailure = 4 * time.Second
	criticalTime = 12 * time.Second
	warningTime  = 10 * time.Second
	nodeLossTime = 15 * time.Second
	crashTime    = 40 * time.Second
	// stepTimeout is the timeout of one step of a failure.
	stepTimeout = 5 * time.Second
)

// failure causes a failure of a service's leader and returns a line that describes it, or "" if it causes none. It calls
// after to schedule the recovery.
type failure func(ctx context.Context, m *member, after later) (string, error)

// later schedules a step after d. The step does not run if the demonstration ends first.
type later func(d time.Duration, step func(ctx context.Context) error)

func failCheck(ctx context.Context, m *member, after later) (string, error) {
	output := fmt.Sprintf("HTTP GET http://%s:%d/health: 503 Service Unavailable", m.node.address, m.port)
	return m.name + "'s health check becomes critical", m.worsen(ctx, api.HealthCritical, output, criticalTime, after)
}

func warn(ctx context.Context, m *member, after later) (string, error) {
	return m.name + "'s health check changes to warning", m.worsen(ctx, api.HealthWarning, "disk 91% full", warningTime, after)
}

// worsen changes the member's health check for some time.
func (m *member) worsen(ctx context.Context, status, output string, lasts time.Duration, after later) error {
	after(lasts, func(ctx context.Context) error { return m.setHealth(ctx, api.HealthPassing, "HTTP GET: 200 OK") })
	return m.setHealth(ctx, status, output)
}

func stepDown(ctx context.Context, m *member, _ later) (string, error) {
	return m.name + " steps down", m.candidate.Load().Resign(ctx)
}

func overwrite(ctx context.Context, m *member, _ later) (string, error) {
	client := m.node.client
	_, err := client.API().KV().Put(&api.KVPair{Key: m.service.key, Value: m.value()}, client.Write(ctx))
	return "a client writes " + m.service.key + " without the lock", err
}

func crash(_ context.Context, m *member, _ later) (string, error) {
	(*m.crash.Load())()
	return m.name + " crashes; its session expires after " + (2 * sessionTTL).String(), nil
}

func loseNode(ctx context.Context, m *member, after later) (string, error) {
	n := m.node
	if slices.ContainsFunc(m.service.demo.nodes, func(n *node) bool { return n.lost.Load() }) {
		return "", nil // without a second node, only one of three would remain
	}
	n.lost.Store(true)
	_, err := n.client.API().Catalog().Deregister(&api.CatalogDeregistration{Node: n.name}, n.client.Write(ctx))
	after(nodeLossTime, func(ctx context.Context) error {
		err := n.register(ctx)
		for _, s := range m.service.demo.services {
			for _, m := range s.members { // those of the other nodes do not change
				err = cmp.Or(err, m.register(ctx))
			}
		}
		return err
	})
	return n.name + " is removed from the catalog: Consul invalidates all sessions of the node", err
}

// injectFailures causes one failure per interval until ctx ends.
func (d *demonstration) injectFailures(ctx context.Context, work *sync.WaitGroup) {
	r := rand.New(rand.NewPCG(d.o.Seed, d.o.Seed)) //nolint:gosec // not for security: the seed makes the failures repeatable
	after := func(pause time.Duration, step func(ctx context.Context) error) {
		work.Go(func() {
			if consulx.Sleep(ctx, pause); ctx.Err() == nil {
				d.attempt(ctx, step)
			}
		})
	}
	consulx.Sleep(ctx, firstFailure)
	failures := []failure{failCheck, stepDown, overwrite, crash, loseNode, warn}
	var next []int
	for ctx.Err() == nil {
		if len(next) == 0 {
			next = r.Perm(len(failures))
		}
		var m *member // the leader of a random service
		for _, i := range r.Perm(d.o.Services) {
			m = cmp.Or(m, d.services[i].leader())
		}
		if m != nil {
			d.attempt(ctx, func(ctx context.Context) error {
				line, err := failures[next[0]](ctx, m, after)
				if err == nil && line != "" {
					d.o.Report(m.service.name + ": " + line)
				}
				return err
			})
			next = next[1:]
		}
		consulx.Sleep(ctx, d.o.Every)
	}
}

// attempt runs a step. If the step fails, attempt reports the error and the demonstration continues.
func (d *demonstration) attempt(ctx context.Context, step func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := step(ctx); err != nil && ctx.Err() == nil {
		d.o.Report("cannot simulate the failure or its recovery: " + err.Error())
	}
}
