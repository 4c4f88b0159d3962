package events

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// full is the box that shows one event in full. A change to the list does not change the displayed event.
type full struct {
	line *scene.EventLine // nil while the box is closed
	text kit.Reader
}

// fullWidth is the maximum width of the box, in cells. evidenceLimit is the maximum length of the evidence, in runes.
const (
	fullWidth     = 100
	evidenceLimit = 4000
)

// openFull opens the box. The cursor stays on its event while newer events arrive.
func (m *Model) openFull() { m.full, m.follow = full{line: &m.list.Rows[m.list.Index]}, false }

func (m *Model) closeFull() {
	if m.full.line != nil {
		m.full = full{}
		m.moveTo(m.list.Index)
	}
}

// renew finds the event in the new lines, because its explanation may have arrived.
func (f *full) renew(lines []scene.EventLine) {
	if f.line == nil || f.line.Why != nil {
		return
	}
	for i := range lines {
		if scene.SameEvent(lines[i].Ev, f.line.Ev) {
			f.line = &lines[i]
			return
		}
	}
}

// fit computes the layout of the text for the view.
func (f *full) fit(s *scene.Scene, r kit.Rect) {
	if f.line == nil {
		return
	}
	w := min(fullWidth, r.W-kit.BoxSides)
	page := &kit.Page{Width: w - kit.BoxSides, Sym: s.Sym}
	writeEvent(page, s, f.line)
	f.text.Show(page.Lines, w, max(1, r.H-kit.BoxFrame))
}

// pressedFull handles a key while the box is open.
func (m *Model) pressedFull(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	f := &m.full
	if step, ok := m.keys.Step(msg, max(1, f.text.Rows), len(f.text.Lines)); ok {
		f.text.Scroll(step)
		return nil
	}
	switch ev := f.line.Ev; {
	case key.Matches(msg, m.keys.Report):
		return m.report("", s)
	case !key.Matches(msg, m.keys.Open):
	case ev.Key == "":
		m.closeFull()
	default:
		m.closeFull()
		return scene.ShowElection{ID: string(ev.ElectionID())}
	}
	return nil
}

// writeEvent writes every known fact of an event.
func writeEvent(page *kit.Page, s *scene.Scene, line *scene.EventLine) {
	ev := line.Ev
	text := func(label, text string) {
		if text != "" {
			page.Field(label, kit.Span{Role: kit.Text, Text: text})
		}
	}
	text("Time", ev.Time.In(s.Now.Location()).Format("2006-01-02 15:04:05.000 MST"))
	page.Field("Event", append([]kit.Span{{Role: scene.EventRole(ev), Text: scene.EventWord(ev) + "  "}}, scene.EventSpans(page.Sym, scene.EventLine{Ev: ev}, false, s.Now)...)...)
	if ev.Election != "" {
		page.Field("Election", kit.Span{Role: kit.Strong, Text: sanitize.Text(ev.Election)})
	}
	if s.Several() {
		text("Datacenter", scene.Clean(ev.Datacenter))
	}
	text("Key", sanitize.Text(ev.Key))
	text("Keys", sanitize.Text(ev.Prefix))
	text("Session", scene.Clean(ev.Session))
	text("Node", scene.Clean(ev.Node))
	if ev.Limit > 0 {
		text("Holders", strconv.Itoa(ev.Holders)+" of "+strconv.Itoa(ev.Limit))
	}
	if between := ev.Between(s.Now); between != "" {
		text("Happened", between+", during a gap in observation")
	} else if ev.Gap {
		text("Observed", "late; the change happened at an unknown earlier time")
	}
	if ev.Restored {
		text("Restored", "Consul lost data or restored a snapshot; no write caused this state")
	}
	if line.Why != nil {
		writeWhy(page, s, line.Why)
	}
}

// writeWhy writes the cause of the end of a term, and its evidence, which the list shortens.
func writeWhy(page *kit.Page, s *scene.Scene, why *election.Event) {
	page.Field("Lost because", kit.Span{Role: kit.Text, Text: scene.CauseWords(why.Cause)}, kit.Span{Role: kit.Quiet, Text: "  " + string(why.Cause)})
	if why.Evidence != "" {
		label := "Evidence"
		if why.Guess {
			label = "Guess from"
		}
		page.Field(label, kit.Span{Role: kit.Text, Text: scene.OneLine(why.Evidence, evidenceLimit)})
	}
	if !why.LockDelayUntil.IsZero() {
		page.Field("Lock-delay", kit.Span{Role: kit.Text, Text: "until " + page.Sym.Tilde + kit.Dated(why.LockDelayUntil.Round(time.Second), s.Now, true)})
	}
}

// view draws the box over the lines of the view. open is the key that opens the election.
func (f *full) view(p *kit.Painter, open key.Binding, lines []string, width int) {
	controls := []kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]")}
	if f.line.Ev.Key != "" {
		controls = append(controls, kit.Blank(3), kit.BoundHint(open, "its election"))
	}
	var where []kit.Span
	if text := f.text.Position(); text != "" {
		where = []kit.Span{{Role: kit.Key, Text: p.Sym.KeyMove}, {Role: kit.Quiet, Text: " " + text}}
	}
	b := kit.Box{Edge: kit.Accent, Title: "Event", Body: f.text.Window(), Foot: [][]kit.Span{where}, Controls: controls}
	b.Draw(p, lines, f.text.Width, width)
}
