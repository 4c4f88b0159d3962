// Package demo runs a demonstration of leader elections: services whose candidates compete through Consul's HTTP API,
// and simulated failures that cause failovers.
package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"electop/consulx"
)

// maxCandidates is the maximum total number of candidates. Each candidate uses one connection, and an agent accepts
// 200 connections per client address.
const maxCandidates = 120

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
	// Client connects to the Consul agent that the demonstration uses. Each candidate uses one of its connections.
	Client *consulx.Client
	// Report receives one line per failure or error. It must not block.
	Report func(line string)
}

// Validate returns an error that names the invalid command-line flag.
func (o Options) Validate() error {
	switch {
	case o.Services < 1 || o.Candidates < 1:
		return errors.New("--services and --candidates must be at least 1")
	case o.Services*o.Candidates > maxCandidates:
		return fmt.Errorf("--services times --candidates must be at most %d", maxCandidates)
	case o.Every < time.Second:
		return errors.New("--every must be at least 1s")
	}
	return nil
}

// demonstration contains the services of a running demonstration.
type demonstration struct {
	o     Options
	nodes []*node
	// services are the elections, and last a lock whose key does not match the dashboard's pattern.
	services []*service
}

// Run sets up the services and simulates failures until ctx ends. It returns an error only if the setup fails.
func Run(ctx context.Context, o Options) error {
	d := &demonstration{o: o}
	for i := range max(o.Candidates, 3) {
		n := &node{name: fmt.Sprintf("node-%d", i+1), address: fmt.Sprintf("10.0.0.%d", i+1), client: o.Client}
		if err := n.register(ctx); err != nil {
			return err
		}
		d.nodes = append(d.nodes, n)
	}
	for i := range o.Services {
		d.addService(i)
	}
	backup := d.addElection("backup", "locks/backup", 5*time.Second, true) // a nightly job
	for i, n := range d.nodes[1:3] {
		backup.add(n, 9000+i)
	}
	var work sync.WaitGroup
	for i, s := range d.services {
		for _, m := range s.members {
			work.Go(func() { m.run(ctx) })
		}
		for i == 0 && s.leader() == nil && ctx.Err() == nil { // the dashboard selects the election that it observes first
			consulx.Sleep(ctx, 10*time.Millisecond)
		}
	}
	d.injectFailures(ctx, &work)
	work.Wait()
	return nil
}
