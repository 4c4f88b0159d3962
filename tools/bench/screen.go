package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"electop/tools/bench/internal/watch"
)

const (
	screenWidth  = 120
	screenHeight = 36
	// screenStarts is the number of measured starts of a program. The result is their median.
	screenStarts = 5
	// presses is the number of measured key presses.
	presses = 60
	// pressPause is the shortest pause before a press. The pauses vary by up to pressSpread, because a response ends with a
	// frame: equal pauses would measure only one phase of the frames.
	pressPause  = 100 * time.Millisecond
	pressSpread = 100 * time.Millisecond
	// drawLimit is the longest time until a program draws after a press.
	drawLimit = 5 * time.Second
)

// screenResult contains the measurements of one program in a pseudo-terminal, without tmux.
type screenResult struct {
	first time.Duration // time from the start to the first complete table
	keys  []time.Duration
	idle  float64 // CPU use, in cores, while no key changes
	rss   int64
}

// screens measures the dashboard with n elections, another binary, and a Bubble Tea program that draws one word.
func (b *bench) screens(ctx context.Context, n int) (*table, string, error) {
	s, err := newFixture(ctx, b.o, n)
	if err != nil {
		return nil, "", err
	}
	defer s.close()
	t := &table{
		title: fmt.Sprintf("%s elections, %dx%d", thousands(n), screenWidth, screenHeight),
		head:  []string{"", "first table", "key to screen p50", "p95", "max", "idle", "RSS"},
		notes: []string{"Times in ms; idle in % of a core; RSS in MB."},
	}
	programs := [][]string{{s.self, watch.Empty}, {b.o.electop}}
	if b.o.against != "" {
		programs = append(programs, []string{b.o.against})
	}
	for i, program := range programs {
		name, full := filepath.Base(program[0]), fmt.Sprintf("%d led", n)
		if i == 0 {
			name, full = "empty program", watch.EmptyText
		} else {
			program = append(program, "--http-addr", s.addr())
		}
		b.note("screen of %s", name)
		r, err := b.screen(ctx, full, program, filepath.Join(s.dir, fmt.Sprint("state-", i)))
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		slices.Sort(r.keys)
		t.add(name, ms(r.first), ms(percentile(r.keys, 50)), ms(percentile(r.keys, 95)), ms(r.keys[len(r.keys)-1]),
			fmt.Sprintf("%.2f", 100*r.idle), megabytes(r.rss))
	}
	return t, machine(ctx, s.agent.Binary()), nil
}

// screen measures one program. full is a text of its first complete screen; state is the folder of its history.
func (b *bench) screen(ctx context.Context, full string, program []string, state string) (r screenResult, err error) {
	var starts []time.Duration
	for i := range screenStarts {
		p, err := openScreen(ctx, program, state)
		if err != nil {
			return r, err
		}
		defer p.close()
		took, err := p.await(full)
		if err != nil {
			return r, err
		}
		if starts = append(starts, took); i < screenStarts-1 {
			p.close()
			continue
		}
		if err := waitFor(ctx, settleTime); err != nil {
			return r, err
		}
		if r.keys, err = p.pressKeys(ctx, presses); err != nil {
			return r, err
		}
		if r.idle, err = idleShare(ctx, p.pid(), b.o.quiet); err != nil {
			return r, err
		}
		if r.rss, _, err = memory(p.pid()); err != nil {
			return r, err
		}
	}
	r.first = median(starts)
	return r, nil
}

// screenProgram is a program in a pseudo-terminal.
type screenProgram struct {
	control *os.File
	cmd     *exec.Cmd
	started time.Time
	drawn   chan time.Time // receives the time of a write of the program
	once    sync.Once

	mu   sync.Mutex
	text bytes.Buffer // everything that the program has written
}

func openScreen(ctx context.Context, program []string, state string) (*screenProgram, error) {
	control, tty, err := openPTY(screenWidth, screenHeight)
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	p := &screenProgram{control: control, drawn: make(chan time.Time, 1)}
	p.cmd = exec.CommandContext(ctx, program[0], program[1:]...) //nolint:gosec // the programs are arguments of bench
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = tty, tty, tty, ownTerminal()
	p.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8", "TMUX=", "XDG_STATE_HOME="+state)
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		_ = control.Close()
		return nil, err
	}
	go p.read()
	return p, nil
}

func (p *screenProgram) pid() int { return p.cmd.Process.Pid }

// read keeps what the program writes, until the terminal is closed.
func (p *screenProgram) read() {
	part := make([]byte, 64<<10)
	for {
		n, err := p.control.Read(part)
		at := time.Now()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.text.Write(part[:n])
		p.mu.Unlock()
		select {
		case p.drawn <- at:
		default:
		}
	}
}

// await returns the time from the start of the program until the write that contains the text.
func (p *screenProgram) await(text string) (time.Duration, error) {
	limit := time.NewTimer(readyLimit)
	defer limit.Stop()
	for {
		select {
		case at := <-p.drawn:
			p.mu.Lock()
			found := strings.Contains(ansi.Strip(p.text.String()), text)
			p.mu.Unlock()
			if found {
				return at.Sub(p.started), nil
			}
		case <-limit.C:
			return 0, fmt.Errorf("%q was not drawn", text)
		}
	}
}

// pressKeys moves the cursor down and up, and returns the times from each press to the first byte that the program
// writes.
func (p *screenProgram) pressKeys(ctx context.Context, n int) (all []time.Duration, err error) {
	for i := range n {
		if err := waitFor(ctx, pressPause+time.Duration(i)*pressSpread/time.Duration(n)); err != nil {
			return nil, err
		}
		// The clock of the dashboard changes at each full second, and would count as the response to a press.
		if part := time.Duration(time.Now().Nanosecond()); part > 850*time.Millisecond || part < 100*time.Millisecond {
			if err := waitFor(ctx, 300*time.Millisecond); err != nil {
				return nil, err
			}
		}
		select {
		case <-p.drawn:
		default:
		}
		start := time.Now()
		if _, err := p.control.WriteString([]string{"j", "k"}[i%2]); err != nil {
			return nil, err
		}
		select {
		case at := <-p.drawn:
			all = append(all, at.Sub(start))
		case <-time.NewTimer(drawLimit).C:
			return nil, fmt.Errorf("press %d was not drawn within %s", i+1, drawLimit)
		}
	}
	return all, nil
}

// close closes the terminal, which ends the program.
func (p *screenProgram) close() {
	p.once.Do(func() {
		_ = p.control.Close()
		_ = p.cmd.Wait() // SIGHUP ended the program
	})
}
