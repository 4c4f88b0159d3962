package consultest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

const (
	readyTimeout = 60 * time.Second
	stopGrace    = 20 * time.Second
	logTailBytes = 4 << 10
)

// Agent is one real Consul agent on the loopback interface. Its methods are safe for concurrent use.
type Agent struct {
	set       settings
	binary    string
	args      []string
	ports     ports
	logPath   string
	peers     int
	client    *api.Client
	transport *http.Transport

	mu   sync.Mutex
	proc *Process // nil while the agent is stopped
}

// Addr returns the host:port of the agent's HTTP API. The address stays the same after a restart.
func (a *Agent) Addr() string { return "127.0.0.1:" + strconv.Itoa(a.ports.http) }

// ServerAddr returns the host:port of this server for other servers. Consul uses this address to identify its leader.
func (a *Agent) ServerAddr() string { return "127.0.0.1:" + strconv.Itoa(a.ports.server) }

// Client returns an API client for this agent. If ACLs are enabled, the client uses the management token.
func (a *Agent) Client() *api.Client { return a.client }

// Token returns the management token, or "" if ACLs are disabled.
func (a *Agent) Token() string { return a.set.token }

// PID returns the agent's process ID, or 0 while the agent is stopped.
func (a *Agent) PID() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.proc == nil {
		return 0
	}
	return a.proc.cmd.Process.Pid
}

// Binary returns the path of the agent's Consul binary.
func (a *Agent) Binary() string { return a.binary }

// Node returns the agent's node name.
func (a *Agent) Node() string { return a.set.node }

// Datacenter returns the agent's datacenter.
func (a *Agent) Datacenter() string { return a.set.datacenter }

// LogTail returns the last 4 KB of the agent's log.
func (a *Agent) LogTail() string { return Tail(a.logPath, logTailBytes) }

// Stop ends the agent with SIGINT and returns when the process has ended. The agent responds to blocked queries
// before it ends, and its peers mark it as failed. Stop has no effect on a stopped agent.
func (a *Agent) Stop() error { return a.end(os.Interrupt) }

// Kill ends the agent with SIGKILL and returns when the process has ended.
func (a *Agent) Kill() error { return a.end(os.Kill) }

func (a *Agent) end(sig os.Signal) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.proc == nil {
		return nil
	}
	proc := a.proc
	a.proc = nil
	err := proc.End(sig, stopGrace)
	a.transport.CloseIdleConnections()
	return err
}

// Restart stops the agent if it is running, starts it with the same ports and data, and waits until it is ready. An
// agent in development mode loses its data. Restart waits for a quorum: use [Agent.StartNoWait] to start the first of
// two stopped members.
func (a *Agent) Restart() error {
	if err := a.Stop(); err != nil {
		return err
	}
	if err := a.StartNoWait(); err != nil {
		return err
	}
	return a.WaitReady()
}

// StartNoWait starts a stopped agent and returns before it is ready; see [Agent.WaitReady].
func (a *Agent) StartNoWait() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.proc != nil {
		return errors.New("consultest: the agent is already running")
	}
	proc, err := StartProcess(a.binary, a.logPath, a.args)
	if err != nil {
		return err
	}
	a.proc = proc
	return nil
}

// newAgent writes the configuration of an agent under dir. It does not start the agent.
func newAgent(binary, dir string, kind kind, set settings, p ports, join []string) (*Agent, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	args, err := writeConfig(dir, kind, set, p, join)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		set: set, binary: binary, args: args, ports: p, peers: kind.servers,
		logPath:   filepath.Join(dir, "consul.log"),
		transport: &http.Transport{MaxIdleConnsPerHost: 8},
	}
	a.client, err = api.NewClient(&api.Config{
		Address: a.Addr(), Token: set.token, HttpClient: &http.Client{Transport: a.transport},
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// WaitReady waits until all servers have joined and the agent accepts writes. It also waits until the node's
// serfHealth check passes, because sessions require this.
func (a *Agent) WaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := a.probe(ctx)
		if err == nil {
			return nil
		}
		a.mu.Lock()
		dead := a.proc == nil || a.proc.Ended()
		a.mu.Unlock()
		if dead {
			return fmt.Errorf("consultest: consul ended before it was ready (%w); its log ends with:\n%s", err, a.LogTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("consultest: consul was not ready within %s (%w); its log ends with:\n%s", readyTimeout, err, a.LogTail())
		case <-tick.C:
		}
	}
}

func (a *Agent) probe(ctx context.Context) error {
	q := (&api.QueryOptions{}).WithContext(ctx)
	peers, err := a.client.Status().PeersWithQueryOptions(q)
	if err != nil {
		return err
	}
	if len(peers) < a.peers {
		return fmt.Errorf("%d of %d servers have joined", len(peers), a.peers)
	}
	// A response to a read does not prove that the leader accepts writes.
	w := (&api.WriteOptions{}).WithContext(ctx)
	key := "consultest/ready/" + a.set.node
	if _, err := a.client.KV().Put(&api.KVPair{Key: key}, w); err != nil {
		return err
	}
	if _, err := a.client.KV().Delete(key, w); err != nil {
		return err
	}
	checks, _, err := a.client.Health().Node(a.set.node, q)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if c.CheckID == "serfHealth" && c.Status == api.HealthPassing {
			return nil
		}
	}
	return errors.New("the node's serfHealth check is not passing")
}

// awaitDatacenter waits until the agent's servers reach a datacenter.
func (a *Agent) awaitDatacenter(ctx context.Context, name string) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		q := (&api.QueryOptions{Datacenter: name}).WithContext(ctx)
		_, _, err := a.client.KV().Get("consultest/ready", q)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("consultest: %s did not reach %s within %s: %w", a.Datacenter(), name, readyTimeout, err)
		case <-tick.C:
		}
	}
}
