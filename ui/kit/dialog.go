package kit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Sheet is a dialog, a page or a menu over the screen. Its owner sets Write, which writes the text and sets the other
// fields after each update.
type Sheet struct {
	// Write writes the current text. page has the width of the sheet.
	Write func(page *Page)
	// Keys are the keys that scroll. The program sets them.
	Keys  Scroller
	Title string
	Edge  Role
	// Width is the maximum width of the sheet, in cells. 0 is the width of the window.
	Width int
	// Menu shows a cursor on the rows that Write marks with [Sheet.Row].
	Menu bool
	// Head and Foot are rows above and below the text that do not scroll.
	Head, Foot [][]Span
	// Buttons are the keys of the sheet. Those with a label are drawn as buttons; the first has the focus. If none has a
	// label, the sheet adds one that closes it.
	Buttons []Button
	// State is a text after the buttons.
	State []Span
	// Tabs are the titles of the pages of a sheet. Tab is the index of the open page.
	Tabs []string
	Tab  int
	// Task is the read for which the sheet waits. The sheet starts it when it is laid out, and cancels it when it is closed.
	Task *Task
	// Closed, if set, cancels what else the sheet started.
	Closed func()

	// Height is the number of lines for Foot and the text.
	Height int

	lines   [][]Span
	rows    int   // number of visible lines
	width   int   // width of the box
	offset  int   // first visible line
	items   []int // the item of each line, or -1
	written []int // the items of the text that Write writes
	line    int   // position of the cursor in the text
	focus   int   // position of the focus among the buttons with a label
	changed time.Time
	settled bool
	asking  string // key of the button whose question is open
	typed   *Input // the answer to a question about many elections
}

// Scroller is the key map of the program.
type Scroller interface {
	// Step returns the number of lines by which a key scrolls a text. page and all are the numbers of visible lines and
	// of all lines.
	Step(msg tea.KeyPressMsg, page, all int) (int, bool)
	// Scroll returns the key that scrolls, for the footer.
	Scroll() key.Binding
}

// Say shows a note in the footer.
type Say struct {
	Role Role
	Text string
}

// Close closes the sheet. If Text is not empty, the footer shows it as a note.
type Close struct{ Text string }

// Row makes the lines since the last call the item i of a menu. A negative item is text.
func (s *Sheet) Row(page *Page, i int) {
	for len(s.written) < len(page.Lines) {
		s.written = append(s.written, i)
	}
}

// Chosen returns the item under the cursor, or -1 if there is none.
func (s *Sheet) Chosen() int {
	if s.line >= 0 && s.line < len(s.items) { // see Top
		return s.items[s.line]
	}
	return -1
}

// Select moves the cursor to an item.
func (s *Sheet) Select(item int) { s.moveTo(slices.Index(s.items, item)) }

// Top scrolls to the first line, or to the first item of a menu.
func (s *Sheet) Top() { s.offset, s.line = 0, -1 }

// menuGutter is the width of the column of the cursor.
const menuGutter = 2

// Fit writes the text again and lays it out in a window. The command starts the task of the sheet, and redraws the sheet
// when its text has settled.
func (s *Sheet) Fit(sym *Symbols, w, h int, now time.Time) tea.Cmd {
	w = min(cmp.Or(s.Width, w), w-BoxSides)
	if h -= BoxFrame + 1; s.typed != nil {
		if w == s.width && h == s.Height {
			return nil // the answer is about this text, which changes all the time if it is long
		}
		s.asking, s.typed = "", nil
	}
	s.Height = h
	page := &Page{Width: w - BoxSides, Sym: sym}
	if s.Menu {
		page.Width -= menuGutter
	}
	chosen := s.Chosen()
	s.Head, s.Foot, s.written = nil, nil, nil
	s.Write(page)
	cmd := s.Task.Start()
	s.Row(page, -1)
	if len(s.labelled())+len(s.Tabs) == 0 {
		s.Buttons = append(s.Buttons, Button{Key: "esc", Label: "Close"})
	}
	s.items = s.written
	if i := slices.Index(s.items, chosen); min(i, chosen) >= 0 && s.Chosen() != chosen { // there are more lines or fewer above the cursor
		s.line = i
	}
	rows := max(1, s.Height-len(s.Head)-len(s.Foot)-1) // one row is for the scroll position
	resized := w != s.width || rows != s.rows
	if resized {
		s.offset = 0
	}
	changes := resized || !slices.EqualFunc(page.Lines, s.lines, slices.Equal)
	s.lines, s.width, s.rows = page.Lines, w, rows
	s.scroll(0)
	if changes {
		s.changed, s.settled = now, false
	}
	if s.line < 0 {
		if s.line = max(0, slices.IndexFunc(s.items, func(i int) bool { return i >= 0 })); s.line >= s.rows {
			s.line = 0 // what precedes the items is read first
		}
	}
	s.moveTo(s.line)
	s.settled = s.settled || now.Sub(s.changed) >= Settled
	if !slices.ContainsFunc(s.Buttons, func(b Button) bool { return b.Acts && !b.Off }) {
		s.focus = 0
	}
	if !changes || !slices.ContainsFunc(s.Buttons, func(b Button) bool { return b.Acts }) {
		return cmd
	}
	return tea.Batch(cmd, tea.Tick(Settled, func(time.Time) tea.Msg { return SettledMsg{} }))
}

