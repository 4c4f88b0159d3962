package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
)

// option is a row of a menu. key, if set, chooses it.
type option struct{ key, text, about string }

// menu opens a menu. verb says what enter does with the row under the cursor.
func (m *Model) menu(title, verb string, rows []option, choose func(row int) tea.Cmd) tea.Cmd {
	o := &scene.Overlay{Sheet: kit.Sheet{Title: title, Width: 60, Menu: true}}
	take := func(row int) any {
		m.closeOverlay("")
		return choose(row)
	}
	o.Buttons = []kit.Button{
		{Key: "enter", Sign: m.keys.Enter, Label: verb, Hint: strings.ToLower(verb), Do: func() any { return take(o.Chosen()) }},
		{Key: "esc", Label: "Cancel"},
	}
	for i, row := range rows {
		if row.key != "" {
			o.Buttons = append(o.Buttons, kit.Button{Key: row.key, Do: func() any { return take(i) }})
		}
	}
	o.Write = func(page *kit.Page) {
		for i, row := range rows {
			if row.key != "" {
				row.key += "  "
			}
			page.Add(kit.Key.Span(row.key), kit.Text.Span(row.text), kit.Quiet.Span("  "+row.about))
			o.Row(page, i)
		}
	}
	return m.cover(o)
}

// openCommands opens the menu of the user's commands for the selected election or session.
func (m *Model) openCommands(string) tea.Cmd {
	e, session := m.scene.Selected, m.selectedSession()
	if m.view == viewSessions {
		e = nil
	}
	return m.do(pages.Menu(m.opts.Commands, e, session, m.scene))
}

// openHelp opens the help at the page of the view.
func (m *Model) openHelp(string) tea.Cmd {
	return m.cover(pages.Help(m.keys, m.view))
}
