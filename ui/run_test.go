package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
)

// runIn runs the dashboard without a terminal and returns its output.
func runIn(ctx context.Context, t *testing.T, opts Options, input io.Reader) (string, error) {
	t.Helper()
	var out bytes.Buffer
	_, err := Run(ctx, opts, tea.WithInput(input), tea.WithOutput(&out), tea.WithWindowSize(80, 24),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	return out.String(), err
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
	go func() {
		time.Sleep(200 * time.Millisecond) //nolint:forbidigo // without a terminal nothing else shows that the program is running
		_, _ = io.WriteString(keyboard, "q")
	}()
	out, err := runIn(t.Context(), t, Options{Snapshots: ch, Now: testNow}, in)
	if err != nil {
		t.Fatal(err)
	}
	restored(t, out)
	if !strings.Contains(out, "billing") || !strings.Contains(out, "electop") {
		t.Errorf("the board was not drawn: %q", out)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	in, _ := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err := runIn(ctx, t, Options{Now: testNow}, in)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		restored(t, out)
	}()
	<-done // the timeout of go test limits the wait
}

// After a panic during drawing, the terminal must be restored.
func TestRunRestoresAfterAPanic(t *testing.T) {
	in, _ := io.Pipe()
	var out recorder
	_, err := Run(t.Context(), Options{Now: func() time.Time {
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

func TestTheFirstFrameHasTheHistory(t *testing.T) {
	snapshots := make(chan *election.Snapshot, 3)
	live := emptySnapshot(false) // Consul may respond before the history is read
	live.Loaded = false
	snapshots <- live
	snapshots <- uitest.Recorded()
	snapshots <- live
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots}); snap != nil {
		t.Error("awaitFirst waited although there is no history")
	}
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: struct{ history.Source }{}}); snap == nil || snap.RecordedUntil.IsZero() {
		t.Errorf("the first snapshot is %+v, want the recorded one", snap)
	}
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: struct{ history.Source }{}}); snap != live { // no other snapshot follows
		t.Errorf("%+v", snap)
	}
}
