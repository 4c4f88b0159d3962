// Package demo is a demonstration of leader elections: services whose
// candidates compete through Consul's HTTP API, as real ones do, and a script of
// accidents that makes them fail over. It plays on the in-process agent as well
// as on a real Consul.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
)

// MaxCandidates bounds the candidates of all services together: each keeps a
// connection, and an agent serves 200 of one address.
const MaxCandidates = 120

// RealPrefix is where the demonstration plays on a real Consul: all its keys and
// nodes begin with it and are removed at the end.
const RealPrefix = "electop-demo/"

// cleanupTimeout bounds what is undone at the end.
const cleanupTimeout = 15 * time.Second

// Options set up a demonstration.
type Options struct {
	// Services is the number of elections, Candidates that of each.
	Services, Candidates int
	// Seed makes the script of accidents repeatable.
	Seed uint64
	// Every is the time between two accidents.
	Every time.Duration
	// Prefix stands before every key: the key of web is Prefix + "web/leader".
	Prefix string
	// NodePrefix stands before the names of the nodes.
	NodePrefix string
	// Connect gives a client of its own to each service.
	Connect func() (*consulx.Client, error)
	// Tell is told of each accident in one line; it must not block.
	Tell func(line string)
}

// Validate tells what is wrong with the options, in words of the flags.
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

// Demo is a demonstration that has been set up.
type Demo struct {
	o        Options
	admin    *consulx.Client
	nodes    []*node
	services []*service
}

// Run sets everything up, plays until ctx ends and cleans up. It fails when
// Consul cannot be set up; what goes wrong later is part of the show.
func Run(ctx context.Context, o Options) error {
	d, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, s := range d.services {
		for _, m := range s.members {
			g.Go(func() error { m.live(gctx); return nil })
		}
	}
	g.Go(func() error { d.play(gctx, g); return nil })
	err = g.Wait()
	return errors.Join(err, d.cleanUp(context.WithoutCancel(ctx)))
}

func prepare(ctx context.Context, o Options) (*Demo, error) {
	admin, err := o.Connect()
	if err != nil {
		return nil, err
	}
	d := &Demo{o: o, admin: admin}
	for i := range max(o.Candidates, 3) {
		d.nodes = append(d.nodes, &node{
			name: fmt.Sprintf("%snode-%d", o.NodePrefix, i+1), address: fmt.Sprintf("10.0.0.%d", i+1), client: admin,
		})
	}
	for i := range o.Services {
		s, err := d.newService(i)
		if err != nil {
			return nil, err
		}
		d.services = append(d.services, s)
	}
	for _, n := range d.nodes {
		if err := n.register(ctx); err != nil {
			return nil, errors.Join(err, d.cleanUp(context.WithoutCancel(ctx)))
		}
	}
	return d, nil
}

// cleanUp removes the keys and the nodes. The candidates have ended and
// destroyed their sessions, but for those that crashed: these go with their
// nodes.
func (d *Demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	errs := make([]error, 0, len(d.nodes)+len(d.services))
	for _, n := range d.nodes {
		errs = append(errs, n.deregister(ctx))
	}
	for _, s := range d.services {
		_, err := d.admin.API().KV().Delete(s.key, (&api.WriteOptions{}).WithContext(ctx))
		errs = append(errs, err)
		s.client.Close()
	}
	d.admin.Close()
	return errors.Join(errs...)
}
