package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"electop/tools/bench/internal/watch"
)

const (
	boardWidth  = "120"
	boardHeight = "36"
	boardPoll   = 5 * time.Millisecond
	// boardStarts is the number of measured starts of the dashboard. The result is their median.
	boardStarts = 5
)

// dashboardResult contains the measurements of the dashboard.
type dashboardResult struct {
	curl   time.Duration // time that curl takes to read the same keys and sessions
	first  time.Duration // time from the start to the first complete table
	own    time.Duration // the part of first that the terminal takes: the time for a program that only prints text
	quiet  float64       // CPU use, in cores, while no key changes
	perCPU cpu           // CPU time per change
	rss    int64
	peak   int64
	conns  int
	err    string // why the dashboard was not measured, or ""
}

// dashboard measures the dashboard in a terminal, first without changes, then with changes.
func (s *fixture) dashboard(ctx context.Context, writing cpu) (r dashboardResult, err error) {
	if r.curl, err = s.curl(ctx); err != nil {
		return r, err
	}
	t, err := openTerminal(ctx, s.n)
	if err != nil {
		return r, err
	}
	defer t.close()
	full := fmt.Sprintf("%d led", s.n)
	if _, r.own, err = t.start(ctx, full, "sh", "-c", "echo '"+full+"'; exec cat"); err != nil {
		return r, err
	}
	pid, first, err := t.start(ctx, full, s.o.electop, "--http-addr", s.addr(), "--history", filepath.Join(s.dir, "dashboard.db"))
	if err != nil {
		return r, err
	}
	r.first = first
	if err := waitFor(ctx, settleTime); err != nil {
		return r, err
	}
	if r.quiet, err = idleShare(ctx, pid, s.o.quiet); err != nil {
		return r, err
	}
	if r.perCPU, err = s.dashboardCost(ctx, pid); err != nil {
		return r, err
	}
	r.perCPU.server -= writing.server
	if r.rss, r.peak, err = memory(pid); err != nil {
		return r, err
	}
	r.conns, err = connections(pid, s.port())
	return r, err
}

// idleShare returns the CPU use of a process, in cores, while no key changes.
func idleShare(ctx context.Context, pid int, quiet time.Duration) (float64, error) {
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := waitFor(ctx, quiet); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return float64(after-before) / float64(time.Since(start)), err
}

func (s *fixture) dashboardCost(ctx context.Context, pid int) (cpu, error) {
	before, err := s.clock(pid)
	if err != nil {
		return cpu{}, err
	}
	if err := s.changes.drive(ctx, s.o.changes(), s.o.rate, newTimeline()); err != nil {
		return cpu{}, err
	}
	if err := waitFor(ctx, settleTime/4); err != nil {
		return cpu{}, err
	}
	after, err := s.clock(pid)
	return perChange(before, after, s.o.changes()), err
}

// terminal is a tmux server.
type terminal struct{ socket string }

// openTerminal starts tmux with an idle window, so that the start of tmux is not part of the measured time.
func openTerminal(ctx context.Context, n int) (*terminal, error) {
	t := &terminal{socket: fmt.Sprintf("electop-bench-%d-%d", os.Getpid(), n)}
	_, err := t.tmux(ctx, "-f", os.DevNull, "new-session", "-d", "-x", boardWidth, "-y", boardHeight, "exec cat",
		";", "set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "tmux-256color")
	if err != nil {
		return nil, err
	}
	return t, nil
}

// start starts a program several times and keeps the last process running. It returns the process ID and the median
// time until the screen shows the text.
func (t *terminal) start(ctx context.Context, text string, program ...string) (pid int, took time.Duration, err error) {
	var all []time.Duration
	for i := range boardStarts {
		if i > 0 {
			if _, err := t.tmux(ctx, "kill-window"); err != nil {
				return 0, 0, err
			}
			if err := waitFor(ctx, settleTime); err != nil {
				return 0, 0, err
			}
		}
		start := time.Now()
		if pid, err = t.run(ctx, program...); err != nil {
			return 0, 0, err
		}
		if err := t.await(ctx, text); err != nil {
			return 0, 0, err
		}
		all = append(all, time.Since(start))
	}
	return pid, median(all), nil
}

// run starts a program in a new window and returns its process ID.
func (t *terminal) run(ctx context.Context, program ...string) (pid int, err error) {
	quoted := make([]string, len(program))
	for i, arg := range program {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	out, err := t.tmux(ctx, "new-window", "-P", "-F", "#{pane_pid}", "exec "+strings.Join(quoted, " "))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// await waits until the screen shows the text.
func (t *terminal) await(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	screen := ""
	for pause(ctx, boardPoll) {
		var err error
		if screen, err = t.tmux(ctx, "capture-pane", "-p"); err != nil {
			break
		}
		if strings.Contains(screen, text) {
			return nil
		}
	}
	return errors.New("the dashboard did not show " + strconv.Quote(text) + "; last screen:\n" + screen)
}

func (t *terminal) tmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-L", t.socket}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux: %w: %s", err, out)
	}
	return string(out), nil
}

// close ends the tmux server and its programs.
func (t *terminal) close() {
	ctx, cancel := context.WithTimeout(context.Background(), childGrace)
	defer cancel()
	_, _ = t.tmux(ctx, "kill-server")
}

// curlRuns is the number of runs of curl. The result is their median.
const curlRuns = 5

// curl returns the time that one curl process takes to read the dashboard's keys and then its sessions, without
// decoding them.
func (s *fixture) curl(ctx context.Context) (time.Duration, error) {
	base := "http://" + s.addr() + "/v1/"
	var took []time.Duration
	for range curlRuns {
		cmd := exec.CommandContext(ctx, "curl", "-sS", "--fail", "-o", "/dev/null", "-o", "/dev/null", //nolint:gosec // the address is that of our own server
			base+"kv/"+watch.KeyPrefix+"?recurse", base+"session/list")
		cmd.SysProcAttr = dieWithParent()
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("curl: %w: %s", err, out)
		}
		took = append(took, time.Since(start))
	}
	return median(took), nil
}
