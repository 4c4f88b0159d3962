package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"electop/internal/consultest"
)

// BinaryEnv is the name of the environment variable that contains the path of the etcd binary.
const BinaryEnv = "ELECTOP_ETCD"

// Root is the user of a [Cluster]'s client, and its password, after [Cluster.EnableAuth].
const Root = "root"

const (
	readyTimeout  = 60 * time.Second
	startAttempts = 4
)

// Cluster is an etcd cluster on the loopback interface.
type Cluster struct {
	// Client has all rights. Its endpoints are those of all members.
	*clientv3.Client
	Members []*Member
	dir     string
	tls     *consultest.Certificates
}

// Option changes the settings of a cluster.
type Option func(*settings)

type settings struct {
	binary string
	flags  []string
	tls    *consultest.Certificates
}

// V2 is an etcd with the v2 API.
const V2 = "/usr/bin/etcd"

// NeedsV2 skips the test if no etcd with the v2 API is installed.
func NeedsV2(tb testing.TB) {
	tb.Helper()
	consultest.SkipIfShort(tb)
	if help, _ := exec.Command(V2, "--help").CombinedOutput(); !strings.Contains(string(help), "--enable-v2") {
		consultest.LeaveOut(tb, "an etcd with the v2 API", "apt-get install etcd-server")
	}
}

// WithV2 starts [V2] with the v2 API.
func WithV2() Option {
	return func(s *settings) { s.binary, s.flags = V2, append(s.flags, "--enable-v2") }
}

// WithTLS lets the members require a client certificate.
func WithTLS(c *consultest.Certificates) Option {
	return func(s *settings) {
		s.tls = c
		s.flags = append(s.flags, "--client-cert-auth", "--trusted-ca-file", c.CA, "--cert-file", c.Cert, "--key-file", c.Key)
	}
}

// Start starts a cluster of n members and waits until it accepts writes.
func Start(tb testing.TB, n int, opts ...Option) *Cluster {
	tb.Helper()
	consultest.SkipIfShort(tb)
	c, err := start(tb.TempDir(), n, opts)
	consultest.Must(tb, err)
	tb.Cleanup(func() {
		if err := c.end(); err != nil {
			tb.Error(err)
		}
		for _, m := range c.Members {
			if tb.Failed() {
				tb.Logf("the log of %s ends with:\n%s", m.name, m.logTail())
			}
		}
	})
	return c
}

func start(dir string, n int, opts []Option) (*Cluster, error) {
	var set settings
	for _, opt := range opts {
		opt(&set)
	}
	var err error
	if set.binary == "" {
		if set.binary, err = consultest.FindBinary(BinaryEnv, "etcd"); err != nil {
			return nil, err
		}
	}
	for attempt := range startAttempts {
		var c *Cluster
		c, err = tryStart(filepath.Join(dir, fmt.Sprintf("try-%d", attempt)), n, set)
		if err == nil || c == nil {
			return c, err
		}
		collided := slices.ContainsFunc(c.Members, func(m *Member) bool { return consultest.IsPortCollision(m.logTail()) })
		if failed := c.end(); failed != nil || !collided {
			return nil, errors.Join(err, failed)
		}
	}
	return nil, err
}

// tryStart returns the cluster even if it fails, so that the caller can read the logs and end the members.
func tryStart(dir string, n int, set settings) (*Cluster, error) {
	c := &Cluster{dir: dir, tls: set.tls}
	scheme := "http"
	if set.tls != nil {
		scheme = "https"
	}
	for i := range n {
		m, err := newMember(set.binary, dir, fmt.Sprintf("m%d", i+1), scheme)
		if err != nil {
			return nil, err
		}
		c.Members = append(c.Members, m)
	}
	var err error
	if c.Client, err = c.connect(""); err != nil {
		return nil, err
	}
	for _, m := range c.Members {
		m.flags = append([]string{"--initial-cluster", c.initial()}, set.flags...)
		if err := m.Start(); err != nil {
			return c, err
		}
	}
	return c, c.WaitReady()
}

// initial returns the value of etcd's flag --initial-cluster.
func (c *Cluster) initial() string {
	var pairs []string
	for _, m := range c.Members {
		pairs = append(pairs, m.name+"="+m.peer)
	}
	return strings.Join(pairs, ",")
}

// Endpoints returns the URLs of all members.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.client)
	}
	return all
}

// connect returns a client of a user whose password is the name. Without a name, it sends no request.
func (c *Cluster) connect(user string) (*clientv3.Client, error) {
	cfg := clientv3.Config{
		Endpoints: c.Endpoints(), Username: user, Password: user, DialTimeout: readyTimeout, Logger: zap.NewNop(),
	}
	if c.tls != nil {
		cfg.TLS = c.tls.Config()
	}
	return clientv3.New(cfg)
}

