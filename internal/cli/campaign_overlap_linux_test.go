package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"electop/internal/consultest"
)

// afterwards is how long the new program runs before the files are read. An old program that still runs is then detected.
const afterwards = 3 * time.Second

// Each program appends the time to a file at a fixed interval. The programs overlap if the old one writes after the
// first write of the new one. A third of the programs ignores SIGTERM, a third is the child of a shell.
func TestProgramsOfTwoLeadersDoNotOverlap(t *testing.T) {
	if os.Getenv("ELECTOP_FAULTS") != "all" {
		t.Skip("slow: runs with ELECTOP_FAULTS=all")
	}
	const pairs = 5
	program := electop(t)
	for _, failure := range []string{"frozen agent", "frozen electop", "killed agent"} {
		t.Run(failure, func(t *testing.T) {
			agents := leaderLast(t, consultest.Cluster(t, 3))
			dir, kinds := t.TempDir(), []string{"plain", "ignores", "child"}
			file := func(who string, i int) string { return filepath.Join(dir, fmt.Sprint(who, i)) }
			campaigns := func(who string, agent *consultest.Agent) (all []*process) {
				for i := range pairs {
					args := append([]string{
						"--http-addr", agent.Addr(), "campaign", fmt.Sprint("job", i), "--name", who, "--ttl", "10s", "--lock-delay", "10s",
						"--log-file", file(who, i) + ".log", "--log-level", "debug", "--",
					}, programs(file(who, i))[kinds[i%len(kinds)]]...)
					all = append(all, start(t, program, args...))
				}
				return all
			}
			beating := func(who string, before time.Time) func() bool {
				return func() bool {
					for i := range pairs {
						if all := beats(t, file(who, i)); len(all) == 0 || all[0].After(before) {
							return false
						}
					}
					return true
				}
			}
			old := campaigns("old", agents[2]) // Consul's leader
			eventually(t, "old programs", beating("old", time.Now().Add(time.Hour)))
			next := campaigns("new", agents[1])
			eventually(t, "new candidates", func() bool { // before the response with its session, a campaign ends with the first failure
				for i := range pairs {
					if log, _ := os.ReadFile(file("new", i) + ".log"); !strings.Contains(string(log), "session created") {
						return false
					}
				}
				return true
			})
			strike := func(sig syscall.Signal) {
				pids := []int{agents[2].PID()}
				if failure == "frozen electop" {
					pids = nil
					for _, p := range old {
						pids = append(pids, p.Process.Pid)
					}
				}
				for _, pid := range pids {
					must(t, syscall.Kill(pid, sig))
				}
			}
			if frozen := strings.HasPrefix(failure, "frozen"); frozen {
				strike(syscall.SIGSTOP)
				defer strike(syscall.SIGCONT)
			} else {
				strike(syscall.SIGKILL)
			}
			eventually(t, "new programs", func() bool { return beating("new", time.Now().Add(-afterwards))() })
			for _, p := range append(old, next...) {
				_ = p.Process.Kill() // the programs end 3s later, and all at the same time
			}
			for i := range pairs {
				was, is := beats(t, file("old", i)), beats(t, file("new", i))
				gap := is[0].Sub(was[len(was)-1])
				if t.Logf("%s: the new program began %s after the end of the old one", failure, gap); gap <= 0 {
					t.Error("the programs overlapped")
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
		must(t, err)
		if stats, ok := self["Stats"]["consul"].(map[string]any); ok && stats["leader"] == "true" {
			agents[i], agents[len(agents)-1] = agents[len(agents)-1], a
			return agents
		}
	}
	t.Fatal("no server leads")
	return nil
}
