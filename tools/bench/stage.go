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

// stage is a Consul with n elections.
type stage struct {
	o       options
	n       int
	self    string // the path of this program
	dir     string
	agent   *consultest.Agent
	changes *changes
}

// moreConnections lifts the limit that the watcher with a query a key meets.
const moreConnections = `{"limits":{"http_max_conns_per_client":6000}}`

func newStage(ctx context.Context, o options, n int) (*stage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "electop-bench-")
	if err != nil {
		return nil, err
	}
	s := &stage{o: o, n: n, self: self, dir: dir}
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

// close ends the server and removes its files.
func (s *stage) close() {
	_ = s.agent.Kill()
	_ = os.RemoveAll(s.dir) //nolint:gosec // a temporary folder of our own
}

func (s *stage) addr() string { return s.agent.Addr() }

func (s *stage) port() int {
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

// clock reads the CPU time of the server and of another process, 0 for none.
func (s *stage) clock(pid int) (c cpu, err error) {
	if c.server, err = cpuTime(s.agent.PID()); err != nil {
		return c, fmt.Errorf("consul: %w", err)
	}
	if pid > 0 {
		c.client, err = cpuTime(pid)
	}
	return c, err
}

// cpu is CPU time of a watcher and of the server.
type cpu struct{ client, server time.Duration }
