package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
	"electop/ui/shell"
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
	if m.view != viewElections {
		e = nil
	}
	return m.do(pages.Menu(m.opts.Commands, e, session, m.scene))
}

// openHelp opens the help at the page of the view.
func (m *Model) openHelp(string) tea.Cmd {
	return m.cover(pages.Help(m.keys, m.view))
}

// copyText copies text with the terminal sequence OSC 52.
func (m *Model) copyText(what, text string) tea.Cmd {
	if reason := shell.CopyRefusal(what, text); reason != "" {
		return m.refuse(reason)
	}
	m.say(kit.Led, "Copied the "+what+": "+scene.Clean(text))
	return tea.SetClipboard(text)
}

// openCopyMenu opens the menu of what can be copied from the selected election or session.
func (m *Model) openCopyMenu(string) tea.Cmd {
	var items []shell.Item
	of := ""
	switch e, session := m.scene.Selected, m.selectedSession(); {
	case session != nil:
		items, of = shell.OfSession(session), "session "+election.ShortID(session.ID)
	case m.view != viewElections || e == nil:
		return m.refuse("Nothing is selected: there is nothing to copy.")
	default:
		cluster, in := m.opts.Backend.Cluster(e.Datacenter), m.scene.Insight()
		items, of = cluster.OfElection(e), scene.Short(e.Name)
		command := ""
		if in.Fix != nil {
			command = in.Fix.Command
		}
		for _, f := range in.Advice {
			command = cmp.Or(command, f.Command)
		}
		if command != "" {
			items = append(items, shell.Item{Key: "f", What: "command that corrects the flags", Text: cluster.Consul(command, e.Datacenter)})
		}
	}
	rows := election.Map(items, func(item shell.Item) option { return option{item.Key, item.What, ""} })
	return m.menu("Copy from "+of, "Copy", rows, func(i int) tea.Cmd {
		if items[i].What == "value" && m.past != nil {
			return m.refuse("The history does not store values.")
		}
		return m.copyText(items[i].What, items[i].Text)
	})
}

// switchContext replaces this dashboard with the dashboard of another context. Without a name, it lists the contexts.
func (m *Model) switchContext(name string) tea.Cmd {
	switch {
	case m.opts.SwitchContext == nil || len(m.Contexts) == 0:
		return m.refuse("The config file defines no contexts.")
	case name == "":
		var rows []option
		for _, name := range m.Contexts {
			about := ""
			if name == m.Context {
				about = "current"
			}
			rows = append(rows, option{"", scene.Short(name), about})
		}
		return m.menu("Connect to another cluster", "Connect", rows, func(i int) tea.Cmd { return m.switchContext(m.Contexts[i]) })
	case !slices.Contains(m.Contexts, name):
		return m.refuse("Unknown context " + scene.Clean(name) + ". The contexts are " + scene.Clean(strings.Join(m.Contexts, ", ")) + ".")
	case name == m.Context:
		return m.say(kit.Quiet, "The current context is "+scene.Short(name)+".")
	}
	cmd := m.quit("")
	if cmd != nil { // nil means that the user must confirm quitting, because an action is in progress
		m.opts.SwitchContext(name)
	}
	return cmd
}
