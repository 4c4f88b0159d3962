package dialog

import (
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// dialogWidth is the maximum width of a dialog, in cells.
const dialogWidth = 84

// fit computes the layout of the text for a window. The action is disabled until the user has scrolled to all hidden
// and changed lines.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	d.now = s.Now
	w := min(dialogWidth, width-4)
	page := &term.Page{Width: w - term.BoxSides, Sym: s.Sym}
	d.write(page)
	changed := d.text.Show(page.Lines, w, max(1, height-term.BoxFrame-1-len(d.foot(s.Sym))))
	d.onAction = d.onAction && d.read()
	if !changed && d.text.Seen <= d.seen {
		d.seen = d.text.Seen
		return nil
	}
	d.seen = d.text.Seen
	return d.notice.Restart()
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *term.Painter, lines []string, width int) {
	edge := term.Accent
	if d.kind == election.ActionDestroy {
		edge = term.Vacant
	}
	b := term.Box{Edge: edge, Title: d.title(), Body: d.text.Window(), Foot: d.foot(p.Sym), Controls: d.buttons()}
	b.Draw(p, lines, d.text.Width, width)
}

func (d *Model) title() string {
	what := term.Plural(len(d.targets), "election")
	switch {
	case len(d.targets) == 0:
		return term.Capital(string(d.kind)) + " marked " + d.noun() + "s"
	case d.chosen.SessionOnly && len(d.targets) == 1:
		return "Destroy " + d.targets[0].Label() + d.targets[0].In()
	case d.chosen.SessionOnly:
		return "Destroy " + term.Plural(len(d.targets), "session") + d.targets[0].In()
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
func (d *Model) foot(sym *term.Symbols) [][]term.Span {
	var rows [][]term.Span
	if d.search.Running() {
		rows = append(rows, d.search.ProgressSpans())
	}
	return append(rows, d.positionSpans(sym))
}

// positionSpans shows the scroll position. If unread text disables the action, it shows where to scroll.
func (d *Model) positionSpans(sym *term.Symbols) []term.Span {
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
			return []term.Span{{term.Key, sym.KeyMove}, {term.Delay, " " + short}}
		}
		return []term.Span{{term.Key, sym.KeyMove}, {term.Quiet, " " + where + "; "}, {term.Delay, text}}
	}
	return []term.Span{{term.Key, sym.KeyMove}, {term.Quiet, " " + where}}
}

func (d *Model) word() string { return term.Capital(string(d.kind)) }

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (d *Model) buttons() []term.Control {
	cancel, action := term.PressButton("esc", term.ButtonOn, "[ Cancel ]"), term.PressButton("y", term.Button, "  "+d.word()+"  ")
	done := term.PressButton("esc", term.ButtonOn, "[ Close ]")
	switch {
	case len(d.targets) == 0:
		return []term.Control{done, term.Blank(3), term.Hint("space", "include the hidden marks")}
	case !d.acts():
		return []term.Control{done, term.Blank(3), term.Hint("r", "refresh")}
	}
	if d.onAction {
		cancel = term.PressButton("esc", term.Button, "  Cancel  ")
	}
	if !d.ready() {
		action = term.PressButton("y", term.Faint, " ("+d.word()+") ")
		if d.onAction { // the button keeps the focus while it is disabled
			action = term.PressButton("y", term.Faint, "[("+d.word()+")]")
		}
		return []term.Control{cancel, term.Blank(2), action, term.Blank(4), term.Hint("esc", "cancel")}
	}
	if d.onAction {
		action = term.PressButton("y", term.Alarm, "[ "+d.word()+" ]")
	}
	return []term.Control{
		cancel, term.Blank(2), action, term.Blank(4), term.Hint("y", string(d.kind)), term.Blank(2), term.Hint("esc", "cancel"),
	}
}
