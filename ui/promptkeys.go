package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// openPrompt opens a prompt. A filter prompt starts with the current filter of the view.
func (m *Model) openPrompt(kind prompt.Kind) tea.Cmd {
	of, text := m.list().State(), ""
	if kind == prompt.Filter {
		text = of.Filter.Text
	}
	m.prompt = &prompt.Model{Kind: kind, Cursor: of.Cursor, Complete: m.complete, Scope: of.Scope, Commands: m.keys.Commands}
	m.prompt.Paste(text)
	return nil
}

// filtering reports whether the user types a filter.
func (m *Model) filtering() bool { return m.prompt != nil && m.prompt.Kind == prompt.Filter }

// promptKey handles the keys that close the prompt and those that move the cursor of the list. Other keys edit the
// line.
func (m *Model) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	p, filters := m.prompt, m.filtering()
	switch name := msg.String(); {
	case name == "enter":
		m.prompt = nil
		if !filters {
			return m.command(p.String())
		}
	case name == "esc":
		m.prompt = nil
		if filters {
			return tea.Batch(m.toView(scene.Filtered{}), m.toView(scene.GoTo{ID: p.Cursor}))
		}
	case filters && (name == "ctrl+p" || name == "ctrl+n"):
		cmd := m.toView(scene.Wheeled{Step: map[string]int{"ctrl+p": -1, "ctrl+n": 1}[name]})
		p.Cursor = m.list().State().Cursor
		return cmd
	case name == "backspace" && p.String() == "":
		m.prompt = nil
	default:
		return m.edit(func() { p.Press(msg) })
	}
	return nil
}

// edit changes the typed line. It applies a filter after each change to its text.
func (m *Model) edit(change func()) tea.Cmd {
	before := m.prompt.String()
	change()
	if text := m.prompt.String(); m.filtering() && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}

// command runs a line typed after ":". The names of the actions that have keys are commands, too.
func (m *Model) command(text string) tea.Cmd {
	word, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word == "" {
		return nil
	}
	if c := m.named(word); c != nil && (arg == "" || c.Usage != word) {
		return c.Run(strings.TrimSpace(arg))
	}
	var usages []string
	for _, c := range m.keys.Commands {
		usages = append(usages, ":"+c.Usage)
	}
	for _, r := range m.keys.Rows {
		if r.Name == word && r.Run != nil && arg == "" {
			return r.Run("")
		}
	}
	return m.refuse("Unknown command :" + sanitize.Line(text, 30) + ". Commands: " + strings.Join(usages, "  "))
}

// named returns the command with this name, or nil.
func (m *Model) named(word string) *keys.Command {
	if i := slices.IndexFunc(m.keys.Commands, func(c keys.Command) bool { return c.Word() == word }); i >= 0 {
		return &m.keys.Commands[i]
	}
	return nil
}

// complete returns the options that can replace the end of the typed text.
func (m *Model) complete(text string) (start int, options []string) {
	if m.filtering() {
		return m.filters(text)
	}
	word, arg, found := strings.Cut(text, " ")
	if !found {
		return 0, prompt.First(m.keys.Commands, m.scene, text)
	}
	if c := m.named(word); c != nil && c.Complete != nil {
		start, options = c.Complete(arg)
		return len(word) + 1 + start, options
	}
	return 0, nil
}

// values returns the function that completes one of several values.
func values(list func() []string) func(string) (int, []string) {
	return func(text string) (int, []string) { return 0, prompt.Find(text, list()) }
}

// words is like values, with constant values.
func words(all ...string) func(string) (int, []string) {
	return values(func() []string { return all })
}

// fields returns the function that completes a value of a field of the elections.
func (m *Model) fields(name string) func(string) (int, []string) {
	return values(func() []string { return prompt.Values(m.scene, name) })
}

// filters completes a filter of the view.
func (m *Model) filters(text string) (int, []string) {
	return prompt.CompleteFilter(m.scene, m.list().State().Scope, text)
}

// orders lists the sort orders of the view.
func (m *Model) orders() (all []string) {
	for _, name := range m.list().State().Sorts {
		all = append(all, name, name+" reverse")
	}
	return all
}

// commonPatterns lists the patterns of all presets, except for the watched ones.
func (m *Model) commonPatterns() (patterns []string) {
	for _, p := range insight.Presets() {
		patterns = election.Union(patterns, p.Patterns...)
	}
	return election.Without(patterns, func(text string) bool { return slices.Contains(m.Patterns, text) })
}
