package ui

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/crash"
)

// start runs the dashboard without a terminal until ctx ends. done receives the error of Run.
func start(ctx context.Context, opts Options, input io.Reader) (out *recorder, done chan error) {
	out, done = &recorder{}, make(chan error, 1)
	go func() {
		_, err := Run(ctx, opts, tea.WithInput(input), tea.WithOutput(out), tea.WithWindowSize(80, 24),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		done <- err
	}()
	return out, done
}

// restored fails unless the output leaves the alternate screen and shows the cursor.
func restored(t *testing.T, out string) {
	t.Helper()
	for _, sequence := range []string{"\x1b[?1049l", "\x1b[?25h"} {
		if !strings.Contains(out, sequence) {
			t.Errorf("%q was not written: the terminal is not restored", sequence)
		}
	}
}

// The user or the context ends the dashboard, which then restores the terminal.
func TestRunQuits(t *testing.T) {
	for _, key := range []string{"q", ""} {
		ctx, cancel := context.WithCancel(t.Context())
		ch := make(chan *election.Snapshot, 1)
		ch <- mixedSnapshot()
		in, keyboard := io.Pipe()
		out, done := start(ctx, Options{Backend: &backend{}, Snapshots: ch, Now: testNow}, in)
		awaitText(t, done, out.String, "billing", "electop")
		if key == "" {
			cancel()
		} else if _, err := io.WriteString(keyboard, key); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%q: %v", key, err)
		}
		restored(t, out.String())
		cancel()
	}
}

// A command of Bubble Tea runs in its own goroutine, also inside a batch.
func TestAPanicInACommandIsReported(t *testing.T) {
	crashed := make(chan any, 1)
	defer crash.Handle(func(p crash.Panic) { crashed <- p.Value })()
	batch, _ := guard(tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic("a command") }))().(tea.BatchMsg)
	go batch[1]()
	if got := <-crashed; got != "a command" {
		t.Errorf("%v", got)
	}
}

// After a panic in Update, in a command or in another goroutine, the terminal is restored before the panic is reported,
// and only once. Bubble Tea, which knows no secrets, writes nothing.
func TestPanicsAreReportedAfterTheTerminalIsRestored(t *testing.T) {
	const secret = "panic with a secret"
	for name, open := range map[string]func(*Options, func() bool){
		"update": func(o *Options, drawn func() bool) {
			o.Now = func() time.Time {
				if drawn() {
					panic(secret)
				}
				return testNow()
			}
		},
		"read": func(o *Options, drawn func() bool) {
			fake(o).onRights = func(context.Context, election.Target) (election.Rights, error) {
				for !drawn() {
					runtime.Gosched()
				}
				panic(secret)
			}
			ch := make(chan *election.Snapshot, 1)
			snap := mixedSnapshot()
			snap.Elections = snap.Elections[:1] // its permissions are read
			ch <- snap
			o.Snapshots = ch
		},
		"goroutine": func(_ *Options, drawn func() bool) {
			var wg sync.WaitGroup
			crash.Go(&wg, func() {
				for !drawn() {
					runtime.Gosched()
				}
				panic(secret)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := io.Pipe()
			out, crashed := &recorder{}, make(chan crash.Panic, 2)
			screen := ""
			opts := Options{Backend: &backend{}, Now: testNow, Crashed: func(p crash.Panic) { screen = out.String(); crashed <- p }}
			open(&opts, func() bool { return strings.Contains(out.String(), "\x1b[?1049h") })
			_, _ = Run(t.Context(), opts, tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
			if p := <-crashed; p.Value != secret || !bytes.Contains(p.Stack, []byte("run_test.go")) {
				t.Errorf("%v %s", p.Value, p.Stack)
			}
			restored(t, screen)
		})
	}
}
