package ui

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

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

// ctrl-z suspends the program: the function from Suspensions runs while the terminal is restored. After that the
// dashboard redraws the screen.
func TestSuspendRestoresTheTerminal(t *testing.T) {
	snaps := make(chan *election.Snapshot, 1)
	snaps <- mixedSnapshot()
	var out recorder
	in, keyboard := io.Pipe()
	requests, before := make(chan func()), ""
	over := make(chan struct{})
	opts := Options{
		Snapshots: snaps, Now: testNow,
		Suspend: func() { requests <- func() { before = out.String(); close(over) } },
		Suspensions: func(ctx context.Context) (func(), bool) {
			select {
			case run := <-requests:
				return run, true
			case <-ctx.Done():
				return nil, false
			}
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, opts, tea.WithInput(in), tea.WithOutput(&out), tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		done <- err
	}()
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	awaitText(t, done, out.String, enter, "billing")
	if _, err := io.WriteString(keyboard, "\x1a"); err != nil { // ctrl-z
		t.Fatal(err)
	}
	<-over
	if strings.Count(before, enter) != strings.Count(before, leave) {
		t.Errorf("the alternate screen was still active: %q", before)
	}
	awaitText(t, done, func() string { return strings.TrimPrefix(out.String(), before) }, enter, "billing")
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
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

// A suspension without a function redraws the screen and waits for the next suspension.
func TestSuspensionWithoutAFunctionRedraws(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24, func(o *Options) {
		o.Suspensions = func(context.Context) (func(), bool) { return nil, false }
	})
	cmds, err := commandsOf(d.send(suspensionMsg{})())
	if err != nil || len(cmds) != 2 || cmds[1]() != nil {
		t.Errorf("%v %v", cmds, err)
	}
}
