package holders

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// contest is one election with its candidates.
type contest struct {
	kind string
	key  string
	// on contains the numbers of the candidates' nodes. The first is the node of the first leader.
	on []int
	// once is set if the only candidate does not compete again after a loss.
	once bool
}

// drained is the number of the node that the trial drains.
const drained = 2

// want returns the result that a drain must report, or "" if it must not act.
func (c contest) want() string {
	switch {
	case c.on[0] != drained:
		return ""
	case slices.ContainsFunc(c.on, func(node int) bool { return node != drained }):
		return "moved"
	case c.once:
		return "vacant"
	}
	return "stayed"
}

// contests returns 59 elections with five kinds of candidates. For each kind, there are elections with candidates on
// one or both other nodes, with a rival on the drained node, with no candidate on another node, and with a leader on
// another node.
func contests() []contest {
	roles := []contest{
		{on: []int{2, 1}},
		{on: []int{2, 3}},
		{on: []int{2, 2, 1}},
		{on: []int{2, 2, 1, 3}},
		{on: []int{2}},
		{on: []int{2}, once: true},
		{on: []int{1, 2}},
		{on: []int{3, 2}},
	}
	var all []contest
	for _, k := range []struct {
		kind, key string
		n         int
	}{
		{kindAPI, "trial/api-%d/leader", 14},
		{kindLock, "trial/lock-%d/.lock", 8},
		{kindRecipe, "trial/recipe-%d/leader", 14},
		{kindNPM, "jobs/npm-%d", 12}, // the trial's patterns do not select this key
		{kindPython, "trial/python-%d/leader", 11},
	} {
		for i := range k.n {
			role := i
			if i >= len(roles) {
				role = i % 4
			}
			c := roles[role]
			c.kind, c.key = k.kind, fmt.Sprintf(k.key, i)
			all = append(all, c)
		}
	}
	return all
}

// Kinds of candidates.
const (
	kindAPI    = "api.Lock"
	kindLock   = "consul lock"
	kindRecipe = "recipe with curl"
	kindNPM    = "npm's consul"
	kindPython = "Python's consul"
)

// arena starts candidates on the agents of a cluster.
type arena struct {
	t      *testing.T
	agents []*consultest.Agent
	// stop ends the candidates of an election.
	stop map[string][]func()
}

// join starts one candidate for each contest of a kind on a node. The candidates of npm's client share one process,
// and so do those of Python's client.
func (a *arena) join(kind string, node int, once bool, all []contest) {
	a.t.Helper()
	if len(all) == 0 {
		return
	}
	var keys []string
	for _, c := range all {
		keys = append(keys, c.key)
	}
	agent, value := a.agents[node-1], fmt.Sprintf("%s on node-%d", kind, node)
	switch kind {
	case kindAPI:
		for _, key := range keys {
			a.ends(key, competeAPI(a.t, agent, key, value, once))
		}
	case kindLock:
		for _, key := range keys {
			a.ends(key, lockProgram(a.t, agent, strings.TrimSuffix(key, "/.lock"), once).kill)
		}
	case kindRecipe:
		for _, key := range keys {
			cmd := exec.Command("sh", filepath.Join("testdata", "recipe-candidate.sh"), agent.Addr(), key, value)
			cmd.Env = cleanEnvironment()
			a.ends(key, start(a.t, cmd).kill)
		}
	case kindNPM:
		mode := "again"
		if once {
			mode = "once"
		}
		a.ends(keys[0], start(a.t, npmCandidate(a.t, agent, strings.Join(keys, ","), value, mode)).kill)
	case kindPython:
		cmd := exec.Command("/usr/bin/python3", filepath.Join("testdata", "python-candidate.py"), port(a.t, agent), strings.Join(keys, ","), value)
		cmd.Env = cleanEnvironment()
		a.ends(keys[0], start(a.t, cmd).kill)
	}
}

func (a *arena) ends(key string, stop func()) { a.stop[key] = append(a.stop[key], stop) }

// end ends the candidates of a contest that share no process with others.
func (a *arena) end(c contest) {
	for _, stop := range a.stop[c.key] {
		stop()
	}
}

