package journey

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// federated opens the dashboard of two datacenters, which have the key service/web/leader in common.
func federated(t *testing.T, width, height int, args ...string) (agents []*consultest.Agent, sessions []string, term *terminal) {
	t.Helper()
	agents = consultest.Federation(t, "dc1", "dc2")
	for _, a := range agents {
		id, _, err := a.Client().Session().Create(&api.SessionEntry{Name: "web-" + a.Datacenter(), LockDelay: 1}, nil)
		must(t, err)
		pair := &api.KVPair{Key: "service/web/leader", Value: []byte("web-in-" + a.Datacenter()), Session: id}
		if ok, _, err := a.Client().KV().Acquire(pair, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		sessions = append(sessions, id)
	}
	term = open(t, width, height, nil, append([]string{program, "--http-addr", agents[0].Addr(), "--datacenter", "all"}, args...)...)
	term.await("web-in-dc1", "web-in-dc2", "DC")
	return agents, sessions, term
}

// holder returns the session that holds the common key.
func holder(t *testing.T, a *consultest.Agent) string {
	t.Helper()
	pair, _, err := a.Client().KV().Get("service/web/leader", nil)
	if err != nil || pair == nil {
		t.Fatal(pair, err)
	}
	return pair.Session
}

func TestTwoDatacentersOnOneBoard(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "h.db")
	agents, sessions, term := federated(t, 80, 24, "--history", file)
	term.keys("/")
	term.write("dc:dc2")
	term.await("1 of 2 elections")
	term.keys("Enter", "r")
	term.await("Release web in dc2", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	if holder(t, agents[0]) != sessions[0] || holder(t, agents[1]) != "" {
		t.Fatal("want the release in dc2 only")
	}
	term.keys("3")
	term.await("web-dc1", "web-dc2")
	term.keys("1")
	term.await("1 of 2 elections")
	term.keys("Escape")
	term.await("web-in-dc1")
	must(t, agents[1].Kill())
	screen := term.await("dc2 is unreachable", "dc1", "lost", "web-in-dc1")
	if one := row(screen, "web-in-dc1"); strings.Contains(one, "stale") {
		t.Errorf("the row of dc1 is stale:\n%s", screen)
	}
	if err := agents[1].Restart(); err != nil { // it loses its data, which was in memory
		t.Fatal(err)
	}
	term.gone("dc2 is unreachable")
	term.keys("q")
	term.await("left with 0")
	terms := history(t, file, "history", "--terms", "-o", "json")
	if !strings.Contains(terms, "dc1") || !strings.Contains(terms, "dc2") || strings.Count(terms, "operator_release") != 1 {
		t.Errorf("want terms of both datacenters, and one release:\n%s", terms)
	}
}
