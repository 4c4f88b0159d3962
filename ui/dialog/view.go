package dialog

import (
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// dialogWidth is the maximum width of a dialog, in cells.
const dialogWidth = 84

// fit computes the layout of the text for a window. The action is disabled until the user has scrolled to all hidden
// and changed lines.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	d.now = s.Now
	w := min(dialogWidth, width-4)
	page := &kit.Page{Width: w - kit.BoxSides, Sym: s.Sym}
	d.write(page)
	changed := d.text.Show(page.Lines, w, max(1, height-kit.BoxFrame-1-len(d.foot(s.Sym))))
	d.onAction = d.onAction && d.read()
	if !changed && d.text.Seen <= d.seen {
		d.seen = d.text.Seen
		return nil
	}
	d.seen = d.text.Seen
	return d.notice.Restart()
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *kit.Painter, lines []string, width int) {
	edge := kit.Accent
	if d.kind == election.ActionDestroy {
		edge = kit.Vacant
	}
	b := kit.Box{Edge: edge, Title: d.title(), Body: d.text.Window(), Foot: d.foot(p.Sym), Controls: d.buttons()}
	b.Draw(p, lines, d.text.Width, width)
}

func (d *Model) title() string {
	what := kit.Plural(len(d.targets), "election")
	switch {
	case len(d.targets) == 0:
		return kit.Capital(string(d.kind)) + " marked " + d.noun() + "s"
	case d.chosen.SessionOnly && len(d.targets) == 1:
		return "Destroy " + d.targets[0].Label() + d.targets[0].In()
	case d.chosen.SessionOnly:
		return "Destroy " + kit.Plural(len(d.targets), "session") + d.targets[0].In()
	case len(d.targets) == 1:
		what = scene.OneLine(d.targets[0].Election, 40)
	}
	what += d.targets[0].In()
	if d.refused() {
		what += ": refused"
	}
	switch {
	case d.kind == election.ActionRelease:
		return "Release " + what
	case len(d.sessions()) > 1:
		return "Destroy the sessions of " + what
	}
	return "Destroy the session of " + what
}

// foot returns the fixed rows above the buttons: search progress and scroll position.
func (d *Model) foot(sym *kit.Symbols) [][]kit.Span {
	var rows [][]kit.Span
	if d.search.Running() {
		rows = append(rows, d.search.ProgressSpans("f"))
	}
	return append(rows, d.positionSpans(sym))
}

// positionSpans shows the scroll position. If unread text disables the action, it shows where to scroll.
func (d *Model) positionSpans(sym *kit.Symbols) []kit.Span {
	where := d.text.Position()
	if where == "" {
		return nil
	}
	if d.acts() && !d.read() {
		text, short := "scroll to the end to enable "+d.word(), "scroll down to enable "+d.word()
		if d.text.Seen < d.text.Offset { // a line above the visible part has changed since the user saw it
			text, short = "scroll up: the text changed", "scroll up: the text changed"
		}
		if d.text.Width < 60 {
			return []kit.Span{{kit.Key, sym.KeyMove}, {kit.Delay, " " + short}}
		}
		return []kit.Span{{kit.Key, sym.KeyMove}, {kit.Quiet, " " + where + "; "}, {kit.Delay, text}}
	}
	return []kit.Span{{kit.Key, sym.KeyMove}, {kit.Quiet, " " + where}}
}

func (d *Model) word() string { return kit.Capital(string(d.kind)) }

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (d *Model) buttons() []kit.Control {
	cancel, action := kit.PressButton("esc", kit.ButtonOn, "[ Cancel ]"), kit.PressButton("y", kit.ButtonIdle, "  "+d.word()+"  ")
	done := kit.PressButton("esc", kit.ButtonOn, "[ Close ]")
	switch {
	case len(d.targets) == 0:
		return []kit.Control{done, kit.Blank(3), kit.Hint("space", "include the hidden marks")}
	case !d.acts():
		return []kit.Control{done, kit.Blank(3), kit.Hint("r", "refresh")}
	}
	if d.onAction {
		cancel = kit.PressButton("esc", kit.ButtonIdle, "  Cancel  ")
	}
	if !d.ready() {
		action = kit.PressButton("y", kit.Faint, " ("+d.word()+") ")
		if d.onAction { // the button keeps the focus while it is disabled
			action = kit.PressButton("y", kit.Faint, "[("+d.word()+")]")
		}
		return []kit.Control{cancel, kit.Blank(2), action, kit.Blank(4), kit.Hint("esc", "cancel")}
	}
	if d.onAction {
		action = kit.PressButton("y", kit.Alarm, "[ "+d.word()+" ]")
	}
	return []kit.Control{
		cancel, kit.Blank(2), action, kit.Blank(4), kit.Hint("y", string(d.kind)), kit.Blank(2), kit.Hint("esc", "cancel"),
	}
}
