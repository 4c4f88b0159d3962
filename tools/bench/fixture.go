package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"electop/internal/consultest"
)

// fixture is a Consul server with n elections.
type fixture struct {
	o       options
	n       int
	self    string // the path of this program
	dir     string
	agent   *consultest.Agent
	changes *changes
}

// moreConnections raises the limit for the watcher with one connection per key.
const moreConnections = `{"limits":{"http_max_conns_per_client":6000}}`

func newFixture(ctx context.Context, o options, n int) (*fixture, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "electop-bench-")
	if err != nil {
		return nil, err
	}
	s := &fixture{o: o, n: n, self: self, dir: dir}
	if s.agent, err = consultest.StartServer(dir, consultest.WithConfig(moreConnections)); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	sessions, err := load(ctx, s.agent.Client(), n)
	if err != nil {
		s.close()
		return nil, err
	}
	s.changes = newChanges(s.agent.Client(), sessions, n, o)
	return s, nil
}

// close stops the server and removes its files.
func (s *fixture) close() {
	_ = s.agent.Kill()
	_ = os.RemoveAll(s.dir) //nolint:gosec // a temporary folder of our own
}

func (s *fixture) addr() string { return s.agent.Addr() }

func (s *fixture) port() int {
	_, text, err := net.SplitHostPort(s.addr())
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return port
}

// clock reads the CPU time of the server and of the process pid, unless it is 0.
func (s *fixture) clock(pid int) (c cpu, err error) {
	if c.server, err = cpuTime(s.agent.PID()); err != nil {
		return c, fmt.Errorf("consul: %w", err)
	}
	if pid > 0 {
		c.client, err = cpuTime(pid)
	}
	return c, err
}

// cpu holds the CPU times of a watcher and of the server.
type cpu struct{ client, server time.Duration }
