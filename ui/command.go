package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// filter opens the prompt, or sets the filter that the user typed.
func filter(m *Model, by, text string) tea.Cmd {
	if by != ":filter" {
		return openPrompt(m, prompt.Filter)
	}
	return m.toView(scene.Filtered{Text: text})
}

func sort(m *Model, by, order string) tea.Cmd {
	switch {
	case by != ":sort":
		return toFocused(m, keys.Press(by))
	case m.focus.view == viewEvents:
		return m.refuse("Events are sorted by time.")
	}
	return m.toView(scene.SortBy{Text: order})
}

func report(m *Model, _, since string) tea.Cmd {
	if m.focus.view == viewElections {
		return m.do(past.ReportOn(m.scene.Selected, since, m.scene.Now))
	}
	return m.toView(scene.Report{Since: since})
}

func step(by int) func(*Model, string, string) tea.Cmd {
	return func(m *Model, _, _ string) tea.Cmd { return m.out.travel.Step(by, m.scene, m.board.Listed()) }
}

func toDetail(m *Model, by, _ string) tea.Cmd {
	if m.focus.view == viewElections {
		return send(m, &m.detail, keys.Press(by))
	}
	return m.toView(keys.Press(by))
}

// back undoes one step.
func back(m *Model) tea.Cmd {
	switch {
	case m.feed.past != nil || m.out.travel.Busy():
		return m.out.travel.Leave()
	case m.focus.zoom:
		m.focus.zoom = false
		return send(m, &m.detail, scene.Back{})
	}
	return m.toView(scene.Back{})
}

// discover searches the store of the selected datacenter for locks.
func discover(m *Model) tea.Cmd {
	datacenter, where := selectedDatacenter(m), ""
	if m.scene.Several() {
		where = " in " + scene.OneLine(datacenter, 40)
	}
	return m.cover(pages.Locks(m.ctx, m.opts.Backend.Discover, datacenter, where, m.keys))
}

// choose requests an action on the rows that match a filter. Without a filter, it requests the action on the chosen
// rows, or shows a note if another view hides them.
func choose(m *Model, kind election.ActionKind, by, filter string) tea.Cmd {
	c := scene.Choose{Kind: kind, By: by, Filter: filter}
	switch {
	case m.focus.view == viewEvents && filter == "":
		return m.refuse(scene.Covered + ", or use :" + string(kind) + " FILTER.")
	case kind == election.ActionRelease && filter != "": // sessions cannot be released
		return send(m, &m.board, c)
	case m.focus.view == viewSessions:
		return send(m, &m.sessions, c)
	}
	return send(m, &m.board, c)
}

// showHistory shows the history page of the selected election in the whole window.
func showHistory(m *Model) tea.Cmd {
	if m.scene.Selected == nil {
		m.say(kit.Delay, "No election is selected: there is no history to show.")
		return nil
	}
	cmd := m.show(viewElections)
	m.focus.zoom = true
	return tea.Batch(cmd, send(m, &m.detail, scene.OpenHistory{}))
}

func setTheme(m *Model, _, name string) tea.Cmd {
	theme, known := ThemeNamed(name)
	if !known {
		problem := "Usage: :theme NAME."
		if name != "" {
			problem = "Unknown theme " + scene.OneLine(name, 40) + "."
		}
		return m.refuse(problem + " Themes: " + strings.Join(Themes(), ", ") + ".")
	}
	m.look.theme = kit.Theme(theme)
	m.look = m.look.on(m.look.dark, m.look.profile)
	m.say(kit.Led, "Theme "+theme+".")
	return nil
}

