package drain

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"electop/election/insight"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

const (
	// dialogWidth is the maximum width of the dialog, in cells.
	dialogWidth = 100
	// nameWidth is the maximum width of the name of an election, leaderWidth that of a leader.
	nameWidth, leaderWidth = 24, 20
	// shownNames is the maximum number of names before a sentence that applies to some elections.
	shownNames = 3
)

// fit lays the text out for a window. The action is disabled until every line was visible.
func (d *Model) fit(s *scene.Scene, width, height int) tea.Cmd {
	w := min(dialogWidth, width-term.BoxSides)
	page := &term.Page{Width: w - term.BoxSides, Sym: s.Sym}
	d.write(page)
	changed := d.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
	if d.stage == choosing {
		d.at.Scroll(d.text.Rows, len(d.nodes))
		d.text.Offset = d.at.Offset
	}
	d.onAction = d.onAction && d.acts() && d.text.Read()
	more := d.text.Seen > d.seen
	d.seen = d.text.Seen
	if d.stage != planned || !changed && !more {
		return nil
	}
	return d.notice()
}

func (d *Model) write(page *term.Page) {
	switch d.stage {
	case choosing:
		d.writeNodes(page)
	case reading:
		text := "Reading the elections and sessions."
		if total := d.read.total.Load(); total > 0 {
			text = "Searching the whole store for keys that the node's sessions hold: " +
				term.Thousands(d.read.done.Load()) + " of " + term.Thousands(total) + " keys."
		}
		page.Para(term.Accent, text)
	case failed:
		page.Para(term.Bad, "Cannot plan the drain: "+scene.Clean(d.err.Error()))
	case planned:
		d.writePlan(page)
	default:
	}
}

func (d *Model) writeNodes(page *term.Page) {
	column := 0
	for _, c := range d.nodes {
		column = max(column, min(term.Width(scene.OneLine(c.node, 60)), page.Width/2))
	}
	for i, c := range d.nodes {
		cursor, role := " ", term.Text
		if i == d.at.Index {
			cursor, role = page.Sym.Cursor, term.Strong
		}
		led := "no leader of these elections"
		if c.led > 0 {
			led = "leads " + term.Plural(c.led, "election")
		}
		page.Add(term.Span{term.Accent, cursor + " "}, term.Span{role, term.PadTo(scene.OneLine(c.node, 60), column) + "  "}, term.Span{term.Quiet, led})
	}
}

// writePlan lists the elections to move, then the effects, and then the skipped elections.
func (d *Model) writePlan(page *term.Page) {
	todo := d.plan.Planned()
	switch skipped := len(d.plan.Items) - len(todo); {
	case len(d.plan.Items) == 0:
		page.Para(term.Led, "No session on "+scene.OneLine(d.node, 60)+" leads an election or holds another key.")
	default:
		text := term.Plural(len(todo), "election") + " to move"
		if skipped > 0 {
			text += ", " + strconv.Itoa(skipped) + " skipped"
		}
		page.Para(term.Strong, text+". As of "+term.ClockTime(d.asOf)+".")
		page.Blank()
	}
	column := 0
	for _, i := range todo {
		column = max(column, term.Width(scene.OneLine(i.Name, nameWidth)))
	}
	column = min(column, max(8, page.Width/4))
	for _, i := range todo {
		name, _ := term.Cut(i.Name, column, page.Sym.Ellipsis)
		leader := []term.Span{{term.Text, scene.OneLine(i.Target.Leader, leaderWidth)}, {term.Quiet, "; next: " + i.Next}}
		if !i.Watched {
			leader = append(leader, term.Span{term.Delay, "; not watched"})
		}
		page.Beside([]term.Span{{term.Strong, term.PadTo(name, column) + "  "}}, column+2, leader...)
	}
	if len(todo) > 0 {
		page.Blank()
		page.Para(term.Text, d.plan.Course)
		d.writeEffects(page)
	}
	d.writeSkipped(page)
	for _, gap := range d.plan.Gaps {
		page.Beside([]term.Span{{term.Delay, page.Sym.Warning + " "}}, 2, term.Span{term.Delay, gap})
	}
}