// joinAll starts the first leaders, waits until they lead, and then starts the other candidates.
func (a *arena) joinAll(all []contest) {
	a.t.Helper()
	for rank := range 4 {
		a.joinRank(all, rank)
		if rank == 0 {
			a.awaitLeaders(all)
		}
	}
	for _, c := range all {
		// If the candidate does not compete again, end its process, so that only its session remains.
		if c.once && (c.kind == kindRecipe || c.kind == kindPython) {
			a.end(c)
		}
	}
	a.awaitSessions(all)
}

// joinRank starts the candidate at index rank of contest.on for each contest.
func (a *arena) joinRank(all []contest, rank int) {
	for node := range len(a.agents) {
		for _, kind := range []string{kindAPI, kindLock, kindRecipe, kindNPM, kindPython} {
			// A candidate without a rival has a separate process, so that the trial can end it.
			var shared []contest
			for _, c := range all {
				switch {
				case c.kind != kind || rank >= len(c.on) || c.on[rank] != node+1:
				case len(c.on) == 1:
					a.join(kind, node+1, c.once, []contest{c})
				default:
					shared = append(shared, c)
				}
			}
			a.join(kind, node+1, false, shared)
		}
	}
}

// awaitLeaders waits until each election is led on the node of its first leader.
func (a *arena) awaitLeaders(all []contest) {
	a.t.Helper()
	for _, c := range all {
		want := fmt.Sprintf("node-%d", c.on[0])
		await(a.t, "a leader of "+c.key+" on "+want, func() bool { _, node := a.leader(c.key); return node == want })
	}
}

// awaitSessions waits until every candidate has a session.
func (a *arena) awaitSessions(all []contest) {
	a.t.Helper()
	want := 0
	for _, c := range all {
		want += len(c.on)
	}
	await(a.t, "the candidates", func() bool {
		entries, _, err := a.agents[0].Client().Session().List(nil)
		must(a.t, err)
		return len(slices.DeleteFunc(entries, func(e *api.SessionEntry) bool { return strings.HasPrefix(e.Name, "holders-") })) >= want
	})
}

// leader returns the key and the node of its holder. The node is "" without a holder.
func (a *arena) leader(key string) (*api.KVPair, string) {
	a.t.Helper()
	return leaderAt(a.t, a.agents[0], key)
}

func leaderAt(t *testing.T, agent *consultest.Agent, key string) (*api.KVPair, string) {
	t.Helper()
	q := &api.QueryOptions{RequireConsistent: true}
	pair, _, err := agent.Client().KV().Get(key, q)
	if err != nil {
		t.Error(err)
	}
	if pair == nil || pair.Session == "" {
		return pair, ""
	}
	session, _, err := agent.Client().Session().Info(pair.Session, q)
	if err != nil {
		t.Error(err)
	}
	if session == nil {
		return pair, ""
	}
	return pair, session.Node
}

// competeAPI competes with Go's api.Lock until stop is called.
func competeAPI(t *testing.T, agent *consultest.Agent, key, value string, once bool) (stop func()) {
	ended := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		for {
			l, err := agent.Client().LockOpts(&api.LockOptions{Key: key, Value: []byte(value), LockDelay: time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			lost, err := l.Lock(ended)
			switch {
			case err != nil:
				t.Errorf("api.Lock: %v", err)
				return
			case lost == nil:
				return
			}
			select {
			case <-lost:
			case <-ended:
			}
			if err := l.Unlock(); err != nil && !errors.Is(err, api.ErrLockNotHeld) {
				t.Logf("Unlock: %v", err) // the cluster may have ended
			}
			if once || closed(ended)() {
				return
			}
		}
	})
	stop = sync.OnceFunc(func() { close(ended); g.Wait() })
	t.Cleanup(stop)
	return stop
}

// lockProgram runs `consul lock`, and restarts it whenever it exits, unless once is set.
func lockProgram(t *testing.T, agent *consultest.Agent, prefix string, once bool) *process {
	t.Helper()
	script := `while "$0" lock "$1" "exec sleep 600"; do :; done`
	if once {
		script = `exec "$0" lock "$1" "exec sleep 600"`
	}
	cmd := exec.Command("sh", "-c", script, consultest.Binary(t), prefix)
	cmd.Env = cleanEnvironment("CONSUL_HTTP_ADDR=" + agent.Addr())
	return start(t, cmd)
}
