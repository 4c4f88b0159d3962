package holders

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"electop/internal/consultest"
)

// cluster is a Patroni cluster. The stage's key is the cluster's leader key.
type cluster struct {
	*stage
	root *testing.T // the test that owns the processes; stage contains the current subtest
	// holder returns the member that holds the leader key, or "".
	holder func() string
	scope  string
	dir    string
	bin    string // folder of PostgreSQL's programs
	as     *syscall.Credential
	pg1    *member
	pg2    *member
}

// member is one Patroni daemon with its PostgreSQL.
type member struct {
	c       *cluster
	store   string // in Patroni's settings
	name    string
	dir     string
	sql     int
	rest    int
	daemon  *process
	patient *http.Client
}

// newCluster starts a primary, pg1, and a replica, pg2, at one agent.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	needsPatroni(t, "consul")
	agent := consultest.Dev(t)
	return newClusterOn(t, agent, agent)
}

// newClusterOn starts the primary at the first agent and the replica at the second.
func newClusterOn(t *testing.T, first, second *consultest.Agent) *cluster {
	t.Helper()
	c := &cluster{root: t, scope: "holders", stage: stageOn(t, first, "service/holders", "service/holders/leader")}
	c.holder = func() string {
		pair := c.get()
		if pair == nil || pair.Session == "" {
			return ""
		}
		return string(pair.Value)
	}
	store := func(agent *consultest.Agent) string {
		_, port, _ := net.SplitHostPort(agent.Addr())
		return "consul: {host: 127.0.0.1, port: " + port + ", register_service: false}"
	}
	c.startBoth(store(first), store(second))
	return c
}

// startBoth starts a primary and a replica with the settings of their stores.
func (c *cluster) startBoth(first, second string) {
	c.t.Helper()
	c.bin, c.as = postgresPrograms(c.t), unprivileged(c.t)
	c.dir = c.folder()
	c.pg1 = c.join("pg1", first)
	c.t.Logf("the primary led after %v", await(c.t, "the first primary", c.pg1.leads).Round(time.Millisecond))
	c.pg2 = c.join("pg2", second)
	c.t.Logf("the replica streamed after %v", await(c.t, "the replica", c.pg2.streams).Round(time.Millisecond))
}

// needsPatroni skips the test if Patroni, or Python's module for its store, is not installed.
func needsPatroni(t *testing.T, module string) {
	t.Helper()
	consultest.Binary(t) // skips under -short, before it looks for software
	consultest.Program(t, "patroni", installPatroni)
	needsPython(t, module)
	postgresPrograms(t)
}

// postgresPrograms returns the folder of the newest PostgreSQL server that is installed from Debian.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	must(t, err)
	if len(found) == 0 {
		consultest.LeaveOut(t, "PostgreSQL's server", installPatroni)
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// unprivileged returns the account in which PostgreSQL runs, because PostgreSQL refuses to run as root. It returns
// nil if the test does not run as root.
func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		consultest.LeaveOut(t, "the account postgres", installPatroni)
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// folder creates a folder that PostgreSQL's account can enter. That account cannot enter t.TempDir.
func (c *cluster) folder() string {
	c.t.Helper()
	dir, err := os.MkdirTemp("", "electop-patroni")
	must(c.t, err)
	c.t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			c.t.Error(err)
		}
	})
	if c.as != nil {
		must(c.t, os.Chown(dir, int(c.as.Uid), int(c.as.Gid)))
	}
	return dir
}

