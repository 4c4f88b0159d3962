package drain

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/internal/drain"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

const (
	// dialogWidth is the maximum width of the dialog, in cells.
	dialogWidth = 100
	// gutter is the width of the column of the cursor.
	gutter = 2
)

// fit computes the layout of the text for a window.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	w := min(dialogWidth, width-term.BoxSides)
	page := &term.Page{Width: w - term.BoxSides - gutter, Sym: s.Sym}
	d.write(page)
	changed := d.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
	if d.stage == choosing {
		d.at.Scroll(d.text.Rows, len(d.nodes))
		d.text.Offset = d.at.Offset
	}
	if d.lists() {
		d.placeCursor()
	}
	d.onAction = d.onAction && d.acts()
	if d.stage != planned || !changed {
		return nil
	}
	d.typed = nil // the number was typed for another text
	return d.notice.Restart()
}

// placeCursor keeps the cursor in the window. At first, it places the cursor on the first election.
func (d *Model) placeCursor() {
	if d.line < 0 {
		d.line = max(0, slices.IndexFunc(d.items, func(i *drain.Item) bool { return i != nil }))
	}
	d.line = max(d.text.Offset, min(d.line, d.text.Offset+d.text.Rows-1, len(d.text.Lines)-1))
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *term.Painter, lines []string, width int) {
	title, edge := "Drain "+d.shownNode()+d.where, term.Accent
	switch {
	case d.stage == choosing:
		title = "Drain a node" + d.where
	case d.destroy:
		edge = term.Vacant
	}
	b := term.Box{Edge: edge, Title: title, Body: d.body(p.Sym), Foot: [][]term.Span{d.position(p.Sym)}, Controls: d.buttons()}
	b.Rows, b.First = d.stage == choosing, d.text.Offset
	b.Draw(p, lines, d.text.Width, width)
}

// body returns the visible lines. The column of the cursor is before each line.
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

// position shows the scroll position and the keys of the plan.
func (d *Model) position(sym *term.Symbols) []term.Span {
	switch {
	case d.stage == choosing:
		return []term.Span{{term.Quiet, "Other nodes: :drain NODE"}}
	case d.typed != nil:
		return []term.Span{{term.Alarm, "Type " + strconv.Itoa(d.kept()) + " to drain " + term.Plural(d.kept(), "election")}}
	}
	var spans []term.Span
	if where := d.text.Position(); where != "" {
		spans = []term.Span{{term.Key, sym.KeyMove + " "}, {term.Quiet, where + "   "}}
	}
	if !d.lists() {
		return spans
	}
	destroy := term.Span{term.Quiet, " destroy: not allowed"}
	if d.destroy {
		destroy = term.Span{term.Vacant, " destroy: allowed"}
	}
	return append(spans, term.Span{term.Key, "space"}, term.Span{term.Quiet, " exclude   "}, term.Span{term.Key, "x"}, destroy)
}

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (d *Model) buttons() []term.Control {
	gap, cancel, refresh := term.Blank(2), term.PressButton("esc", term.ButtonOn, "[ Cancel ]"), term.Hint("r", "refresh")
	switch {
	case d.stage == choosing:
		return []term.Control{term.PressButton("enter", term.ButtonOn, "[ Plan ]"), gap, term.Hint("esc", "cancel")}
	case d.stage == reading:
		return []term.Control{cancel}
	case d.typed != nil:
		return []term.Control{term.Label(term.Span{term.Key, "> "}), term.Label(term.Span{term.Strong, sanitize.Text(d.typed.String())}), term.Label(term.Span{term.Accent, "_"})}
	case d.lists() && d.kept() == 0:
		return []term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]"), gap, term.Label(term.Span{term.Delay, "All elections are excluded."})}
	case !d.acts():
		return []term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]"), gap, refresh}
	case !d.ready():
		return []term.Control{cancel, gap, term.PressButton("y", term.Faint, " (Drain) "), gap, refresh}
	}
	action := term.PressButton("y", term.Button, "  Drain  ")
	if d.onAction {
		cancel, action = term.PressButton("esc", term.Button, "  Cancel  "), term.PressButton("y", term.Alarm, "[ Drain ]")
	}
	word := "drain"
	if n := len(d.excluded); n > 0 {
		word += " " + strconv.Itoa(d.kept()) + " of " + strconv.Itoa(d.kept()+n)
	}
	return []term.Control{cancel, gap, action, gap, term.Hint("y", word), gap, refresh, gap, term.Hint("esc", "cancel")}
}