// switchContext replaces this dashboard with the dashboard of another context. Without a name, it lists the contexts.
func switchContext(m *Model, _, name string) tea.Cmd {
	switch {
	case m.opts.SwitchContext == nil || len(m.opts.Contexts) == 0:
		return m.refuse("The config file defines no contexts.")
	case name == "":
		return m.cover(contexts(m), nil)
	case !slices.Contains(m.opts.Contexts, name):
		return m.refuse("Unknown context " + scene.OneLine(name, 40) + ". The contexts are " + scene.OneLine(strings.Join(m.opts.Contexts, ", "), 200) + ".")
	case name == m.opts.Context:
		m.say(kit.Quiet, "The current context is "+scene.OneLine(name, 40)+".")
		return nil
	}
	cmd := m.quit()
	if cmd != nil { // nil means that the user must confirm quitting, because an action is in progress
		m.opts.SwitchContext(name)
	}
	return cmd
}

func goTo(m *Model, _, name string) tea.Cmd {
	found := m.scene.Shown.Named(name)
	switch len(found) {
	case 0:
		m.say(kit.Delay, "No election is named "+scene.OneLine(name, 60)+".")
	case 1:
		return m.showElection(string(found[0].ID()))
	default:
		if m.scene.Several() && found[0].Key() == found[1].Key() {
			m.say(kit.Delay, scene.OneLine(name, 60)+" exists in several datacenters: use the filter election:"+scene.OneLine(name, 60)+", then select a row.")
			return nil
		}
		m.say(kit.Delay, scene.OneLine(name, 60)+" is ambiguous ("+kit.Plural(len(found), "election")+"): use the full key.")
	}
	return nil
}

func watch(m *Model, texts []string) tea.Cmd {
	now := m.look.place.Patterns
	for _, text := range texts {
		p, err := election.ParsePattern(text)
		if err != nil {
			return m.refuse(scene.OneLine(err.Error(), 200))
		}
		if !slices.Contains(now, p.String()) {
			now = append(slices.Clone(now), p.String())
		}
	}
	if len(now) == len(m.look.place.Patterns) {
		m.say(kit.Quiet, "Already watched: "+scene.OneLine(strings.Join(now, ", "), 200))
		return nil
	}
	return setPatterns(m, now)
}

func unwatch(m *Model, _, text string) tea.Cmd {
	now := m.look.place.Patterns
	p, err := election.ParsePattern(text)
	if err != nil || !slices.Contains(now, p.String()) {
		return m.refuse("Not a watched pattern. Watched: " + scene.OneLine(strings.Join(now, ", "), 200))
	}
	left := slices.DeleteFunc(slices.Clone(now), func(text string) bool { return text == p.String() })
	if !slices.ContainsFunc(left, func(text string) bool { return !strings.HasPrefix(text, "!") }) {
		return m.refuse("This is the only pattern that selects keys; add another pattern with :watch PATTERN first.")
	}
	return setPatterns(m, left)
}

func setPatterns(m *Model, texts []string) tea.Cmd {
	ps, err := election.ParsePatterns(texts)
	if err != nil {
		return m.refuse(scene.OneLine(err.Error(), 200))
	}
	m.look.place.Patterns = ps.Strings()
	m.opts.Backend.SetPatterns(ps)
	m.say(kit.Led, "Watching "+scene.OneLine(strings.Join(ps.Strings(), ", "), 200))
	return nil
}

// hintMsg is the number of locks found outside the patterns. It is a lower bound unless the search was complete.
type hintMsg struct {
	locks    int
	complete bool
}

// hint shows the number of found locks once no other note is shown: it must not replace the response to a key press.
func hint(m *Model, found hintMsg) tea.Cmd {
	switch rest := m.note.until.Sub(m.feed.now); {
	case found.locks == 0, !slices.Equal(m.look.place.Patterns, m.opts.Patterns): // the locks were counted for the initial patterns
		return nil
	case rest > 0:
		return tea.Tick(rest, func(time.Time) tea.Msg { return found })
	}
	text := kit.Plural(found.locks, "more lock") + " outside the patterns: see :discover"
	if !found.complete {
		text = "At least " + text
	}
	m.say(kit.Quiet, text)
	return nil
}

// searchHint returns the search for locks outside the patterns once, as soon as the board is complete.
func searchHint(m *Model) (search tea.Cmd) {
	if m.feed.live.Loaded {
		search, m.out.hint = m.out.hint, nil
	}
	return search
}
