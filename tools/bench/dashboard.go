package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	boardWidth  = "120"
	boardHeight = "36"
	boardPoll   = 5 * time.Millisecond
	// boardStarts is how often the dashboard is started; the median counts.
	boardStarts = 5
)

// boardResult is how the dashboard did.
type boardResult struct {
	curl   time.Duration // the same keys and sessions read by curl
	first  time.Duration // from the start to the first full board
	own    time.Duration // of that, what the terminal takes for a program that only prints
	quiet  float64       // of a core, while nothing changes
	perCPU cpu           // for one change
	rss    int64
	peak   int64
	conns  int
	err    string // why it was not measured
}

// board opens the dashboard in a terminal and lets it be, then lets things
// change.
func (s *stage) board(ctx context.Context, writing cpu) (r boardResult, err error) {
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
	guard, first, err := t.start(ctx, full, s.o.electop, "--http-addr", s.addr())
	if err != nil {
		return r, err
	}
	r.first = first
	pid, err := childOf(guard) // the process that electop started waits for this one
	if err != nil {
		return r, err
	}
	if err := waitFor(ctx, settleTime); err != nil {
		return r, err
	}
	if r.quiet, err = s.quietShare(ctx, pid); err != nil {
		return r, err
	}
	if r.perCPU, err = s.boardCost(ctx, pid); err != nil {
		return r, err
	}
	r.perCPU.server -= writing.server
	if r.rss, r.peak, err = memory(pid, guard); err != nil {
		return r, err
	}
	r.conns, err = connections(pid, s.port())
	return r, err
}

// quietShare is how much of a core a process uses while nothing changes.
func (s *stage) quietShare(ctx context.Context, pid int) (float64, error) {
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := waitFor(ctx, s.o.quiet); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return float64(after-before) / float64(time.Since(start)), err
}

func (s *stage) boardCost(ctx context.Context, pid int) (cpu, error) {
	before, err := s.clock(pid)
	if err != nil {
		return cpu{}, err
	}
	if err := s.changes.drive(ctx, s.o.changes(), s.o.rate, newLedger()); err != nil {
		return cpu{}, err
	}
	if err := waitFor(ctx, settleTime/4); err != nil {
		return cpu{}, err
	}
	after, err := s.clock(pid)
	return perChange(before, after, s.o.changes()), err
}

// terminal is a tmux of its own.
type terminal struct{ socket string }

// openTerminal starts tmux with a window that waits, so that its own start is
// over before the program's begins.
func openTerminal(ctx context.Context, n int) (*terminal, error) {
	t := &terminal{socket: fmt.Sprintf("electop-bench-%d-%d", os.Getpid(), n)}
	_, err := t.tmux(ctx, "-f", os.DevNull, "new-session", "-d", "-x", boardWidth, "-y", boardHeight, "exec cat",
		";", "set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "tmux-256color")
	if err != nil {
		return nil, err
	}
	return t, nil
}

// start starts a program several times and leaves the last one running. It gives
// its process and how long it takes until the screen shows a text.
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

// run starts a program in a new window and gives its process.
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

// await waits until the screen shows a text.
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
	return errors.New("the dashboard never showed " + strconv.Quote(text) + "; last:\n" + screen)
}

func (t *terminal) tmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-L", t.socket}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux: %w: %s", err, out)
	}
	return string(out), nil
}

// close ends this tmux and what runs in it.
func (t *terminal) close() {
	ctx, cancel := context.WithTimeout(context.Background(), childGrace)
	defer cancel()
	_, _ = t.tmux(ctx, "kill-server")
}
