// Package help shows the keys, symbols and commands: one page per view, a page about dialogs and a page about
// commands.
package help

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Model is the help. It covers the whole window except the first and the last line.
type Model struct {
	keys     keys.Map
	commands []Command
	page     int
	text     kit.Reader
}

// Command describes a command of the command line: its usage and its effect.
type Command struct{ Usage, About string }

// Open is the message that opens the help at a page. Page is the index of a view.
type Open struct{ Page int }

// New returns the help about these keys and commands.
func New(k keys.Map, commands []Command) Model { return Model{keys: k, commands: commands} }

// pages returns the pages about keys, then the page about commands.
func (m Model) pages() []keys.Page { return append(m.keys.Pages(), keys.Page{Title: "Commands"}) }

// Update handles a message. Ctrl+C quits. Any other key that does not turn or scroll a page closes the help.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	switch msg := msg.(type) {
	case Open:
		m.turn(msg.Page)
	case scene.Clicked:
		m.turn(msg.Index)
	case scene.Resized:
		m.fit(s.Sym, msg.W, msg.H)
	case scene.Wheeled:
		m.text.Scroll(msg.Step)
	case tea.KeyPressMsg:
		return m, m.pressed(msg)
	}
	return m, nil
}

func (m *Model) pressed(msg tea.KeyPressMsg) scene.Action {
	pages := len(m.pages())
	step, moves := m.keys.Step(msg, max(1, m.text.Rows), len(m.text.Lines))
	switch name := msg.String(); {
	case moves:
		m.text.Scroll(step)
	case key.Matches(msg, m.keys.NextTab), name == "right", name == "l":
		m.turn((m.page + 1) % pages)
	case key.Matches(msg, m.keys.PrevTab), name == "left", name == "h":
		m.turn((m.page + pages - 1) % pages)
	case name == "ctrl+c":
		return scene.Quit{}
	default:
		return scene.Close{}
	}
	return nil
}

// turn opens a page at its beginning.
func (m *Model) turn(page int) { m.page, m.text.Offset = page, 0 }

// frame is the number of lines outside the page: the title, and the first and the last line of the window.
const frame = 3

// titleEdge is the number of cells in the title line that the title and the tabs cannot use.
const titleEdge = 8

// fit lays out the page for a window.
func (m *Model) fit(sym *kit.Symbols, width, height int) {
	lines, rows := m.lines(sym, width-2), height-frame
	if len(lines) > rows {
		rows-- // the last row shows the scroll position
	}
	m.text.Show(lines, width, max(0, rows))
}

// View draws the page over all lines except the first and last.
func (m Model) View(p *kit.Painter, lines []string, width int) {
	var tabs []kit.Control
	for i, page := range m.pages() {
		role := kit.Quiet
		if i == m.page {
			role = kit.Accent
		}
		if i > 0 {
			tabs = append(tabs, kit.Label(kit.Span{Role: kit.Faint, Text: " " + p.Sym.Dot + " "}))
		}
		tabs = append(tabs, kit.TabTitle(i, role, page.Title))
	}
	title := "Help"
	if kit.ControlsWidth(tabs)+len(title)+titleEdge > width {
		title, tabs = title+": "+m.pages()[m.page].Title, []kit.Control{kit.BoundHint(m.keys.NextTab, "next page")}
	}
	lines[1] = p.RuleWith(width, []kit.Span{{Role: kit.Strong, Text: title}}, tabs)
	var page []string
	for _, spans := range m.text.Window() {
		page = append(page, p.Draw(width, append([]kit.Span{{Role: kit.Text, Text: " "}}, spans...)...))
	}
	if text := m.text.Position(); text != "" {
		page = append(page, p.Draw(width, kit.Span{Role: kit.Key, Text: " " + p.Sym.KeyMove}, kit.Span{Role: kit.Quiet, Text: " " + text}))
	}
	copy(lines[2:], p.Pad(page, width, len(lines)-frame))
}