// run returns a command that runs in PostgreSQL's account. If the test binary is killed, the kernel sends SIGTERM to
// the command; Patroni then stops PostgreSQL.
func (c *cluster) run(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.dir
	cmd.Env = cleanEnvironment("HOME="+c.dir, "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, Pdeathsig: syscall.SIGTERM}
	return cmd
}

// join starts a member; the first one initializes the cluster.
func (c *cluster) join(name, store string) *member {
	c.t.Helper()
	m := &member{
		c: c, store: store, name: name, dir: filepath.Join(c.dir, name), sql: freePort(c.t), rest: freePort(c.t),
		patient: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	must(c.t, os.WriteFile(m.config(), []byte(m.settings()), 0o644))
	m.start()
	return m
}

// start runs the daemon until the top-level test ends.
func (m *member) start() {
	m.c.t.Helper()
	m.daemon = start(m.c.root, m.c.run("patroni", m.config()))
	m.c.root.Cleanup(m.kill) // registered last, so it runs first and PostgreSQL stops before the daemon
}

// rejoin starts a killed member as a new replica.
func (m *member) rejoin() {
	m.c.t.Helper()
	must(m.c.t, os.RemoveAll(m.dir))
	m.start()
	await(m.c.t, m.name+" as a replica", m.streams)
}

func (m *member) config() string { return m.dir + ".yml" }

// settings contains the shortest ttl that Patroni accepts. PostgreSQL does not sync its files, because no machine
// fails in these tests.
func (m *member) settings() string {
	return fmt.Sprintf(`scope: %[1]s
name: %[2]s
%[3]s
restapi: {listen: "127.0.0.1:%[4]d", connect_address: "127.0.0.1:%[4]d"}
bootstrap:
  dcs: {ttl: 20, loop_wait: 2, retry_timeout: 3, postgresql: {use_pg_rewind: false}}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}, no-sync]
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: 127.0.0.1:%[5]d
  connect_address: 127.0.0.1:%[5]d
  data_dir: %[6]s
  bin_dir: %[7]s
  pgpass: %[6]s.pgpass
  authentication: {superuser: {username: postgres}, replication: {username: replicator}}
  parameters: {unix_socket_directories: "%[8]s", shared_buffers: 16MB, max_connections: 20, fsync: "off"}
`, m.c.scope, m.name, m.store, m.rest, m.sql, m.dir, m.c.bin, m.c.dir)
}

// freePort returns a port that is free at the time of the call.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// status is the part of Patroni's REST API that the tests read.
type status struct {
	Role        string `json:"role"`
	State       string `json:"state"`
	Timeline    int    `json:"timeline"`
	Seen        int64  `json:"dcs_last_seen"` // time in seconds at which the daemon last read Consul
	Replication []struct {
		State string `json:"state"`
	} `json:"replication"`
}

// status returns the member's status, or zero if it does not respond.
func (m *member) status() (s status) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/patroni", m.rest), nil)
	if err != nil {
		return s
	}
	resp, err := m.patient.Do(req)
	if err != nil {
		return s
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		return status{}
	}
	return s
}

// primary reports whether the daemon's status says that its PostgreSQL runs as the primary.
func (m *member) primary() bool {
	s := m.status()
	return s.State == "running" && (s.Role == "master" || s.Role == "primary") // Patroni 4 uses "primary"
}

// writable reports whether PostgreSQL accepts writes.
func (m *member) writable() bool {
	return strings.TrimSpace(m.query("SELECT pg_is_in_recovery()").stdout) == "f"
}

// leads reports whether the member is the primary and holds the key.
func (m *member) leads() bool {
	return m.c.holder() == m.name && m.primary()
}

// streams reports whether the member is a replica that replicates the primary.
func (m *member) streams() bool {
	if s := m.status(); s.State != "running" && s.State != "streaming" || s.Role != "replica" {
		return false
	}
	for _, other := range []*member{m.c.pg1, m.c.pg2} {
		if other == nil || other == m {
			continue
		}
		for _, r := range other.status().Replication {
			if r.State == "streaming" {
				return true
			}
		}
	}
	return false
}

// postmaster returns the process ID of the member's PostgreSQL, 0 if it does not run.
func (m *member) postmaster() int {
	text, err := os.ReadFile(filepath.Join(m.dir, "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !alive(pid) {
		return 0
	}
	return pid
}

// kill first ends the daemon, which would otherwise restart PostgreSQL. It then sends SIGQUIT to every PostgreSQL
// process that keeps the daemon's output open. PostgreSQL then ends immediately, as in a crash, but frees its shared
// memory.
func (m *member) kill() {
	m.daemon.signal(syscall.SIGKILL)
	await(m.c.t, "the end of "+m.name, func() bool {
		if pid := m.postmaster(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		}
		return m.daemon.ended()
	})
}

// query executes a statement in the member's PostgreSQL.
func (m *member) query(statement string) result {
	m.c.t.Helper()
	return execute(m.c.t, m.c.run(filepath.Join(m.c.bin, "psql"), "-X", "-A", "-t", "-h", "127.0.0.1",
		"-p", strconv.Itoa(m.sql), "-U", "postgres", "-c", statement))
}

// patronictl runs Patroni's command-line tool.
func (c *cluster) patronictl(args ...string) result {
	c.t.Helper()
	return execute(c.t, c.run("patronictl", append([]string{"-c", c.pg1.config()}, args...)...))
}
