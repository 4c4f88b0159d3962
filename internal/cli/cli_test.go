package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"electop/internal/consultest"
	"electop/internal/memconsul"
	"electop/internal/supervise"
)

// mainEnv makes the test binary run electop.
const mainEnv = "ELECTOP_TEST_MAIN"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == beatCommand:
		beat(os.Args[2:])
	case os.Getenv(mainEnv) != "" || len(os.Args) > 1 && os.Args[1] == supervise.Command:
		os.Exit(Main())
	}
	if err := supervise.AdoptOrphans(); err != nil { // as the parent, a command can reap the processes of --exec at once
		panic(err)
	}
	goleak.VerifyTestMain(consultest.Wrap(m), goleak.IgnoreTopFunction("os/signal.loop"))
}

var must = consultest.Must

// patience bounds a wait. It is long, so that no test fails on a slow machine.
const patience = 2 * time.Minute

// slowdown is how much slower than usual a command may be.
const slowdown = 30

// testConsul is a Consul on which tests run command lines.
type testConsul struct {
	consultest.Backend
	token string // permits everything, if ACLs are enabled
}

func onMemory(t *testing.T) *testConsul {
	t.Helper()
	w, _ := onMemoryThatEnds(t)
	return w
}

// onMemoryThatEnds returns an in-process agent and a function that ends it.
func onMemoryThatEnds(t *testing.T) (w *testConsul, end func()) {
	t.Helper()
	server, err := memconsul.Start(memconsul.Config{Datacenter: "dc1", NodeName: "node-1"})
	must(t, err)
	end = sync.OnceFunc(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return newTestConsul(t, server.Addr()), end
}

// withoutConsul returns a Consul without an address: the environment and the config file select the store.
func withoutConsul(t *testing.T) *testConsul {
	return &testConsul{Backend: consultest.Backend{T: t}}
}

func newTestConsul(t *testing.T, addr string) *testConsul {
	t.Helper()
	conf := api.DefaultNonPooledConfig()
	conf.Address = addr
	client, err := api.NewClient(conf)
	must(t, err)
	return &testConsul{Backend: consultest.Backend{T: t, Addr: addr, API: client}}
}

// result is the output and the exit code of a command line.
type result struct {
	t           *testing.T
	code        int
	out, errOut string
}

// run executes a command line against this Consul, without a terminal.
func (w *testConsul) run(args ...string) result {
	w.T.Helper()
	return w.runWith(deps{stdin: strings.NewReader("")}, args...)
}

// line returns the arguments of a command line. Without an address, the environment selects the store.
func (w *testConsul) line(args []string) []string {
	if w.Addr == "" {
		return args
	}
	return append([]string{"--http-addr", w.Addr}, args...)
}

func (w *testConsul) runWith(d deps, args ...string) result {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errOut buffer
	d.stdout, d.stderr, d.patience = &out, &errOut, slowdown
	code := run(ctx, d, w.line(args))
	return result{w.T, code, out.String(), errOut.String()}
}

// job is a command that runs in the background.
type job struct {
	t           *testing.T
	command     string
	out, errOut buffer
	read        int // how much of out next has returned
	interrupt   context.CancelFunc
	done        chan result
}

// background starts a command, which ends with the test or earlier.
func (w *testConsul) background(args ...string) *job {
	w.T.Helper()
	return w.backgroundWith(deps{stdin: strings.NewReader("")}, args...)
}

func (w *testConsul) backgroundWith(d deps, args ...string) *job {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{t: w.T, command: args[0], interrupt: cancel, done: make(chan result, 1)}
	var ended sync.WaitGroup
	ended.Go(func() {
		d.stdout, d.stderr, d.patience = &j.out, &j.errOut, slowdown
		code := run(ctx, d, w.line(args))
		j.done <- result{w.T, code, j.out.String(), j.errOut.String()}
	})
	w.T.Cleanup(func() { cancel(); ended.Wait() })
	return j
}

// wait waits until the command has ended.
func (j *job) wait() result {
	j.t.Helper()
	return await(j.t, "end of "+j.command, j.done)
}

// stop interrupts the command and waits until it has ended.
func (j *job) stop() result {
	j.t.Helper()
	j.interrupt()
	return j.wait()
}

// must fails the test unless the exit code is this one.
func (r result) must(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("exit code %d, want %d\nout: %s\nerr: %s", r.code, code, r.out, r.errOut)
	}
	return r
}

// has fails the test unless the output contains all parts.
func (r result) has(parts ...string) { r.t.Helper(); has(r.t, r.out, parts...) }

// hasErr is like has for the standard error.
func (r result) hasErr(parts ...string) { r.t.Helper(); has(r.t, r.errOut, parts...) }

// buffer is a bytes.Buffer that is safe for concurrent use.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// session creates a session without checks, so that only the test can end it.
func (w *testConsul) session(entry ...api.SessionEntry) string {
	w.T.Helper()
	e := append(entry, api.SessionEntry{})[0]
	e.Name, e.LockDelay = cmp.Or(e.Name, "test"), cmp.Or(e.LockDelay, time.Second)
	return w.Session(e)
}

func (w *testConsul) acquire(key, session, value string) {
	w.T.Helper()
	w.Acquire(api.KVPair{Key: key, Value: []byte(value), Session: session})
}

// prefix returns a key prefix for one test on the shared agent.
func prefix(t *testing.T) string {
	return strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
}

// next waits for the next line of the output.
func (j *job) next() (line string) {
	j.t.Helper()
	eventually(j.t, "further line of "+j.command, func() (found bool) {
		line, _, found = strings.Cut(j.out.String()[j.read:], "\n")
		return found
	})
	j.read += len(line) + 1
	return line
}

