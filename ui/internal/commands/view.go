package commands

import (
	"strings"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/shell"
	"electop/ui/internal/term"
)

// menuWidth is the maximum width of the menu, in cells. frame is the number of lines of the window that show neither
// the list nor the command. leastRows is the minimum number of visible commands.
const (
	menuWidth = 100
	frame     = term.BoxFrame + 1
	leastRows = 2
)

// shownValue is the maximum length of a value on the screen, in runes.
const shownValue = 200

// layout is the menu as drawn in a window.
type layout struct {
	width, rows int
	list, foot  [][]term.Span
	// howTo explains how to add a command. The menu shows it if there are no commands.
	howTo term.Reader
}

// fit computes the layout of the menu for a window.
func (m *Model) fit(s *scene.Scene, width, height int) {
	l := layout{width: min(menuWidth, width-term.BoxSides), howTo: m.layout.howTo}
	page := &term.Page{Width: l.width - term.BoxSides, Sym: s.Sym}
	if len(m.tools.Templates) == 0 {
		m.writeHowTo(page)
		l.howTo.Show(page.Lines, l.width, max(1, height-frame-1))
		m.layout = l
		return
	}
	l.list = m.list(s.Sym, page.Width)
	page.Blank()
	m.writeCommand(page, s)
	room := max(1, height-frame-min(leastRows, len(l.list)))
	l.foot = page.Lines
	if hidden := len(l.foot) - room; hidden > 0 {
		l.foot = l.foot[:room]
		l.foot[room-1] = []term.Span{{term.Delay, term.Plural(hidden+1, "more line") + " of this command"}}
	}
	l.rows = max(1, height-frame-len(l.foot))
	m.at.Scroll(l.rows, len(l.list))
	m.layout = l
}

// list returns a line for each command.
func (m *Model) list(sym *term.Symbols, width int) [][]term.Span {
	column := 0
	for _, t := range m.tools.Templates {
		column = max(column, term.Width(t.Name))
	}
	column = min(column, width/2)
	var lines [][]term.Span
	for i, t := range m.tools.Templates {
		mark, role := "  ", term.Text
		if i == m.at.Index {
			mark, role = sym.Cursor+" ", term.Strong
		}
		name, _ := term.Cut(t.Name, column, sym.Ellipsis)
		about, _ := term.Cut(t.About, max(0, width-column-6), sym.Ellipsis)
		lines = append(lines, []term.Span{
			{term.Accent, mark}, {term.Key, term.PadTo(t.Key, 2)}, {role, term.PadTo(name, column) + "  "}, {term.Quiet, about},
		})
	}
	return lines
}

// writeCommand writes the selected command with its values, or the reason why it cannot run.
func (m *Model) writeCommand(page *term.Page, s *scene.Scene) {
	c, err := m.tools.Templates[m.at.Index].Command.Expand(m.values)
	if err != nil {
		page.Para(term.Delay, "This command cannot run: "+err.Error()+".")
		return
	}
	if m.stale(s) {
		page.Para(term.Delay, staleText)
	}
	sign := "$ "
	for _, line := range lines(c.Shown) {
		page.Beside([]term.Span{{term.Key, sign}}, len(sign), line...)
		sign = "  "
	}
}

const staleText = "Consul does not respond or rejects the query: these fields may be stale."

// stale reports whether the fields may be stale.
func (m *Model) stale(s *scene.Scene) bool {
	if m.about.session != "" {
		return s.In(m.values["datacenter"]).Stale
	}
	part := s.Of(s.Live.Find(m.about.election))
	return part.Stale || part.PartStale()
}

// lines splits a command at the newlines of its template, and sanitizes it.
func lines(parts []shell.Part) [][]term.Span {
	all := [][]term.Span{nil}
	add := func(s term.Span) { all[len(all)-1] = append(all[len(all)-1], s) }
	for _, p := range parts {
		if p.Value {
			add(term.Span{term.Accent, scene.OneLine(p.Text, shownValue)})
			continue
		}
		for i, text := range strings.Split(strings.TrimRight(p.Text, "\n"), "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			add(term.Span{term.Strong, clean(text)})
		}
	}
	return all
}

// clean sanitizes a part of a line. It keeps blanks at the ends.
func clean(text string) string {
	return sanitize.Text(strings.ReplaceAll(text, "\t", "  "))
}

// example is the template that the menu suggests if there are no commands.
const example = `commands:
  - name: uptime
    command: ssh -- {{node}} uptime`

func (m *Model) writeHowTo(page *term.Page) {
	page.Para(term.Text, "No command is configured. Add one to "+scene.OneLine(m.tools.File, 200)+":")
	page.Blank()
	for line := range strings.Lines(example) {
		page.Indented(2, term.Span{term.Accent, strings.TrimSuffix(line, "\n")})
	}
	page.Blank()
	page.Para(term.Quiet, "Fields: "+shell.FieldNames()+". docs/settings.md describes them.")
}

// View draws the menu over the drawn lines, which are width cells wide.
func (m Model) View(p *term.Painter, drawn []string, width int) {
	l := m.layout
	b := term.Box{Edge: term.Accent, Title: "Run a command for " + m.about.title, Foot: l.foot, Controls: m.buttons()}
	if len(m.tools.Templates) > 0 {
		b.Rows, b.First = true, m.at.Offset
		b.Body = l.list[m.at.Offset:min(len(l.list), m.at.Offset+l.rows)]
	} else {
		b.Body, b.Foot = l.howTo.Window(), [][]term.Span{{{term.Quiet, l.howTo.Position()}}}
	}
	b.Draw(p, drawn, l.width, width)
}

func (m *Model) buttons() []term.Control {
	gap := term.Blank(3)
	switch {
	case len(m.tools.Templates) == 0:
		return []term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]")}
	case m.confirming:
		return []term.Control{
			term.PressButton("esc", term.ButtonOn, "[ Back ]"), term.Blank(2), term.PressButton("y", term.Alarm, "  Run  "), gap, term.Hint("y", "run this command"),
		}
	}
	return []term.Control{term.PressButton("enter", term.ButtonOn, "[ Run ]"), gap, term.Hint("esc", "close")}
}
