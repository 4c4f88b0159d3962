package ui

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/uitest"
)

// screenOutput is a terminal that counts writes. The test can block its writes.
type screenOutput struct {
	mu     sync.Mutex
	all    bytes.Buffer
	writes int
	// gate, if set, blocks each write: the write sends to it and then reads from it.
	gate chan struct{}
}

func (o *screenOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	gate := o.gate
	o.mu.Unlock()
	if gate != nil {
		gate <- struct{}{}
		<-gate
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes++
	return o.all.Write(b)
}

// take returns the output since its previous call, and the number of writes.
func (o *screenOutput) take() (string, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, n := o.all.String(), o.writes
	o.all.Reset()
	o.writes = 0
	return text, n
}

func (o *screenOutput) slow(gate chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gate = gate
}

// onScreen runs the program in a synctest bubble. The clock of the board does not advance.
func onScreen(t *testing.T, test func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, ch := &screenOutput{}, make(chan *election.Snapshot)
		p := newProgram(ctx, New(ctx, Options{Backend: &backend{}, Snapshots: ch, Now: testNow}), tea.WithInput(nil), tea.WithOutput(out),
			tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.Run()
		}()
		test(out, p, ch)
		cancel()
		<-ended
		rest() // no clock tick may follow
	})
}

func rest() {
	<-time.After(time.Minute) //nolint:forbidigo // in synctest
	synctest.Wait()
}

func frame() {
	<-time.After(time.Second / 50) //nolint:forbidigo // in synctest
	synctest.Wait()
}

func wantsDrawn(t *testing.T, out *screenOutput, word string) {
	t.Helper()
	if text, _ := out.take(); !strings.Contains(text, word) {
		t.Errorf("drew %q, want %q", text, word)
	}
}

func TestOnlyChangesAreDrawn(t *testing.T) {
	onScreen(t, func(out *screenOutput, _ *tea.Program, snapshots chan<- *election.Snapshot) {
		rest()
		wantsDrawn(t, out, "Connecting")
		rest()
		if text, n := out.take(); n > 0 {
			t.Errorf("%q was written without a change", text)
		}
		snapshots <- mixedSnapshot()
		frame()
		wantsDrawn(t, out, "billing")
	})
}

// Changes within one frame interval cause one write, which contains the last change.
func TestBurstIsDrawnTogether(t *testing.T) {
	onScreen(t, func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot) {
		snapshots <- mixedSnapshot()
		rest()
		out.take()
		for range 50 {
			p.Send(uitest.Press("j"))
			p.Send(uitest.Press("k"))
		}
		p.Send(uitest.Press("?"))
		frame()
		text, n := out.take()
		if n > 1 {
			t.Errorf("several changes were drawn in %d writes", n)
		}
		if !strings.Contains(text, "Help") {
			t.Errorf("%q was drawn, want the last of several changes", text)
		}
	})
}

func TestSlowTerminalGetsTheLastFrame(t *testing.T) {
	onScreen(t, func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot) {
		snapshots <- mixedSnapshot()
		rest()
		out.take()
		gate := make(chan struct{})
		out.slow(gate)
		p.Send(uitest.Press("j"))
		<-gate
		out.slow(nil)
		p.Send(uitest.Press("?")) // its frame follows the blocked write
		close(gate)
		frame()
		wantsDrawn(t, out, "Help")
	})
}

func TestDrawsAfterSuspension(t *testing.T) {
	onScreen(t, func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot) {
		rest()
		if err := p.ReleaseTerminal(); err != nil {
			t.Fatal(err)
		}
		rest() // Bubble Tea stops its ticker in another goroutine
		if err := p.RestoreTerminal(); err != nil {
			t.Fatal(err)
		}
		out.take()
		snapshots <- mixedSnapshot()
		frame()
		wantsDrawn(t, out, "billing")
	})
}

// If the board changes faster than the terminal draws, the terminal shows the newest state at the end.
func TestManySnapshotsEndInTheLast(t *testing.T) {
	onScreen(t, func(out *screenOutput, _ *tea.Program, snapshots chan<- *election.Snapshot) {
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
