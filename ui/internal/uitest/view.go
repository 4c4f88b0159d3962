package uitest

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Component is a part of the screen.
type Component interface {
	Update(msg tea.Msg, s *scene.Scene) scene.Action
	View(s *scene.Scene, p *kit.Painter) []string
}

// View sends messages to a component and reads what it draws, as the dashboard does.
type View struct {
	T    testing.TB
	M    Component
	S    *scene.Scene
	Rect kit.Rect
	// Open is the open overlay, or nil.
	Open *scene.Overlay
	// Select, if not nil, changes each new scene, and the scene after each message.
	Select func(*scene.Scene)
}

// Drive shows a snapshot in a component of w x h cells.
func Drive(t testing.TB, m Component, snap *election.Snapshot, w, h int) *View {
	t.Helper()
	v := &View{T: t, M: m, S: Scene(snap, Now())}
	v.Resize(w, h)
	return v
}

// Resize changes the size of the component.
func (v *View) Resize(w, h int) {
	v.Rect = kit.Rect{W: w, H: h}
	v.Send(scene.Resized{Rect: v.Rect})
}

// Show sends the next snapshot.
func (v *View) Show(snap *election.Snapshot) {
	before := v.S
	v.S = Scene(snap, before.Now)
	v.Send(scene.Changed{Before: before})
}

// Send sends a message, and opens and closes overlays. It returns the last action.
func (v *View) Send(msg tea.Msg) (action scene.Action) {
	if press, ok := msg.(tea.KeyPressMsg); ok && v.Open != nil {
		return v.do(v.Open.Key(press, v.S.Now))
	}
	action = v.do(v.M.Update(msg, v.S))
	if v.Select != nil {
		v.Select(v.S)
	}
	return action
}

func (v *View) do(action scene.Action) scene.Action {
	switch a := action.(type) {
	case *scene.Overlay:
		v.Open, a.S = a, v.S
	case scene.Close:
		v.Open.End()
		v.Open = nil
	case scene.All:
		for _, one := range a {
			action = v.do(one)
		}
	}
	return action
}

// Keys presses keys by name and returns the last action.
func (v *View) Keys(names ...string) (action scene.Action) {
	for _, name := range names {
		action = v.Send(Press(name))
	}
	return action
}

// Answer sends messages and completes the reads that they cause. It returns the number of reads.
func (v *View) Answer(msgs ...any) (reads int) {
	v.T.Helper()
	for _, msg := range msgs {
		reads += Answer(v.T, v.Send(msg), func() scene.Action { return v.Send(scene.Changed{Before: v.S}) })
	}
	return reads
}

// Lines returns the lines of the component, with the open overlay, and fails if one has too few or too many cells.
func (v *View) Lines() []string {
	v.T.Helper()
	lines := v.M.View(v.S, Painter())
	if v.Open != nil {
		v.Open.S = v.S
		v.Open.Fit(v.S.Sym, v.Rect.W, len(lines), v.S.Now)
		v.Open.View(Painter(), lines, v.Rect.W)
	}
	if len(lines) != v.Rect.H {
		v.T.Errorf("%d lines, want %d", len(lines), v.Rect.H)
	}
	for i, line := range lines {
		if lines[i] = ansi.Strip(line); kit.Width(line) != v.Rect.W {
			v.T.Errorf("%d cells, want %d: %q", kit.Width(line), v.Rect.W, line)
		}
	}
	return lines
}

// Text returns the lines as one text.
func (v *View) Text() string { return strings.Join(v.Lines(), "\n") }

// Wants fails unless all parts are on the screen.
func (v *View) Wants(parts ...string) {
	v.T.Helper()
	for _, part := range parts {
		if text := v.Text(); !strings.Contains(text, part) {
			v.T.Errorf("%q is not on the screen:\n%s", part, text)
		}
	}
}

// Lacks fails if a part is on the screen.
func (v *View) Lacks(parts ...string) {
	v.T.Helper()
	for _, part := range parts {
		if text := v.Text(); strings.Contains(text, part) {
			v.T.Errorf("%q is on the screen:\n%s", part, text)
		}
	}
}

// Row returns the first line with a text, or "".
func (v *View) Row(text string) string {
	for _, line := range v.Lines() {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// Says fails unless an action is a note with this text.
func (v *View) Says(action scene.Action, text string) {
	v.T.Helper()
	if say, ok := action.(scene.Say); !ok || !strings.Contains(say.Text, text) {
		v.T.Errorf("the note is %+v, want %q", action, text)
	}
}
