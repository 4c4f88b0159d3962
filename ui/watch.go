package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (m *Model) watch(texts []string) tea.Cmd {
	now := slices.Clone(m.Patterns)
	for _, text := range texts {
		p, err := election.ParsePattern(text)
		if err != nil {
			return m.refuse(scene.Clean(err.Error()))
		}
		now = election.Union(now, p.String())
	}
	if len(now) == len(m.Patterns) {
		return m.say(kit.Quiet, "Already watched: "+scene.Clean(strings.Join(now, ", ")))
	}
	return m.setPatterns(now)
}

func (m *Model) unwatch(text string) tea.Cmd {
	p, err := election.ParsePattern(text)
	left := election.Without(m.Patterns, func(text string) bool { return text == p.String() })
	switch {
	case err != nil || len(left) == len(m.Patterns):
		return m.refuse("Not a watched pattern. Watched: " + scene.Clean(strings.Join(m.Patterns, ", ")))
	case !slices.ContainsFunc(left, func(text string) bool { return !strings.HasPrefix(text, "!") }):
		return m.refuse("This is the only pattern that selects keys; add another pattern with :watch PATTERN first.")
	}
	return m.setPatterns(left)
}

// setPatterns replaces the watched patterns, which have been parsed before.
func (m *Model) setPatterns(texts []string) tea.Cmd {
	ps, _ := election.ParsePatterns(texts)
	m.Patterns = ps.Strings()
	m.opts.Backend.SetPatterns(ps)
	return m.say(kit.Led, "Watching "+scene.Clean(strings.Join(m.Patterns, ", ")))
}
