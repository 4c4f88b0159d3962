package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// mainEnv makes the test binary run electop itself.
const mainEnv = "ELECTOP_TEST_MAIN"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == beatCommand:
		beat(os.Args[2:])
	case os.Getenv(mainEnv) != "" || len(os.Args) > 1 && os.Args[1] == superviseCommand:
		os.Exit(Main())
	}
	goleak.VerifyTestMain(consultest.Wrap(m), goleak.IgnoreTopFunction("os/signal.loop"))
}

// patience bounds what a test waits for. It is generous: a timing never fails a
// test.
const patience = 40 * time.Second

// world is a Consul to run command lines on.
type world struct {
	t      *testing.T
	addr   string
	client *api.Client
}

// onBoth runs a test on the in-process agent and on the real Consul.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("memconsul", func(t *testing.T) { test(t, onMemory(t)) })
	t.Run("consul", func(t *testing.T) { test(t, onReal(t)) })
}

func onMemory(t *testing.T) *world {
	t.Helper()
	server, err := memconsul.Start(memconsul.Config{Datacenter: "dc1", NodeName: "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return newWorld(t, server.Addr())
}

func onReal(t *testing.T) *world {
	t.Helper()
	return newWorld(t, consultest.Shared(t).Addr())
}

func newWorld(t *testing.T, addr string) *world {
	t.Helper()
	conf := api.DefaultNonPooledConfig()
	conf.Address = addr
	client, err := api.NewClient(conf)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, addr: addr, client: client}
}

// result is what a command line left behind.
type result struct {
	code        int
	out, errOut string
}

// run executes a command line against this Consul, without a terminal.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.runWith(deps{stdin: strings.NewReader("")}, args...)
}

func (w *world) runWith(d deps, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errOut buffer
	d.stdout, d.stderr = &out, &errOut
	code := run(ctx, d, append([]string{"--http-addr", w.addr}, args...))
	return result{code: code, out: out.String(), errOut: errOut.String()}
}

// must fails the test unless the command line ends with this code.
func (r result) must(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nout: %s\nerr: %s", r.code, code, r.out, r.errOut)
	}
	return r
}

// buffer is a bytes.Buffer for several goroutines.
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

// session makes a session without checks, so that only what the test does can
// end it.
func (w *world) session(change func(*api.SessionEntry)) string {
	w.t.Helper()
	e := &api.SessionEntry{Name: "test", LockDelay: time.Second, Behavior: api.SessionBehaviorRelease}
	if change != nil {
		change(e)
	}
	id, _, err := w.client.Session().CreateNoChecks(e, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.client.Session().Destroy(id, nil) })
	return id
}

func (w *world) acquire(key, session, value string) {
	w.t.Helper()
	ok, _, err := w.client.KV().Acquire(&api.KVPair{Key: key, Value: []byte(value), Session: session}, nil)
	if err != nil || !ok {
		w.t.Fatalf("acquire %s: %v %v", key, ok, err)
	}
}

func (w *world) unlock(key, session string) {
	w.t.Helper()
	ok, _, err := w.client.KV().Release(&api.KVPair{Key: key, Session: session}, nil)
	if err != nil || !ok {
		w.t.Fatalf("release %s: %v %v", key, ok, err)
	}
}

func (w *world) get(key string) *api.KVPair {
	w.t.Helper()
	pair, _, err := w.client.KV().Get(key, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return pair
}

// keys gives each test keys of its own on the shared agent.
func prefix(t *testing.T) string {
	return strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
}

// lines reads what a long-running command writes, line by line.
type lines struct {
	t  *testing.T
	ch chan string
}

// follow starts a long-running command; it ends with the test.
func (w *world) follow(args ...string) *lines {
	w.t.Helper()
	r, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	l := &lines{t: w.t, ch: make(chan string, 1000)}
	var errOut buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		d := deps{stdin: strings.NewReader(""), stdout: out, stderr: &errOut}
		code := run(ctx, d, append([]string{"--http-addr", w.addr}, args...))
		out.CloseWithError(fmt.Errorf("exit code %d: %s", code, errOut.String()))
	})
	wg.Go(func() {
		var pending []byte
		chunk := make([]byte, 4096)
		for {
			n, err := r.Read(chunk)
			pending = append(pending, chunk[:n]...)
			for {
				i := bytes.IndexByte(pending, '\n')
				if i < 0 {
					break
				}
				l.ch <- string(pending[:i])
				pending = pending[i+1:]
			}
			if err != nil {
				l.ch <- err.Error()
				return
			}
		}
	})
	w.t.Cleanup(func() { cancel(); wg.Wait() })
	return l
}

func (l *lines) next() string {
	l.t.Helper()
	select {
	case line := <-l.ch:
		return line
	case <-time.After(patience):
		l.t.Fatal("no further line")
		return ""
	}
}

// event reads the next line as JSON.
func (l *lines) event() map[string]any {
	l.t.Helper()
	line := l.next()
	var event map[string]any
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		l.t.Fatalf("%v: %s", err, line)
	}
	return event
}

// until reads events until one has this type.
func (l *lines) until(kind string) map[string]any {
	l.t.Helper()
	for {
		if e := l.event(); e["type"] == kind {
			return e
		}
	}
}

// led gives a watched world some elections to write initial events of.
func led(t *testing.T, n int) *world {
	t.Helper()
	w := onMemory(t)
	s := w.session(nil)
	for i := range n {
		w.acquire(fmt.Sprintf("service/web%02d/leader", i), s, fmt.Sprint("leader-", i))
	}
	return w
}