// writeEffects writes the sentences of [insight.EffectOf] about a release.
func (d *Model) writeEffects(page *term.Page) {
	var effects []scene.NamedEffect
	for _, i := range d.plan.Planned() {
		effects = append(effects, scene.NamedEffect{Name: i.Name, Effect: i.Effect})
	}
	write := func(sign string, role term.Role, pick func(insight.Effect) []string) {
		for _, text := range scene.Sentences(effects, pick, func(names []string) string { return term.NameList(names, shownNames) }) {
			page.Beside([]term.Span{{role, sign + " "}}, 2, term.Span{role, text})
		}
	}
	write(page.Sym.Dot, term.Quiet, func(f insight.Effect) []string { return []string{f.Key, f.Holder, f.Delay} })
	write(page.Sym.Warning, term.Delay, func(f insight.Effect) []string { return f.Warnings })
	for _, i := range d.plan.Planned() {
		d.writeBetter(page, i.Name, i.Effect.Better)
	}
}

func (d *Model) writeSkipped(page *term.Page) {
	for _, i := range d.plan.Items {
		if i.Skip != "" {
			page.Para(term.Delay, "Skipped "+i.Name+": "+i.Skip)
			d.writeBetter(page, i.Name, i.Effect.Better)
		}
	}
}

// writeBetter shows the step-down command of the holder's software.
func (d *Model) writeBetter(page *term.Page, name, command string) {
	if command != "" {
		page.Field("Better", term.Span{term.Accent, scene.Clean(command)}, term.Span{term.Quiet, "  for " + name})
	}
}

// View draws the dialog over lines, which are width cells wide.
func (d Model) View(p *term.Painter, lines []string, width int) {
	title := "Drain " + scene.OneLine(d.node, 40)
	if d.stage == choosing {
		title = "Drain a node"
	}
	b := term.Box{Edge: term.Accent, Title: title, Body: d.text.Window(), Foot: [][]term.Span{d.position(p.Sym)}, Controls: d.buttons()}
	b.Rows, b.First = d.stage == choosing, d.text.Offset
	b.Draw(p, lines, d.text.Width, width)
}

// position shows the scroll position. If unread text disables the action, it shows where to scroll.
func (d *Model) position(sym *term.Symbols) []term.Span {
	where := d.text.Position()
	switch {
	case d.stage == choosing:
		return []term.Span{{term.Quiet, "Other nodes: :drain NODE"}}
	case where == "":
		return nil
	case d.acts() && !d.text.Read():
		return []term.Span{{term.Key, sym.KeyMove}, {term.Delay, " scroll down to enable Drain"}}
	}
	return []term.Span{{term.Key, sym.KeyMove}, {term.Quiet, " " + where}}
}

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (d *Model) buttons() []term.Control {
	gap, cancel, refresh := term.Blank(2), term.PressButton("esc", term.ButtonOn, "[ Cancel ]"), term.Hint("r", "refresh")
	switch {
	case d.stage == choosing:
		return []term.Control{term.PressButton("enter", term.ButtonOn, "[ Plan ]"), gap, term.Hint("esc", "cancel")}
	case d.stage == reading:
		return []term.Control{cancel}
	case !d.acts():
		return []term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]"), gap, refresh}
	case !d.ready():
		return []term.Control{cancel, gap, term.PressButton("y", term.Faint, " (Drain) "), gap, refresh}
	}
	action := term.PressButton("y", term.Button, "  Drain  ")
	if d.onAction {
		cancel, action = term.PressButton("esc", term.Button, "  Cancel  "), term.PressButton("y", term.Alarm, "[ Drain ]")
	}
	return []term.Control{cancel, gap, action, gap, term.Hint("y", "drain"), gap, refresh, gap, term.Hint("esc", "cancel")}
}
