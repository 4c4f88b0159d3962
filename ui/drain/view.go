package drain

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

const (
	// dialogWidth is the maximum width of the dialog, in cells.
	dialogWidth = 100
	// gutter is the width of the column of the cursor.
	gutter = 2
)

// fit computes the layout of the text for a window.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	w := min(dialogWidth, width-kit.BoxSides)
	page := &kit.Page{Width: w - kit.BoxSides - gutter, Sym: s.Sym}
	d.write(page)
	changed := d.text.Show(page.Lines, w, max(1, height-kit.BoxFrame-2))
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
		d.line = max(0, slices.IndexFunc(d.items, func(i *act.Item) bool { return i != nil }))
	}
	d.line = max(d.text.Offset, min(d.line, d.text.Offset+d.text.Rows-1, len(d.text.Lines)-1))
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *kit.Painter, lines []string, width int) {
	title, edge := "Drain "+d.shownNode()+d.where, kit.Accent
	switch {
	case d.stage == choosing:
		title = "Drain a node" + d.where
	case d.destroy:
		edge = kit.Vacant
	}
	b := kit.Box{Edge: edge, Title: title, Body: d.body(p.Sym), Foot: [][]kit.Span{d.position(p.Sym)}, Controls: d.buttons()}
	b.Rows, b.First = d.stage == choosing, d.text.Offset
	b.Draw(p, lines, d.text.Width, width)
}

// body returns the visible lines. The column of the cursor is before each line.
func (d *Model) body(sym *kit.Symbols) [][]kit.Span {
	window := d.text.Window()
	lines := make([][]kit.Span, len(window))
	for i, line := range window {
		mark := kit.Span{kit.Text, "  "}
		if at := d.text.Offset + i; d.lists() && at == d.line || d.stage == choosing && at == d.at.Index {
			mark = kit.Span{kit.Accent, sym.Cursor + " "}
		}
		lines[i] = append([]kit.Span{mark}, line...)
	}
	return lines
}

// position shows the scroll position and the keys of the plan.
func (d *Model) position(sym *kit.Symbols) []kit.Span {
	switch {
	case d.stage == choosing:
		return []kit.Span{{kit.Quiet, "Other nodes: :drain NODE"}}
	case d.typed != nil:
		return []kit.Span{{kit.Alarm, "Type " + strconv.Itoa(d.kept()) + " to drain " + kit.Plural(d.kept(), "election")}}
	}
	var spans []kit.Span
	if where := d.text.Position(); where != "" {
		spans = []kit.Span{{kit.Key, sym.KeyMove + " "}, {kit.Quiet, where + "   "}}
	}
	if !d.lists() {
		return spans
	}
	destroy := kit.Span{kit.Quiet, " destroy: not allowed"}
	if d.destroy {
		destroy = kit.Span{kit.Vacant, " destroy: allowed"}
	}
	return append(spans, kit.Span{kit.Key, "space"}, kit.Span{kit.Quiet, " exclude   "}, kit.Span{kit.Key, "x"}, destroy)
}

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (d *Model) buttons() []kit.Control {
	gap, cancel, refresh := kit.Blank(2), kit.PressButton("esc", kit.ButtonOn, "[ Cancel ]"), kit.Hint("r", "refresh")
	switch {
	case d.stage == choosing:
		return []kit.Control{kit.PressButton("enter", kit.ButtonOn, "[ Plan ]"), gap, kit.Hint("esc", "cancel")}
	case d.stage == reading:
		return []kit.Control{cancel}
	case d.typed != nil:
		return []kit.Control{kit.Label(kit.Span{kit.Key, "> "}), kit.Label(kit.Span{kit.Strong, sanitize.Text(d.typed.String())}), kit.Label(kit.Span{kit.Accent, "_"})}
	case d.lists() && d.kept() == 0:
		return []kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]"), gap, kit.Label(kit.Span{kit.Delay, "All elections are excluded."})}
	case !d.acts():
		return []kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]"), gap, refresh}
	case !d.ready():
		return []kit.Control{cancel, gap, kit.PressButton("y", kit.Faint, " (Drain) "), gap, refresh}
	}
	action := kit.PressButton("y", kit.ButtonIdle, "  Drain  ")
	if d.onAction {
		cancel, action = kit.PressButton("esc", kit.ButtonIdle, "  Cancel  "), kit.PressButton("y", kit.Alarm, "[ Drain ]")
	}
	word := "drain"
	if n := len(d.excluded); n > 0 {
		word += " " + strconv.Itoa(d.kept()) + " of " + strconv.Itoa(d.kept()+n)
	}
	return []kit.Control{cancel, gap, action, gap, kit.Hint("y", word), gap, refresh, gap, kit.Hint("esc", "cancel")}
}
