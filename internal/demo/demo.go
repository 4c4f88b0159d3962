// Package demo runs a demonstration of leader elections: services whose candidates compete through Consul's HTTP API,
// and simulated failures that cause failovers.
package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
)

// MaxCandidates is the maximum total number of candidates. Each candidate uses one connection, and an agent accepts
// 200 connections per client address.
const MaxCandidates = 120

// closeTimeout bounds the end of a candidate.
const closeTimeout = 15 * time.Second

// Prefix is the prefix of every key: the key of web is service/web/leader.
const Prefix = "service/"

// Options configure a demonstration.
type Options struct {
	// Services is the number of elections. Candidates is the number of candidates per election.
	Services, Candidates int
	// Seed determines the order of the simulated failures and the services that they affect.
	Seed uint64
	// Every is the interval between two failures.
	Every time.Duration
	// Connect creates a client of the Consul agent that the demonstration uses.
	Connect func() (*consulx.Client, error)
	// Report receives one line per failure or error. It must not block.
	Report func(line string)
}

// Validate returns an error that names the invalid command-line flag.
func (o Options) Validate() error {
	switch {
	case o.Services < 1 || o.Candidates < 1:
		return errors.New("--services and --candidates must be at least 1")
	case o.Services*o.Candidates > MaxCandidates:
		return fmt.Errorf("--services times --candidates must be at most %d", MaxCandidates)
	case o.Every < time.Second:
		return errors.New("--every must be at least 1s")
	}
	return nil
}

// demonstration contains the services and clients of a running demonstration.
type demonstration struct {
	o        Options
	admin    *consulx.Client
	nodes    []*node
	services []*service
	// backup is a lock whose key does not match the dashboard's pattern.
	backup *service
}

// all returns the services and the backup lock.
func (d *demonstration) all() []*service { return append(slices.Clone(d.services), d.backup) }

// Run sets up the services and simulates failures until ctx ends. It returns an error only if the setup fails.
func Run(ctx context.Context, o Options) error {
	d, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	led := make(chan struct{})
	d.services[0].led = sync.OnceFunc(func() { close(led) })
	for i, s := range d.all() {
		for _, m := range s.members {
			g.Go(func() error {
				if i > 0 {
					await(gctx, led) // the dashboard selects the election that it observes first; this must be the first service's
				}
				m.run(gctx)
				return nil
			})
		}
	}
	g.Go(func() error { d.injectFailures(gctx, g); return nil })
	defer d.close()
	return g.Wait()
}

func await(ctx context.Context, ready <-chan struct{}) {
	select {
	case <-ready:
	case <-ctx.Done():
	}
}

func prepare(ctx context.Context, o Options) (*demonstration, error) {
	admin, err := o.Connect()
	if err != nil {
		return nil, err
	}
	d := &demonstration{o: o, admin: admin}
	for i := range max(o.Candidates, 3) {
		d.nodes = append(d.nodes, &node{
			name: fmt.Sprintf("node-%d", i+1), address: fmt.Sprintf("10.0.0.%d", i+1), client: admin,
		})
	}
	for i := range o.Services {
		s, err := d.newService(i)
		if err != nil {
			return nil, err
		}
		d.services = append(d.services, s)
	}
	if d.backup, err = d.newBackup(); err != nil {
		return nil, err
	}
	for _, n := range d.nodes {
		if err := n.register(ctx); err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

func (d *demonstration) close() {
	for _, s := range d.all() {
		s.client.Close()
	}
	d.admin.Close()
}
