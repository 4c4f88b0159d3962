package drain

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

const (
	// dialogWidth is the maximum width of the dialog, in cells.
	dialogWidth = 100
	// gutter is the width of the column of the cursor.
	gutter = 2
)

// fit lays the text out for a window. The action is disabled until every line was visible.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	w := min(dialogWidth, width-term.BoxSides)
	page := &term.Page{Width: w - term.BoxSides - gutter, Sym: s.Sym}
	d.write(page)
	d.showToggled(page.Lines)
	changed := d.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
	if d.stage == choosing {
		d.at.Scroll(d.text.Rows, len(d.nodes))
		d.text.Offset = d.at.Offset
	}
	if d.lists() {
		d.placeCursor()
	}
	d.onAction = d.onAction && d.acts() && d.text.Read()
	if !d.acts() || !d.text.Read() {
		d.typed = nil
	}
	more := d.text.Seen > d.seen
	d.seen = d.text.Seen
	if d.stage != planned || !changed && !more {
		return nil
	}
	return d.notice()
}

// placeCursor keeps the cursor in the window, at first on the first election.
func (d *Model) placeCursor() {
	if d.line < 0 {
		d.line = max(0, slices.IndexFunc(d.items, func(i int) bool { return i >= 0 }))
	}
	d.line = max(d.text.Offset, min(d.line, d.text.Offset+d.text.Rows-1, len(d.text.Lines)-1))
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *term.Painter, lines []string, width int) {
	title, edge := "Drain "+d.shownNode(), term.Accent
	switch {
	case d.stage == choosing:
		title = "Drain a node"
	case d.choice.Destroy:
		edge = term.Vacant
	}
	b := term.Box{Edge: edge, Title: title, Body: d.body(p.Sym), Foot: [][]term.Span{d.position(p.Sym), d.buttons()}}
	b.Draw(p, lines, d.text.Width, width)
}

// body returns the visible lines, each after the column of the cursor.
func (d *Model) body(sym *term.Symbols) [][]term.Span {
	window := d.text.Window()
	lines := make([][]term.Span, len(window))
	for i, line := range window {
		mark := term.Span{term.Text, "  "}
		if at := d.text.Offset + i; d.lists() && at == d.line || d.stage == choosing && at == d.at.Index {
			mark = term.Span{term.Accent, sym.Cursor + " "}
		}
		lines[i] = append([]term.Span{mark}, line...)
	}
	return lines
}

// position shows the scroll position and the keys of the plan. If unread text disables the action, it shows where to
// scroll.
func (d *Model) position(sym *term.Symbols) []term.Span {
	where := term.Span{term.Quiet, d.text.Position()}
	switch {
	case d.stage == choosing:
		return []term.Span{{term.Quiet, "Other nodes: :drain NODE"}}
	case d.typed != nil:
		return []term.Span{{term.Alarm, "Type " + d.shownNode() + " to drain " + term.Plural(d.kept(), "election")}}
	case d.acts() && d.text.Seen < d.text.Offset:
		where = term.Span{term.Delay, "scroll up: the text changed"}
	case d.acts() && !d.text.Read():
		where = term.Span{term.Delay, "scroll down to enable Drain"}
	}
	var spans []term.Span
	if where.Text != "" {
		where.Text += "   "
		spans = []term.Span{{term.Key, sym.KeyMove + " "}, where}
	}
	if !d.lists() {
		return spans
	}
	resort := term.Span{term.Quiet, " last resort: off"}
	if d.choice.Destroy {
		resort = term.Span{term.Vacant, " last resort: destroy"}
	}
	return append(spans, term.Span{term.Key, "space"}, term.Span{term.Quiet, " exclude   "}, term.Span{term.Key, "x"}, resort)
}

// buttons returns the buttons; brackets mark the one that Enter presses.
func (d *Model) buttons() []term.Span {
	gap := term.Span{term.Text, "  "}
	switch {
	case d.stage == choosing:
		return []term.Span{{term.ButtonOn, "[ Plan ]"}, gap, {term.Key, "esc"}, {term.Quiet, " cancel"}}
	case d.stage == reading:
		return []term.Span{{term.ButtonOn, "[ Cancel ]"}}
	case d.typed != nil:
		return []term.Span{{term.Key, "> "}, {term.Strong, sanitize.Text(d.typed.String())}, {term.Accent, "_"}}
	case d.lists() && d.kept() == 0:
		return []term.Span{{term.ButtonOn, "[ Close ]"}, gap, {term.Delay, "All elections are excluded."}}
	case !d.acts():
		return []term.Span{{term.ButtonOn, "[ Close ]"}, gap, {term.Key, "r"}, {term.Quiet, " refresh"}}
	case !d.ready():
		return []term.Span{{term.ButtonOn, "[ Cancel ]"}, gap, {term.Faint, " (Drain) "}, gap, {term.Key, "r"}, {term.Quiet, " refresh"}}
	}
	cancel, action := term.Span{term.ButtonOn, "[ Cancel ]"}, term.Span{term.Button, "  Drain  "}
	if d.onAction {
		cancel, action = term.Span{term.Button, "  Cancel  "}, term.Span{term.Alarm, "[ Drain ]"}
	}
	word := " drain"
	if n := len(d.choice.Exclude); n > 0 {
		word += " " + strconv.Itoa(d.kept()) + " of " + strconv.Itoa(d.kept()+n)
	}
	return []term.Span{cancel, gap, action, gap, {term.Key, "y"}, {term.Quiet, word + "  "}, {term.Key, "r"}, {term.Quiet, " refresh  "}, {term.Key, "esc"}, {term.Quiet, " cancel"}}
}
