package journey

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// A user finds the locks that the patterns do not select, and changes the patterns. The board shows no false events.
func TestPatternsAreChangedOnTheBoard(t *testing.T) {
	t.Parallel()
	agent := consultest.Dev(t)
	s := &stage{t: t, agent: agent, prefix: "service"}
	s.a, s.b = s.session("web-a"), s.session("Consul lock for 'backup' at 'jobs/night'")
	s.acquire("web", s.a, "web-a")
	for _, key := range []string{"jobs/night/.lock", "jobs/day/.lock"} {
		if ok, _, err := agent.Client().KV().Acquire(&api.KVPair{Key: key, Session: s.b, Flags: api.LockFlagValue}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	term := s.open(80, 24)
	term.await("1 led", "web-a")
	term.keys(":", "discover", "Enter")
	term.await("Locks in the store", "jobs/*/.lock", "consul lock", "2 locks not watched", "service/*/leader")
	term.keys("Escape")
	term.gone("Locks in the store")
	term.keys(":", "watch jobs/*/.lock", "Enter")
	screen := term.await("3 led", "night", "Watching service/*/leader, jobs/*/.lock")
	if strings.Contains(screen, "deleted") || strings.Contains(screen, "vacated") {
		t.Errorf("the board shows a false event:\n%s", screen)
	}
	term.keys(":", "unwatch service/*/leader", "Enter")
	screen = term.await("2 led", "Watching jobs/*/.lock")
	if strings.Contains(screen, "deleted") || row(screen, "● web") != "" {
		t.Errorf("the board still shows the election, or a false event:\n%s", screen)
	}
	term.keys(":", "watch !jobs/day/*", "Enter")
	term.await("1 led", "!jobs/day/*")
	if pair := s.get("web"); pair.Session != s.a {
		t.Errorf("%+v", pair)
	}
	term.keys("q")
	term.await("left with 0")
}
