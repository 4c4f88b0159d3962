package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"electop/internal/consultest"
)

// overlapRunsEnv sets the number of elections per scenario, and selects the default TTL and lock-delay. make faults uses
// five elections and shorter ones.
const overlapRunsEnv = "ELECTOP_OVERLAP_RUNS"

// afterwards is how long the new program runs before the files are read. An old program that still runs is then detected.
const afterwards = 3 * time.Second

// scenario is a way to lose the leadership without a signal to the program.
type scenario struct {
	name string
	// strike injects the failure into the agent or the electop processes of the leaders.
	strike func(t *testing.T, agent *consultest.Agent, leaders []*process)
	// undo ends the failure, so that all processes can end.
	undo func(t *testing.T, agent *consultest.Agent, leaders []*process)
}

func scenarios() []scenario {
	agentSignal := func(sig syscall.Signal) func(*testing.T, *consultest.Agent, []*process) {
		return func(t *testing.T, agent *consultest.Agent, _ []*process) {
			if err := syscall.Kill(agent.PID(), sig); err != nil {
				t.Fatal(err)
			}
		}
	}
	electopSignal := func(sig syscall.Signal) func(*testing.T, *consultest.Agent, []*process) {
		return func(t *testing.T, _ *consultest.Agent, leaders []*process) {
			for _, p := range leaders {
				if err := p.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return []scenario{
		{"frozen agent", agentSignal(syscall.SIGSTOP), agentSignal(syscall.SIGCONT)},
		{"frozen electop", electopSignal(syscall.SIGSTOP), electopSignal(syscall.SIGCONT)},
		{"killed agent", agentSignal(syscall.SIGKILL), func(*testing.T, *consultest.Agent, []*process) {}},
	}
}

// Each program appends the time to a file at a fixed interval. The programs overlap if the old one writes after the
// first write of the new one.
func TestProgramsOfTwoLeadersDoNotOverlap(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(overlapRunsEnv))
	var flags []string
	if err != nil {
		if os.Getenv("ELECTOP_FAULTS") != "all" {
			t.Skip("slow: runs with ELECTOP_FAULTS=all")
		}
		runs, flags = 5, []string{"--ttl", "10s", "--lock-delay", "10s"}
	}
	program := electop(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			agents := leaderLast(t, consultest.Cluster(t, 3)) // the agent of the old leaders is Consul's leader
			r := &race{scenario: s, program: program, dir: t.TempDir(), old: agents[2], next: agents[1], pairs: runs, flags: flags}
			r.begin(t)
			s.strike(t, r.old, r.leaders)
			r.struck = time.Now()
			for _, gap := range r.end(t) {
				if gap <= 0 {
					t.Errorf("the programs overlapped by %s", -gap)
				}
			}
		})
	}
}

// leaderLast sorts agents so that Consul's leader is the last.
func leaderLast(t *testing.T, agents []*consultest.Agent) []*consultest.Agent {
	t.Helper()
	for i, a := range agents {
		self, err := a.Client().Agent().Self()
		if err != nil {
			t.Fatal(err)
		}
		if stats, ok := self["Stats"]["consul"].(map[string]any); ok && stats["leader"] == "true" {
			agents[i], agents[len(agents)-1] = agents[len(agents)-1], a
			return agents
		}
	}
	t.Fatal("no server leads")
	return nil
}

// race is a set of elections that lose their leaders at the same time.
type race struct {
	scenario
	program   string
	dir       string
	old, next *consultest.Agent
	pairs     int
	flags     []string
	leaders   []*process
	others    []*process
	struck    time.Time
}

// file returns the file of the program on one side of an election.
func (r *race) file(who string, i int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%d", who, i))
}

// begin starts both sides of each election. The old side leads.
func (r *race) begin(t *testing.T) {
	t.Helper()
	r.leaders = r.start(t, r.old, "old")
	eventually(t, "old programs", func() bool { return r.beating(t, "old", time.Now()) })
	r.others = r.start(t, r.next, "new")
	eventually(t, "new candidates", func() bool { return r.candidates(t, "new") == r.pairs })
}

// end returns, for each election, the time from the last write of the old program to the first write of the new one.
func (r *race) end(t *testing.T) (gaps []time.Duration) {
	t.Helper()
	eventually(t, "new programs", func() bool { return r.beating(t, "new", time.Now().Add(-afterwards)) })
	r.undo(t, r.old, r.leaders)
	for _, p := range slices.Concat(r.leaders, r.others) {
		_ = p.Process.Kill() // the programs end 3s later, and all at the same time
	}
	for i := range r.pairs {
		was, is := beats(t, r.file("old", i)), beats(t, r.file("new", i))
		last, first := was[len(was)-1], is[0]
		gaps = append(gaps, first.Sub(last))
		t.Logf("%s %d: the old program stopped after %s, the new one began after %s",
			r.name, i, last.Sub(r.struck).Round(time.Millisecond), first.Sub(r.struck).Round(time.Millisecond))
	}
	return gaps
}

// start starts a campaign per election. A third of the programs ignores SIGTERM, a
// third is the child of a shell.
func (r *race) start(t *testing.T, agent *consultest.Agent, who string) (all []*process) {
	t.Helper()
	kinds := []string{"plain", "ignores", "child"}
	for i := range r.pairs {
		name := fmt.Sprintf("%s-%d", strings.ReplaceAll(r.name, " ", "-"), i)
		args := append([]string{"--http-addr", agent.Addr(), "campaign", name, "--value", who, "--name", who + " " + r.name}, r.flags...)
		all = append(all, start(t, r.program, append(append(args, "--"), programs(r.file(who, i))[kinds[i%len(kinds)]]...)...))
	}
	return all
}

// beating reports whether every program of one side started before a time.
func (r *race) beating(t *testing.T, who string, before time.Time) bool {
	for i := range r.pairs {
		if all := beats(t, r.file(who, i)); len(all) == 0 || all[0].After(before) {
			return false
		}
	}
	return true
}

// candidates counts the sessions of one side.
func (r *race) candidates(t *testing.T, who string) (n int) {
	t.Helper()
	sessions, _, err := r.next.Client().Session().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Name == who+" "+r.name {
			n++
		}
	}
	return n
}
