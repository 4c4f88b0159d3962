package ui

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/crash"
)

// terminal returns the options of a program with this input and output.
func terminal(input io.Reader, out io.Writer) []tea.ProgramOption {
	return []tea.ProgramOption{tea.WithInput(input), tea.WithOutput(out), tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"})}
}

// start runs the dashboard without a terminal until ctx ends. done receives the error of Run.
func start(ctx context.Context, opts Options, input io.Reader) (out *recorder, done chan error) {
	out, done = &recorder{}, make(chan error, 1)
	go func() {
		_, err := Run(ctx, opts, terminal(input, out)...)
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
			fake(o).onRights = func(context.Context, election.Target) (election.MissingRules, error) {
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
			opts := Options{Backend: &backend{}, Now: testNow, Crashed: func(p crash.Panic) {
				for range 1000 { // Run could end before
					runtime.Gosched()
				}
				screen = out.String()
				crashed <- p
			}}
			open(&opts, func() bool { return strings.Contains(out.String(), "\x1b[?1049h") })
			_, _ = Run(t.Context(), opts, terminal(in, out)...)
			if len(crashed) == 0 {
				t.Fatal("the program may end before the report")
			}
			if p := <-crashed; p.Value != secret || !bytes.Contains(p.Stack, []byte("program_test.go")) {
				t.Errorf("%v %s", p.Value, p.Stack)
			}
			restored(t, screen)
		})
	}
}

// recorder records the output of a program.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// awaitText waits until the output contains all words.
func awaitText(t *testing.T, done <-chan error, text func() string, words ...string) {
	t.Helper()
	look, late := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Minute)
	defer look.Stop()
	defer late.Stop()
	for {
		missing := slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text(), word) })
		if !missing {
			return
		}
		select {
		case <-look.C:
		case err := <-done:
			t.Fatalf("the dashboard ended: %v", err)
		case <-late.C:
			t.Fatalf("not drawn: %q", text())
		}
	}
}

// A command runs while the dashboard has released the terminal. Then the dashboard shows how it ended.
func TestCommandRunsInTheTerminal(t *testing.T) {
	snaps := make(chan *election.Snapshot, 1)
	snaps <- mixedSnapshot()
	in, keyboard := io.Pipe()
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	r := &runs{script: "echo output; exit 3"}
	opts := Options{Backend: &backend{}, Snapshots: snaps, Now: testNow}
	runnable(r)(&opts)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, done := start(ctx, opts, in)
	awaitText(t, done, out.String, enter, "billing")
	for _, keys := range []string{"g!", "\r"} {
		_, err := io.WriteString(keyboard, keys)
		must(t, err)
		if keys == "g!" {
			awaitText(t, done, out.String, "Run a command for")
		}
	}
	awaitText(t, done, out.String, "output", "The command logs ended with exit code 3.")
	before, after, _ := strings.Cut(out.String(), "output")
	if strings.Count(before, enter) != strings.Count(before, leave) {
		t.Errorf("the alternate screen was still active: %q", before)
	}
	if !strings.Contains(after, enter) || !strings.Contains(after, "billing") {
		t.Errorf("the dashboard was not drawn again: %q", after)
	}
	cancel()
	must(t, <-done)
	if len(r.all) != 1 || r.all[0].Script != "ssh -- $ELECTOP_NODE journalctl -n 50 -u $ELECTOP_ELECTION_QUOTED" || !slices.Contains(r.all[0].Env, "ELECTOP_NODE=node-2") {
		t.Errorf("%+v", r.all)
	}
}

// onScreen runs the program in a synctest bubble. The clock of the board does not advance.
func onScreen(t *testing.T, test func(out *recorder, snapshots chan<- *election.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, ch := &recorder{}, make(chan *election.Snapshot)
		p := newProgram(ctx, New(ctx, Options{Backend: &backend{}, Snapshots: ch, Now: testNow}), terminal(nil, out)...)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.Run()
		}()
		test(out, ch)
		cancel()
		<-ended
		rest() // no clock tick may follow
	})
}

func rest() {
	<-time.After(time.Minute) //nolint:forbidigo // in synctest
	synctest.Wait()
}

func wantsDrawn(t *testing.T, out *recorder, word string) {
	t.Helper()
	if text := out.String(); !strings.Contains(text, word) {
		t.Errorf("drew %q, want %q", text, word)
	}
}

// If the board changes faster than the terminal draws, the terminal shows the newest state at the end.
func TestOnlyChangesAreDrawn(t *testing.T) {
	onScreen(t, func(out *recorder, snapshots chan<- *election.Snapshot) {
		rest()
		wantsDrawn(t, out, "Connecting")
		before := out.String()
		rest()
		if text := strings.TrimPrefix(out.String(), before); text != "" {
			t.Errorf("%q was written without a change", text)
		}
		for range 20 {
			snapshots <- &election.Snapshot{}
		}
		snapshots <- mixedSnapshot()
		rest()
		wantsDrawn(t, out, "billing")
	})
}