// WaitReady waits until the running members accept writes.
func (c *Cluster) WaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		_, err := c.Delete(try, "etcdtest/ready")
		cancel()
		if err == nil {
			return nil
		}
		if i := slices.IndexFunc(c.Members, (*Member).ended); ctx.Err() != nil || i >= 0 && len(c.Members) == 1 {
			return fmt.Errorf("etcdtest: etcd ended before it was ready (%w); its log ends with:\n%s", err, c.Members[max(i, 0)].logTail())
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// Snapshot writes a snapshot of the first member to a new file and returns its path.
func (c *Cluster) Snapshot(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "snapshot.db")
	file, err := os.Create(path)
	consultest.Must(tb, err)
	defer file.Close()
	stream, err := c.Client.Snapshot(tb.Context())
	consultest.Must(tb, err)
	defer stream.Close()
	_, err = file.ReadFrom(stream)
	consultest.Must(tb, err)
	return path
}

// Restore kills the only member, replaces its data by a snapshot, and starts it. flags are those of `etcdutl snapshot
// restore`, for example --bump-revision.
func (c *Cluster) Restore(tb testing.TB, snapshot string, flags ...string) {
	tb.Helper()
	m := c.Members[0]
	consultest.Must(tb, m.Kill())
	consultest.Must(tb, os.RemoveAll(m.data))
	args := append([]string{
		"snapshot", "restore", snapshot, "--data-dir", m.data, "--name", m.name,
		"--initial-cluster", c.initial(), "--initial-advertise-peer-urls", m.peer,
	}, flags...)
	output, err := exec.Command(filepath.Join(filepath.Dir(m.binary), "etcdutl"), args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("etcdutl: %v\n%s", err, output)
	}
	consultest.Must(tb, m.Start())
}

// Leader returns the index of the member that leads the cluster.
func (c *Cluster) Leader(tb testing.TB) int {
	tb.Helper()
	for end := time.Now().Add(readyTimeout); time.Now().Before(end); {
		for i, m := range c.Members {
			status, err := c.Status(tb.Context(), m.client)
			if err == nil && status.Leader == status.Header.MemberId {
				return i
			}
		}
	}
	tb.Fatal("etcdtest: no member leads")
	return -1
}

// EnableAuth enables users and roles. From then on the client's user is [Root].
func (c *Cluster) EnableAuth(tb testing.TB) {
	tb.Helper()
	ctx := tb.Context()
	_, err := c.UserAdd(ctx, Root, Root)
	if err == nil {
		_, err = c.UserGrantRole(ctx, Root, Root)
	}
	if err == nil {
		_, err = c.AuthEnable(ctx)
	}
	if err == nil {
		_ = c.Close()
		c.Client, err = c.connect(Root)
	}
	consultest.Must(tb, err)
}

// AddReader enables users and creates one who may read the keys with this prefix. Name, password and the name of the role are
// the same.
func (c *Cluster) AddReader(tb testing.TB, name, prefix string) {
	tb.Helper()
	c.addUser(tb, name, prefix, clientv3.PermissionType(clientv3.PermRead))
}

// AddWriter is like AddReader; the user may also write the keys.
func (c *Cluster) AddWriter(tb testing.TB, name, prefix string) {
	tb.Helper()
	c.addUser(tb, name, prefix, clientv3.PermissionType(clientv3.PermReadWrite))
}

func (c *Cluster) addUser(tb testing.TB, name, prefix string, right clientv3.PermissionType) {
	tb.Helper()
	if c.Username == "" {
		c.EnableAuth(tb)
	}
	ctx := tb.Context()
	_, err := c.RoleAdd(ctx, name)
	if err == nil {
		_, err = c.RoleGrantPermission(ctx, name, prefix, clientv3.GetPrefixRangeEnd(prefix), right)
	}
	if err == nil {
		_, err = c.UserAdd(ctx, name, name)
	}
	consultest.Must(tb, err)
	c.GrantRole(tb, name, name)
}

// GrantRole gives a role to a user.
func (c *Cluster) GrantRole(tb testing.TB, user, role string) {
	tb.Helper()
	_, err := c.UserGrantRole(tb.Context(), user, role)
	consultest.Must(tb, err)
}

// RevokeRole takes a role from a user.
func (c *Cluster) RevokeRole(tb testing.TB, user, role string) {
	tb.Helper()
	_, err := c.UserRevokeRole(tb.Context(), user, role)
	consultest.Must(tb, err)
}

// end kills the members, because the test has ended.
func (c *Cluster) end() error {
	_ = c.Close()
	errs := make([]error, 0, len(c.Members))
	for _, m := range c.Members {
		errs = append(errs, m.Kill())
	}
	return errors.Join(errs...)
}
