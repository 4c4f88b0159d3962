package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// onScreen runs the program in a synctest bubble. The clock of the board does not advance.
func onScreen(t *testing.T, test func(out *recorder, snapshots chan<- *election.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, ch := &recorder{}, make(chan *election.Snapshot)
		p := newProgram(ctx, New(ctx, Options{Backend: &backend{}, Snapshots: ch, Now: testNow}), tea.WithInput(nil), tea.WithOutput(out),
			tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
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

func TestOnlyChangesAreDrawn(t *testing.T) {
	onScreen(t, func(out *recorder, snapshots chan<- *election.Snapshot) {
		rest()
		wantsDrawn(t, out, "Connecting")
		before := out.String()
		rest()
		if text := strings.TrimPrefix(out.String(), before); text != "" {
			t.Errorf("%q was written without a change", text)
		}
		snapshots <- mixedSnapshot()
		rest()
		wantsDrawn(t, out, "billing")
	})
}

// If the board changes faster than the terminal draws, the terminal shows the newest state at the end.
func TestManySnapshotsEndInTheLast(t *testing.T) {
	onScreen(t, func(out *recorder, snapshots chan<- *election.Snapshot) {
		rest()
		for range 20 {
			snapshots <- &election.Snapshot{}
		}
		snapshots <- mixedSnapshot()
		rest()
		wantsDrawn(t, out, "billing")
	})
}

func TestDrawingChangesNothing(t *testing.T) {
	for name, screen := range scenes() {
		d := screen(t, 120, 36)
		state := func() string {
			return fmt.Sprintf("%#v %#v %#v %#v %#v", *d.m, *d.m.board, *d.m.detail, *d.m.events, *d.m.sessions)
		}
		before, first := state(), d.m.View().Content
		if d.m.View().Content != first {
			t.Errorf("%s: the second drawing differs", name)
		}
		if state() != before {
			t.Errorf("%s: drawing changed the model", name)
		}
	}
}
