// Package journey tests electop as a user runs it: the built program in a terminal (tmux) with a real Consul agent. The
// tests press keys and read the screen.
package journey

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// program is the path of the built binary; TestMain sets it.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "electop-journey")
	if err == nil {
		program, err = binary(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Most tests mainly wait, so many tests run in parallel. A flag on the command line takes precedence.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := consultest.Wrap(m).Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// stage is a Consul agent with the election web, in which sessions a and b compete.
type stage struct {
	t      *testing.T
	agent  *consultest.Agent
	prefix string
	a, b   string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	agent := consultest.Shared(t)
	s := &stage{t: t, agent: agent, prefix: strings.ReplaceAll(t.Name(), "/", "-")}
	s.a, s.b = s.session("web-a"), s.session("web-b")
	s.acquire("web", s.a, "web-a")
	return s
}

func (s *stage) session(name string) string {
	s.t.Helper()
	id, _, err := s.agent.Client().Session().CreateNoChecks(&api.SessionEntry{Name: name, LockDelay: time.Second, TTL: "3600s"}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _, _ = s.agent.Client().Session().Destroy(id, nil) })
	return id
}

func (s *stage) key(election string) string { return s.prefix + "/" + election + "/leader" }

// acquire retries until the session holds the key, because a lock-delay may be active.
func (s *stage) acquire(election, session, value string) {
	s.t.Helper()
	pair := &api.KVPair{Key: s.key(election), Value: []byte(value), Session: session}
	acquired := poll(func() bool {
		ok, _, err := s.agent.Client().KV().Acquire(pair, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		return ok
	})
	if !acquired {
		s.t.Fatalf("%s was not acquired within %s", election, patience)
	}
}

func (s *stage) get(election string) *api.KVPair {
	s.t.Helper()
	pair, _, err := s.agent.Client().KV().Get(s.key(election), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return pair
}

func (s *stage) open(width, height int, args ...string) *terminal {
	s.t.Helper()
	command := append([]string{program, "--http-addr", s.agent.Addr(), "-k", s.prefix + "/*/leader"}, args...)
	return open(s.t, width, height, nil, command...)
}

func TestBoardShowsAFailover(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.open(80, 24)
	term.await("1 led", "web-a")
	if _, err := s.agent.Client().Session().Destroy(s.a, nil); err != nil {
		t.Fatal(err)
	}
	term.await("vacated", "No leader for", "Lost because", "expired or was destroyed")
	term.keys("Tab")
	term.await("web-b", "Consul does not record waiters")
	s.acquire("web", s.b, "web-b")
	screen := term.await("1 led", "web-b", "elected")
	if !strings.Contains(row(screen, "● web"), "web-b") {
		t.Errorf("the board does not show the new leader:\n%s", screen)
	}
	term.keys("q")
	term.await("left with 0")
}

func TestReleaseWithR(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.open(80, 24)
	term.await("1 led")
	term.keys("r")
	term.await("Release web", s.key("web"), "Cancel")
	term.keys("Enter")
	term.gone("Release web")
	if pair := s.get("web"); pair.Session != s.a {
		t.Fatal("Cancel released the key")
	}
	term.keys("r")
	term.await("Release web", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	if pair := s.get("web"); pair.Session != "" || string(pair.Value) != "web-a" {
		t.Errorf("%+v", pair)
	}
	s.acquire("web", s.b, "web-b")
	term.await("web-a on node-1 → web-b")
	term.keys("q")
	term.await("left with 0")
}

func TestDestroyWithX(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.a = s.named(api.SessionEntry{Name: "mail-a", LockDelay: 10 * time.Second, TTL: "3600s"})
	for _, name := range []string{"mail", "shop"} {
		s.acquire(name, s.a, name+"-a")
	}
	term := s.open(120, 36)
	term.await("3 led")
	term.keys("x")
	term.await("Destroy", "mail", "y destroy")
	term.keys("y")
	term.await("2 lock-delay")
	if e, _, err := s.agent.Client().Session().Info(s.a, nil); err != nil || e != nil {
		t.Errorf("the session was not destroyed: %v", err)
	}
	s.acquire("mail", s.b, "mail-b")
	term.await("mail-b")
	term.keys("C-c")
	term.await("left with 0")
}

func TestHostileTextIsEscaped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.session("name \x1b[2J\u009b31m\u202e")
	s.acquire("evil", id, "\x1b]0;owned\x07\x1b[2Jvalue\u202e\nsecond")
	term := s.open(120, 36)
	screen := term.await("2 led", "␛[2Jvalue")
	if strings.ContainsAny(screen, "\u202e\u009b") {
		t.Error("an invisible character is on the screen")
	}
	if title := term.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "owned") {
		t.Errorf("the value set the title: %q", title)
	}
	term.await("web-a")
}

func TestBoardShowsStaleDataAfterConsulEnds(t *testing.T) {
	t.Parallel()
	agent := consultest.Server(t)
	id, _, err := agent.Client().Session().CreateNoChecks(&api.SessionEntry{Name: "web"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := agent.Client().KV().Acquire(&api.KVPair{Key: "service/web/leader", Value: []byte("web-a"), Session: id}, nil); err != nil {
		t.Fatal(err)
	}
	term := open(t, 120, 36, nil, program, "--http-addr", agent.Addr())
	term.await("1 led", "live")
	if err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	term.await("cannot reach Consul", "web-a")
	if err := agent.Restart(); err != nil {
		t.Fatal(err)
	}
	term.await("live", "1 led", "web-a")
	term.keys("q")
	term.await("left with 0")
}

func TestDemoRunsWithoutConsul(t *testing.T) {
	t.Parallel()
	term := open(t, 120, 36, []string{"CONSUL_HTTP_ADDR=127.0.0.1:1", "CONSUL_HTTP_SSL=true"}, program, "demo", "--every", "1s")
	term.await("DEMO", " led")
	term.await("vacated")
	term.keys("q")
	term.await("left with 0")
}
