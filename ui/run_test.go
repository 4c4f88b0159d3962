package ui

import (
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
	out, done := start(t.Context(), Options{Snapshots: ch, Now: testNow}, in)
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
	out, done := start(ctx, Options{Now: testNow}, in)
	awaitText(t, done, out.String, "\x1b[?1049h")
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	restored(t, out.String())
}

func TestTheEmptyScreenEndsWithoutElections(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	out, done := start(ctx, Options{Now: testNow, History: struct{ history.Source }{}}, in)
	awaitText(t, done, out.String, "Connecting")
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
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

// An empty board that shows elections a moment later would flicker.
func TestTheFirstFrameHasElections(t *testing.T) {
	connected := emptySnapshot(false) // Consul may respond before the history is read
	connected.Loaded = false
	for name, c := range map[string]struct {
		msg   tea.Msg
		opens bool
	}{
		"connected":      {snapshotMsg{connected}, false},
		"a history":      {snapshotMsg{uitest.Recorded()}, true},
		"live elections": {snapshotMsg{mixedSnapshot()}, true},
		"nothing yet":    {openMsg{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var m tea.Model = New(t.Context(), Options{Now: testNow, History: struct{ history.Source }{}})
			m, _ = m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
			if content := m.View().Content; content != "" {
				t.Errorf("before the first message, the screen shows\n%s", content)
			}
			m, _ = m.Update(c.msg)
			if content := m.View().Content; (content != "") != c.opens {
				t.Errorf("the screen shows\n%s", content)
			}
		})
	}
	m, _ := New(t.Context(), Options{Now: testNow}).Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	if !strings.Contains(m.View().Content, "Connecting") {
		t.Error("without a history, the first frame does not say that electop connects")
	}
}
