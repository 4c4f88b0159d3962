package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// bench runs the selected measurements and writes their tables.
type bench struct {
	o    options
	args []string
	out  io.Writer
	log  io.Writer
}

func newBench(o options, args []string, out, log io.Writer) (*bench, error) {
	if _, err := os.Stat(o.electop); err != nil {
		return nil, fmt.Errorf("%w (run `make build`)", err)
	}
	if o.dashboard && !o.screen {
		for _, tool := range []string{"tmux", "curl"} {
			if _, err := exec.LookPath(tool); err != nil {
				return nil, fmt.Errorf("%w (use -dashboard=false to run without it)", err)
			}
		}
	}
	return &bench{o: o, args: args, out: out, log: log}, nil
}

func (b *bench) run(ctx context.Context) error {
	var document strings.Builder
	for _, n := range b.o.sizes {
		t, where, err := b.table(ctx, n)
		if err != nil {
			return err
		}
		if document.Len() == 0 {
			fmt.Fprintf(b.out, "%s\n%s\n\n", where, b.command())
			fmt.Fprintf(&document, "%s.\n\n```\n%s\n```\n", where, b.command())
		}
		fmt.Fprintln(b.out, t.text())
		fmt.Fprintf(&document, "\n%s", t.markdown())
	}
	if b.o.markdown == "" {
		return nil
	}
	return updateMarkdown(b.o.markdown, document.String())
}

// table measures with n elections.
func (b *bench) table(ctx context.Context, n int) (*table, string, error) {
	if b.o.screen {
		return b.screens(ctx, n)
	}
	r, where, err := b.size(ctx, n)
	return r.table(b.o), where, err
}

func (b *bench) command() string {
	return strings.TrimSpace("go run ./tools/bench " + strings.Join(b.args, " "))
}

// size runs all measurements with n elections on a new server.
func (b *bench) size(ctx context.Context, n int) (r sizeReport, where string, err error) {
	r.n = n
	began := time.Now()
	s, err := newFixture(ctx, b.o, n)
	if err != nil {
		return r, "", err
	}
	defer s.close()
	b.note("created %s elections in %s", thousands(n), time.Since(began).Round(time.Millisecond))
	if r.baseline, err = s.baseline(ctx); err != nil {
		return r, "", err
	}
	for _, name := range b.o.watchers {
		w, _ := findWatcher(name)
		b.note("%s", name)
		one, err := s.measure(ctx, w)
		if err != nil {
			return r, "", err
		}
		r.results = append(r.results, one)
	}
	if b.o.dashboard {
		b.note("dashboard")
		board, err := s.dashboard(ctx, r.baseline.perCPU)
		if ctx.Err() != nil {
			return r, "", ctx.Err()
		}
		if err != nil {
			board.err = err.Error()
		}
		r.board = &board
	}
	return r, machine(ctx, s.agent.Binary()), nil
}

func (b *bench) note(format string, args ...any) {
	fmt.Fprintf(b.log, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