// scroll moves the visible lines.
func (s *Sheet) scroll(step int) { s.offset = max(0, min(s.offset+step, len(s.lines)-s.rows)) }

// moveTo moves the cursor of a menu to a line and scrolls to it.
func (s *Sheet) moveTo(line int) {
	if s.Menu {
		s.line = max(0, min(line, len(s.lines)-1))
		s.scroll(max(0, s.line-s.offset-s.rows+1) + min(0, s.line-s.offset))
	}
}

// Wheel scrolls by some lines.
func (s *Sheet) Wheel(step int) {
	if s.Menu {
		s.moveTo(s.line + step)
		return
	}
	s.scroll(step)
}

// Click selects a row of a menu or opens a tab.
func (s *Sheet) Click(a Area) {
	switch a.Item {
	case Tab:
		s.turn(a.Index)
	case Row:
		s.moveTo(a.Index)
	default:
	}
}

func (s *Sheet) turn(tab int) {
	s.Tab = (tab + len(s.Tabs)) % len(s.Tabs)
	s.offset = 0
}

// labelled returns the buttons with a label.
func (s *Sheet) labelled() []Button {
	return slices.DeleteFunc(slices.Clone(s.Buttons), func(b Button) bool { return b.Label == "" })
}

// Key handles a key and returns an action for the program.
func (s *Sheet) Key(msg tea.KeyPressMsg, now time.Time) any {
	s.settled = s.settled || now.Sub(s.changed) >= Settled
	name := msg.String()
	if s.asking != "" {
		return s.answer(msg, name)
	}
	if (name == "n" || name == "q") && s.button(name) == nil {
		name = "esc"
	}
	labels := s.labelled()
	if b := s.button(name); b != nil {
		return s.press(b)
	}
	switch name {
	case "esc":
		return Close{}
	case "enter":
		if len(labels) == 0 {
			return Close{}
		}
		return s.press(&labels[s.focus])
	case "left", "h", "shift+tab":
		s.sideways(-1)
		return nil
	case "right", "l", "tab":
		s.sideways(1)
		return nil
	}
	if step, ok := s.Keys.Step(msg, s.rows, len(s.lines)); ok {
		s.Wheel(step)
	}
	return nil
}

// sideways opens another tab, or moves the focus to another button if one can act.
func (s *Sheet) sideways(step int) {
	switch {
	case len(s.Tabs) > 0:
		s.turn(s.Tab + step)
	case slices.ContainsFunc(s.Buttons, s.ready):
		n := len(s.labelled())
		s.focus = (s.focus + step + n) % n
	}
}

// button returns the button of a key, or nil.
func (s *Sheet) button(name string) *Button {
	if i := slices.IndexFunc(s.Buttons, func(b Button) bool { return b.Key == name && b.Do != nil }); i >= 0 {
		return &s.Buttons[i]
	}
	return nil
}

// End cancels what the sheet started.
func (s *Sheet) End() {
	s.Task.Cancel()
	if s.Closed != nil {
		s.Closed()
	}
}

// Footer returns the keys of the sheet.
func (s *Sheet) Footer() []key.Binding {
	say := func(name, does string) key.Binding {
		return key.NewBinding(key.WithKeys(name), key.WithHelp(name, does))
	}
	if s.typed != nil {
		return []key.Binding{say("enter", "confirm"), say("esc", "back")}
	}
	if s.asking != "" {
		return []key.Binding{say("y", "yes"), say("n", "no")}
	}
	var all []key.Binding
	leave := "close"
	for _, b := range s.Buttons {
		switch {
		case b.Key == "esc":
			leave = strings.ToLower(b.Label)
		case b.Hint != "" && !b.Off && (!b.Acts || s.settled):
			n := say(b.Key, b.Hint)
			n.SetHelp(cmp.Or(b.Sign, b.Key), b.Hint)
			all = append(all, n)
		}
	}
	switch move := s.Keys.Scroll(); {
	case s.Menu:
		move.SetHelp(move.Help().Key, "move")
		all = append(all, move)
	case len(s.lines) > s.rows:
		all = append(all, move)
	}
	if len(s.Tabs) > 0 {
		all = append(all, say("tab", "next page"))
	}
	return append(all, say("esc", leave))
}