// event reads the next line as JSON.
func (j *job) event() map[string]any {
	j.t.Helper()
	return decoded[map[string]any](j.t, j.next())
}

// until reads events until one has this type.
func (j *job) until(kind string) map[string]any {
	j.t.Helper()
	for {
		if e := j.event(); e["type"] == kind {
			return e
		}
	}
}

// led returns a Consul with n elections that have a leader.
func led(t *testing.T, n int) *testConsul {
	t.Helper()
	w := onMemory(t)
	s := w.session()
	for i := range n {
		w.acquire(fmt.Sprintf("service/web%02d/leader", i), s, fmt.Sprint("leader-", i))
	}
	return w
}

// has fails the test unless the text contains all parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

// slow skips a test that waits for more than a second with -short.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow; skipped with -short")
	}
}

// await receives from a channel. It bounds the wait.
func await[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case v := <-ch:
		return v
	case <-ctx.Done():
		t.Fatalf("no %s within %s", what, patience)
		panic("unreachable")
	}
}

// takeover bounds the wait for a condition. TTL and lock-delay of a campaign take most of it; when Consul's leader
// changes, the TTL restarts.
const takeover = 150 * time.Second

// eventually polls until a condition is true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !consultest.Poll(takeover, condition) {
		t.Fatalf("no %s within %s", what, takeover)
	}
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	eventually(t, path, func() bool { _, err := os.Stat(path); return err == nil })
}

// decoded parses JSON.
func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// lacks fails the test if a text contains one of these.
func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q contains %q", text, part)
		}
	}
}

// confirmation is a standard input that runs a function before it answers yes.
type confirmation struct {
	before func()
	answer *strings.Reader
}

func (i *confirmation) Read(p []byte) (int, error) {
	if i.before != nil {
		i.before()
		i.before = nil
	}
	return i.answer.Read(p)
}

// unwrapped joins the lines.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// campaigns returns the sessions of campaigns.
func (w *testConsul) campaigns() (found []*api.SessionEntry) {
	w.T.Helper()
	sessions, _, err := w.API.Session().List(nil)
	must(w.T, err)
	for _, s := range sessions {
		if s.Name == "electop campaign" {
			found = append(found, s)
		}
	}
	return found
}

// node registers a node, on which sessions can be created.
func (w *testConsul) node(name string) {
	w.T.Helper()
	_, err := w.API.Catalog().Register(&api.CatalogRegistration{Node: name, Address: "10.0.0.2"}, nil)
	must(w.T, err)
	w.T.Cleanup(func() { w.API.Catalog().Deregister(&api.CatalogDeregistration{Node: name}, nil) })
}

// sessionOn creates a session on a node.
func (w *testConsul) sessionOn(node string) string {
	w.T.Helper()
	return w.session(api.SessionEntry{Node: node, LockDelay: 10 * time.Millisecond})
}

// threeNodes registers three nodes for one test: tests share an agent.
func threeNodes(t *testing.T, w *testConsul) (drained, second, third string) {
	t.Helper()
	p := prefix(t)
	drained, second, third = p+"-n1", p+"-n2", p+"-n3"
	for _, name := range []string{drained, second, third} {
		w.node(name)
	}
	return drained, second, third
}

// nodeHealth registers a node with the check serfHealth, or changes the status of the check.
func (w *testConsul) nodeHealth(node, status string) {
	w.T.Helper()
	_, err := w.API.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: "10.0.0.9",
		Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: status},
	}, nil)
	must(w.T, err)
	w.T.Cleanup(func() { w.API.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
}

// alive fails the test unless the session exists.
func (w *testConsul) alive(session string) {
	w.T.Helper()
	if e, _, err := w.API.Session().Info(session, nil); err != nil || e == nil {
		w.T.Errorf("session %s was destroyed (%v)", session, err)
	}
}

// token creates a token with these rules.
func token(t *testing.T, client *api.Client, name, rules string) string {
	t.Helper()
	policy, _, err := client.ACL().PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
	must(t, err)
	made, _, err := client.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	must(t, err)
	return made.SecretID
}

// anonymous sets the rules for requests without a token.
func anonymous(w *testConsul, rules string) {
	w.T.Helper()
	policy, _, err := w.API.ACL().PolicyCreate(&api.ACLPolicy{Name: fmt.Sprint("anonymous", len(rules)), Rules: rules}, nil)
	must(w.T, err)
	public := &api.ACLToken{AccessorID: "00000000-0000-0000-0000-000000000002", Policies: []*api.ACLLink{{ID: policy.ID}}}
	_, _, err = w.API.ACL().TokenUpdate(public, nil)
	must(w.T, err)
}

// contend acquires the key whenever it is free, for each session in turn, like candidates and
// like holders that refresh with ?acquire=.
func contend(t *testing.T, w *testConsul, key, value string, sessions ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q := (&api.QueryOptions{}).WithContext(ctx)
		for i := 0; ctx.Err() == nil; {
			pair, meta, err := w.API.KV().Get(key, q)
			if err != nil {
				continue // the test ends it
			}
			q.WaitIndex = meta.LastIndex
			if pair == nil || pair.Session == "" {
				p := &api.KVPair{Key: key, Value: []byte(value), Session: sessions[i%len(sessions)]}
				if len(sessions) > 1 {
					p.Value = fmt.Append(p.Value, i%len(sessions))
				}
				if ok, _, err := w.API.KV().Acquire(p, nil); ok && err == nil {
					i++
				} else {
					q.WaitIndex = 0 // no blocking query returns when the lock-delay ends
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}
