package ui

import (
	"bytes"
	"context"
	"errors"
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

func TestRunQuits(t *testing.T) {
	ch := make(chan *election.Snapshot, 1)
	ch <- mixedSnapshot()
	in, keyboard := io.Pipe()
	out, done := start(t.Context(), Options{Backend: &backend{}, Snapshots: ch, Now: testNow}, in)
	awaitText(t, done, out.String, "billing", "electop")
	if _, err := io.WriteString(keyboard, "q"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	restored(t, out.String())
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, _ := io.Pipe()
	out, done := start(ctx, Options{Backend: &backend{}, Now: testNow}, in)
	awaitText(t, done, out.String, "\x1b[?1049h")
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	restored(t, out.String())
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

// Without a handler, Bubble Tea restores the terminal after a panic.
func TestRunRestoresAfterAPanic(t *testing.T) {
	in, _ := io.Pipe()
	var out recorder
	_, err := Run(t.Context(), Options{Backend: &backend{}, Now: func() time.Time {
		if strings.Contains(out.String(), "Connecting") {
			panic("the clock panics")
		}
		return testNow()
	}}, tea.WithInput(in), tea.WithOutput(&out), tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	if !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("error %v", err)
	}
	restored(t, out.String())
}
