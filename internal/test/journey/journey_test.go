// Package journey tests electop as a user runs it: the built program in a terminal (tmux) with a real Consul agent. The
// tests press keys and read the screen.
package journey

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	_ "electop/internal/cli" // go test reuses a result until the program changes
	"electop/internal/consultest"
)

// program is the path of the built binary; TestMain sets it.
var program string

func TestMain(m *testing.M) { os.Exit(consultest.RunBuilt(m, &program)) }

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
	return s.named(api.SessionEntry{Name: name, LockDelay: time.Second, TTL: "3600s"})
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
	term.keys("C-c")
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