// View draws the sheet over lines, which are width cells wide.
func (s *Sheet) View(p *Painter, lines []string, width int) {
	title, rows := s.Title, [][]Control(nil)
	add := func(a Area, spans ...Span) { rows = append(rows, []Control{{a, spans}}) }
	for _, line := range s.Head {
		add(Area{}, line...)
	}
	for i, line := range s.lines[s.offset:min(len(s.lines), s.offset+s.rows)] {
		area, mark := Area{}, "  "
		if s.Menu {
			if s.offset+i == s.line {
				mark = p.Sym.Cursor + " "
			}
			line = append(Accent.Spans(mark), line...)
			area, line = Area{Item: Row, Index: s.offset + i}, append(line, Text.Span(PadTo("", s.width-BoxSides-SpansWidth(line))))
		}
		add(area, line...)
	}
	for _, line := range s.Foot {
		add(Area{}, line...)
	}
	more, where := len(s.lines)-s.offset-s.rows, " below"
	if more <= 0 {
		more, where = s.offset, " above"
	}
	var position []Span
	if more > 0 {
		position = []Span{{Key, p.Sym.KeyMove}, {Quiet, " " + Plural(more, "more line") + where}}
	}
	add(Area{}, position...)
	if len(s.Tabs) > 0 {
		title += ": " + s.Tabs[s.Tab]
	}
	drawBox(p, lines, s.width, width, cmp.Or(s.Edge, Accent), title, append(rows, Fitting(s.controls(), s.width-BoxSides, 1)))
}

// controls returns the row of buttons. Brackets mark the button that Enter presses. The footer shows the other keys.
func (s *Sheet) controls() (row []Control) {
	switch b := s.button(s.asking); {
	case s.typed != nil && b != nil:
		text := s.typed.Text
		return []Control{Label(
			Alarm.Span("Type "+b.word()+" to "+b.Hint), Key.Span(" > "), Strong.Span(string(text[:s.typed.At])),
			Accent.Span("_"), Strong.Span(string(text[s.typed.At:])),
		)}
	case b != nil:
		return []Control{Label(Alarm.Span(b.Ask))}
	}
	for i, b := range s.labelled() {
		text, role := "  "+b.Label+"  ", ButtonIdle
		switch {
		case b.Acts && !s.ready(b) && i == s.focus: // the button keeps the focus while it is disabled
			text, role = "[("+b.Label+")]", Faint
		case b.Acts && !s.ready(b):
			text, role = " ("+b.Label+") ", Faint
		case i == s.focus && b.Acts:
			text, role = "[ "+b.Label+" ]", Alarm
		case i == s.focus:
			text, role = "[ "+b.Label+" ]", ButtonOn
		}
		row = append(row, Control{Area{Key: b.Key}, role.Spans(text)}, Blank(2))
	}
	if len(s.State) > 0 {
		row = append(row, Blank(1), Label(s.State...), Blank(2))
	}
	for i, tab := range s.Tabs {
		row = append(row, TabTitle(i, i == s.Tab, tab), Blank(2))
	}
	return row
}

// Rect is a rectangle on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// BoxFrame is the number of lines of the frame plus the first and the last line of the screen. BoxSides is the total
// width of the left and the right side, in cells.
const (
	BoxFrame = 4
	BoxSides = 4
)

// drawBox draws rows of controls in a frame over lines. The box is width cells wide, and each line is total cells wide.
func drawBox(p *Painter, lines []string, width, total int, edge Role, title string, rows [][]Control) {
	l, top := NewLine(p, width), max(0, (len(lines)-len(rows)-2)/2)
	put := func() {
		if top < len(lines) {
			lines[top] = splice(lines[top], l.Done(), (total-width)/2, width, total)
		}
		top++
		l.Reset(p.Tone)
	}
	l.Text(edge, p.Sym.topLeft+p.Sym.rule+" ")
	l.Width -= 3
	l.Text(edge, title)
	l.Width += 3
	l.Gap(1)
	l.Fill(edge, p.Sym.rule, l.Room()-1)
	l.Text(edge, p.Sym.topRight)
	put()
	for _, row := range rows {
		l.Text(edge, p.Sym.Bar+" ")
		l.Width -= 2 // reserves cells for the right border
		l.Controls(row...)
		l.Width += 2
		l.To(width - 1)
		l.Text(edge, p.Sym.Bar)
		put()
	}
	l.Text(edge, p.Sym.bottomLeft)
	l.Fill(edge, p.Sym.rule, width-2)
	l.Text(edge, p.Sym.bottomRight)
	put()
}

// Fitting returns as many of the first controls as fit into width cells, but at least a number of them.
func Fitting(controls []Control, width, least int) []Control {
	for ControlsWidth(controls) > width && len(controls) > least {
		controls = controls[:len(controls)-1]
	}
	return controls
}
