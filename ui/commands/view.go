package commands

import (
	"strings"

	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// menuWidth is the maximum width of the menu, in cells. frame is the number of lines of the window that show neither
// the list nor the command. leastRows is the minimum number of visible commands.
const (
	menuWidth = 100
	frame     = kit.BoxFrame + 1
	leastRows = 2
)

// shownValue is the maximum length of a value on the screen, in runes.
const shownValue = 200

// layout is the menu as drawn in a window.
type layout struct {
	width, rows int
	list, foot  [][]kit.Span
	// howTo explains how to add a command. The menu shows it if there are no commands.
	howTo kit.Reader
}

// fit computes the layout of the menu for a window.
func (m *Model) fit(s *scene.Scene, width, height int) {
	l := layout{width: min(menuWidth, width-kit.BoxSides), howTo: m.layout.howTo}
	page := &kit.Page{Width: l.width - kit.BoxSides, Sym: s.Sym}
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
		l.foot[room-1] = []kit.Span{{kit.Delay, kit.Plural(hidden+1, "more line") + " of this command"}}
	}
	l.rows = max(1, height-frame-len(l.foot))
	m.at.Scroll(l.rows, len(l.list))
	m.layout = l
}

// list returns a line for each command.
func (m *Model) list(sym *kit.Symbols, width int) [][]kit.Span {
	column := 0
	for _, t := range m.tools.Templates {
		column = max(column, kit.Width(t.Name))
	}
	column = min(column, width/2)
	var lines [][]kit.Span
	for i, t := range m.tools.Templates {
		mark, role := "  ", kit.Text
		if i == m.at.Index {
			mark, role = sym.Cursor+" ", kit.Strong
		}
		name, _ := kit.Cut(t.Name, column, sym.Ellipsis)
		about, _ := kit.Cut(t.About, max(0, width-column-6), sym.Ellipsis)
		lines = append(lines, []kit.Span{
			{kit.Accent, mark}, {kit.Key, kit.PadTo(t.Key, 2)}, {role, kit.PadTo(name, column) + "  "}, {kit.Quiet, about},
		})
	}
	return lines
}

// writeCommand writes the selected command with its values, or the reason why it cannot run.
func (m *Model) writeCommand(page *kit.Page, s *scene.Scene) {
	c, err := m.tools.Templates[m.at.Index].Command.Expand(m.values)
	if err != nil {
		page.Para(kit.Delay, "This command cannot run: "+err.Error()+".")
		return
	}
	if m.stale(s) {
		page.Para(kit.Delay, staleText)
	}
	sign := "$ "
	for _, line := range lines(c.Shown) {
		page.Beside([]kit.Span{{kit.Key, sign}}, len(sign), line...)
		sign = "  "
	}
}

const staleText = "Consul does not respond or rejects the query: these fields may be stale."

// stale reports whether the fields may be stale.
func (m *Model) stale(s *scene.Scene) bool {
	if m.about.session != "" {
		return s.In(m.values["ELECTOP_DATACENTER"]).Stale
	}
	part := s.Of(s.Live.Find(m.about.election))
	return part.Stale || part.PartStale()
}

// lines splits a command at the newlines of its template, and sanitizes it.
func lines(parts []shell.Part) [][]kit.Span {
	all := [][]kit.Span{nil}
	add := func(s kit.Span) { all[len(all)-1] = append(all[len(all)-1], s) }
	for _, p := range parts {
		if p.Value {
			add(kit.Span{kit.Accent, scene.OneLine(p.Text, shownValue)})
			continue
		}
		for i, text := range strings.Split(strings.TrimRight(p.Text, "\n"), "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			add(kit.Span{kit.Strong, clean(text)})
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
    command: ssh -- "$ELECTOP_NODE" uptime`

func (m *Model) writeHowTo(page *kit.Page) {
	page.Para(kit.Text, "No command is configured. Add one to "+scene.OneLine(m.tools.File, 200)+":")
	page.Blank()
	for line := range strings.Lines(example) {
		page.Indented(2, kit.Span{kit.Accent, strings.TrimSuffix(line, "\n")})
	}
	page.Blank()
	page.Para(kit.Quiet, "Variables: "+shell.FieldNames()+". docs/settings.md describes them.")
}

// View draws the menu over the drawn lines, which are width cells wide.
func (m Model) View(p *kit.Painter, drawn []string, width int) {
	l := m.layout
	b := kit.Box{Edge: kit.Accent, Title: "Run a command for " + m.about.title, Foot: l.foot, Controls: m.buttons()}
	if len(m.tools.Templates) > 0 {
		b.Rows, b.First = true, m.at.Offset
		b.Body = l.list[m.at.Offset:min(len(l.list), m.at.Offset+l.rows)]
	} else {
		b.Body, b.Foot = l.howTo.Window(), [][]kit.Span{{{kit.Quiet, l.howTo.Position()}}}
	}
	b.Draw(p, drawn, l.width, width)
}

func (m *Model) buttons() []kit.Control {
	gap := kit.Blank(3)
	switch {
	case len(m.tools.Templates) == 0:
		return []kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]")}
	case m.confirming:
		return []kit.Control{
			kit.PressButton("esc", kit.ButtonOn, "[ Back ]"), kit.Blank(2), kit.PressButton("y", kit.Alarm, "  Run  "), gap, kit.Hint("y", "run this command"),
		}
	}
	return []kit.Control{kit.PressButton("enter", kit.ButtonOn, "[ Run ]"), gap, kit.Hint("esc", "close")}
}
