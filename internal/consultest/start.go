package consultest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// startAttempts is the maximum number of attempts to start agents. An attempt fails if another program binds a chosen
// port first.
const startAttempts = 4

// Dev starts an agent in development mode: one server without a data folder, ready in about one second.
func Dev(tb testing.TB, opts ...Option) *Agent {
	tb.Helper()
	return start(tb, kind{dev: true, servers: 1}, opts)[0]
}

// Server starts one server with a data folder. The server keeps its state when [Agent.Restart] restarts it.
func Server(tb testing.TB, opts ...Option) *Agent {
	tb.Helper()
	return start(tb, kind{servers: 1}, opts)[0]
}

// StartServer is [Server] for programs that are not tests. The server keeps its files under dir. The caller ends it
// with [Agent.Stop] or [Agent.Kill] before removing dir.
func StartServer(dir string, opts ...Option) (*Agent, error) {
	binary, err := FindBinary(BinaryEnv, "consul")
	if err != nil {
		return nil, err
	}
	agents, err := startAll(binary, dir, kind{servers: 1}, newSettings(opts))
	if err != nil {
		return nil, err
	}
	return agents[0], nil
}

// Cluster starts n servers that form a cluster. A server's name is the prefix set by [WithNode], by default "node",
// followed by the server's number, for example "node-1".
func Cluster(tb testing.TB, n int, opts ...Option) []*Agent {
	tb.Helper()
	return start(tb, kind{servers: n}, append([]Option{WithNode("node")}, opts...))
}

// Client starts a client agent that joins the servers.
func Client(tb testing.TB, servers []*Agent, opts ...Option) *Agent {
	tb.Helper()
	k := kind{servers: 1, client: true}
	for _, a := range servers {
		k.join = append(k.join, fmt.Sprintf("127.0.0.1:%d", a.ports.serf))
	}
	return start(tb, k, append([]Option{WithNode("client")}, opts...))[0]
}

// Federation starts a development agent in each datacenter and joins the agents. Each agent also responds to requests
// for the other datacenters.
func Federation(tb testing.TB, datacenters ...string) []*Agent {
	tb.Helper()
	var agents []*Agent
	k := kind{dev: true, servers: 1, wan: true}
	for _, name := range datacenters {
		a := start(tb, k, []Option{WithDatacenter(name)})[0]
		agents = append(agents, a)
		k.joinWAN = append(k.joinWAN, fmt.Sprintf("127.0.0.1:%d", a.ports.wan))
	}
	ctx, cancel := context.WithTimeout(tb.Context(), readyTimeout)
	defer cancel()
	for _, a := range agents {
		for _, name := range datacenters {
			Must(tb, a.awaitDatacenter(ctx, name))
		}
	}
	return agents
}

func start(tb testing.TB, k kind, opts []Option) []*Agent {
	tb.Helper()
	binary := Binary(tb)
	agents, err := startAll(binary, tb.TempDir(), k, newSettings(opts))
	Must(tb, err)
	tb.Cleanup(func() {
		if err := stopAll(agents); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			for _, a := range agents {
				tb.Logf("the log of %s ends with:\n%s", a.Node(), a.LogTail())
			}
		}
	})
	return agents
}

func startAll(binary, dir string, k kind, set settings) ([]*Agent, error) {
	var last error
	for attempt := range startAttempts {
		agents, err := tryStart(binary, filepath.Join(dir, fmt.Sprintf("try-%d", attempt)), k, set)
		if err == nil {
			return agents, nil
		}
		last = err
		collided := false
		for _, a := range agents {
			collided = collided || IsPortCollision(a.LogTail())
		}
		if stopErr := stopAll(agents); stopErr != nil {
			return nil, errors.Join(err, stopErr)
		}
		if !collided {
			break
		}
	}
	return nil, last
}

// tryStart returns the agents even if it fails, so that the caller can read their logs and end them.
func tryStart(binary, dir string, k kind, set settings) ([]*Agent, error) {
	chosen := make([]ports, k.servers)
	join := k.join
	for i := range chosen {
		p, err := pickPorts()
		if err != nil {
			return nil, err
		}
		chosen[i] = p
		if k.servers > 1 {
			join = append(join, fmt.Sprintf("127.0.0.1:%d", p.serf))
		}
	}
	var agents []*Agent
	for i, p := range chosen {
		own := set
		if k.servers > 1 {
			own.node = fmt.Sprintf("%s-%d", set.node, i+1)
		}
		a, err := newAgent(binary, filepath.Join(dir, own.node), k, own, p, join)
		if err != nil {
			return agents, err
		}
		agents = append(agents, a)
		if err := a.StartNoWait(); err != nil {
			return agents, err
		}
	}
	for _, a := range agents {
		if err := a.WaitReady(); err != nil {
			return agents, err
		}
	}
	return agents, nil
}

// stopAll kills the agents without a graceful shutdown, because the test has ended.
func stopAll(agents []*Agent) error {
	errs := make([]error, 0, len(agents))
	for _, a := range agents {
		errs = append(errs, a.end(os.Kill))
	}
	return errors.Join(errs...)
}
