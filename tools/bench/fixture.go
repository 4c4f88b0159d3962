package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"

	"electop/internal/consultest"
	"electop/tools/bench/internal/watch"
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

// moreConnections increases the connection limit for the watcher that uses one connection per key.
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

// clock returns the CPU times of the server and, unless pid is 0, of the process pid.
func (s *fixture) clock(pid int) (c cpu, err error) {
	if c.server, err = cpuTime(s.agent.PID()); err != nil {
		return c, fmt.Errorf("consul: %w", err)
	}
	if pid > 0 {
		c.client, err = cpuTime(pid)
	}
	return c, err
}

// cpu contains the CPU times of a watcher and of the server.
type cpu struct{ client, server time.Duration }

const (
	// maxSessions is the maximum number of sessions. If there are more elections, several share a session.
	maxSessions   = 10_000
	txnOps        = 64
	parallelLoads = 32
	loadLimit     = 10 * time.Minute
)

// valueOfLeader returns a realistic value of a key.
func valueOfLeader(name string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"address":"10.0.0.9:9000","version":"1.14.2"}`, name)
}

// load creates n elections and returns the sessions. Election i is led by session i modulo the number of sessions.
func load(ctx context.Context, client *api.Client, n int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	sessions, err := makeSessions(ctx, client, max(2, min(n, maxSessions)))
	if err != nil {
		return nil, fmt.Errorf("cannot create sessions: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelLoads)
	for from := 0; from < n; from += txnOps {
		g.Go(func() error { return lockKeys(ctx, client, sessions, from, min(from+txnOps, n)) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("cannot create elections: %w", err)
	}
	return sessions, nil
}

func makeSessions(ctx context.Context, client *api.Client, n int) ([]string, error) {
	sessions := make([]string, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelLoads)
	for i := range sessions {
		g.Go(func() (err error) {
			w := (&api.WriteOptions{}).WithContext(ctx)
			sessions[i], _, err = client.Session().Create(&api.SessionEntry{Name: fmt.Sprintf("candidate-%05d", i)}, w)
			return err
		})
	}
	return sessions, g.Wait()
}

func lockKeys(ctx context.Context, client *api.Client, sessions []string, from, to int) error {
	ops := make(api.TxnOps, 0, to-from)
	for i := from; i < to; i++ {
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{
			Verb: api.KVLock, Key: watch.KeyName(i), Session: sessions[i%len(sessions)],
			Value: valueOfLeader(fmt.Sprintf("candidate-%05d", i)),
		}})
	}
	return commit(ctx, client, ops)
}

// commit runs a transaction that must succeed.
func commit(ctx context.Context, client *api.Client, ops api.TxnOps) error {
	ok, answer, _, err := client.Txn().Txn(ops, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("rejected: %s", answer.Errors[0].What)
	}
	return nil
}
