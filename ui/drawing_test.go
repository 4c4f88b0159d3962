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
)

// screenOutput is a terminal that counts what is written to it, and can be slow.
type screenOutput struct {
	mu     sync.Mutex
	all    bytes.Buffer
	writes int
	// gate, when set, stops each write: it is told of it and then read.
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

// take gives what was written since it was asked last, and in how many writes.
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

// onScreen runs the real program in a bubble of fake time whose clock, as the
// board shows it, stands still.
func onScreen(t *testing.T, test func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, ch := &screenOutput{}, make(chan *election.Snapshot)
		p := newProgram(ctx, New(ctx, Options{Snapshots: ch, Now: testNow}), tea.WithInput(nil), tea.WithOutput(out),
			tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.Run()
		}()
		test(out, p, ch)
		cancel()
		<-ended
		rest() // until the last second of the clock is over
	})
}

// rest lets a minute pass.
func rest() {
	<-time.After(time.Minute) //nolint:forbidigo // in synctest
	synctest.Wait()
}

// frame lets a frame be drawn.
func frame() {
	<-time.After(time.Second / framesPerSecond) //nolint:forbidigo // in synctest
	synctest.Wait()
}

func wantsDrawn(t *testing.T, out *screenOutput, word string) {
	t.Helper()
	if text, _ := out.take(); !strings.Contains(text, word) {
		t.Errorf("%q was not drawn, but %q", word, text)
	}
}

func TestOnlyChangesAreDrawn(t *testing.T) {
	onScreen(t, func(out *screenOutput, _ *tea.Program, snapshots chan<- *election.Snapshot) {
		rest()
		wantsDrawn(t, out, "Connecting")
		rest()
		if text, n := out.take(); n > 0 {
			t.Errorf("while nothing changed %q was written", text)
		}
		snapshots <- mixedSnapshot()
		frame()
		wantsDrawn(t, out, "billing")
	})
}

// What comes faster than a screen can show is drawn together, and the last of
// it is not lost.
func TestBurstIsDrawnTogether(t *testing.T) {
	onScreen(t, func(out *screenOutput, p *tea.Program, snapshots chan<- *election.Snapshot) {
		snapshots <- mixedSnapshot()
		rest()
		out.take()
		for range 50 {
			p.Send(press("j"))
			p.Send(press("k"))
		}
		p.Send(press("?"))
		frame()
		text, n := out.take()
		if n > 1 {
			t.Errorf("a burst was drawn in %d writes", n)
		}
		if !strings.Contains(text, "Help") {
			t.Errorf("the last of a burst was not drawn, but %q", text)
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
		p.Send(press("j"))
		<-gate
		out.slow(nil)
		p.Send(press("?")) // is drawn behind the write that is stuck
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

// A board that changes faster than the screen shows its last state.
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

// Drawing is a function of the model: it changes nothing, and a second time gives the
// same.
func TestDrawingChangesNothing(t *testing.T) {
	for name, screen := range scenes() {
		d := screen(t, 120, 36)
		before, first := fmt.Sprintf("%#v", d.m), d.m.View().Content
		if d.m.View().Content != first {
			t.Errorf("%s is drawn differently the second time", name)
		}
		if fmt.Sprintf("%#v", d.m) != before {
			t.Errorf("%s: drawing changed the model", name)
		}
	}
}
