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
	consultest.Backend
	prefix string
	a, b   string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := stageOn(t, consultest.Shared(t), strings.ReplaceAll(t.Name(), "/", "-"))
	s.a, s.b = s.session("web-a"), s.session("web-b")
	s.acquire("web", s.a, "web-a")
	return s
}

func stageOn(t *testing.T, agent *consultest.Agent, prefix string) *stage {
	return &stage{Backend: consultest.Backend{T: t, Addr: agent.Addr(), API: agent.Client()}, prefix: prefix}
}

func (s *stage) session(name string) string {
	s.T.Helper()
	return s.Session(api.SessionEntry{Name: name, LockDelay: time.Second, TTL: "3600s"})
}

func (s *stage) key(election string) string { return s.prefix + "/" + election + "/leader" }

func (s *stage) acquire(election, session, value string) {
	s.T.Helper()
	s.Acquire(api.KVPair{Key: s.key(election), Value: []byte(value), Session: session})
}

var must = consultest.Must

func (s *stage) open(width, height int, args ...string) *terminal {
	s.T.Helper()
	command := append([]string{program, "--http-addr", s.Addr, "-k", s.prefix + "/*/leader"}, args...)
	return open(s.T, width, height, nil, command...)
}

func TestBoardShowsAFailover(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.open(80, 24)
	term.await("1 led", "web-a")
	s.Destroy(s.a)
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
