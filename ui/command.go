package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// commandNames lists the commands for the error message about an unknown command.
func commandNames() string { return strings.Join(prompt.CommandUsages(), "  ") }

// commandHelp lists the commands for the help.
func commandHelp() (all []pages.Usage) {
	for _, c := range prompt.Commands() {
		all = append(all, pages.Usage{Usage: c.String(), About: c.About})
	}
	return all
}

// command runs a line typed after ":".
func (m *Model) command(text string) tea.Cmd {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "q", "quit":
		return m.quit()
	case "1", "elections", "2", "events", "3", "sessions":
		return m.show(viewNamed(word))
	case "sort":
		return m.toTable(scene.SortBy{Text: rest})
	case "filter", "f":
		return m.toView(scene.Filtered{Text: rest})
	case "go":
		return m.goTo(rest)
	case "since":
		return m.do(past.ShowSince(rest, m.scene.Now))
	case "report":
		if m.focus.view == viewElections {
			return m.do(past.ReportOn(m.scene.Selected, rest, m.scene.Now))
		}
		return m.toView(scene.Report{Since: rest})
	case "history":
		return showHistory(m)
	case "at":
		return m.out.travel.Jump(rest, m.scene)
	case "pause":
		return m.pause(!m.feed.paused)
	case "fix":
		if m.focus.view == viewElections {
			return openFix(m, ":fix")
		}
		m.say(kit.Delay, scene.Covered+".")
	case "release", "destroy":
		return choose(m, election.ActionKind(word), rest)
	case "discover":
		return m.discover()
	case "watch":
		watch(m, strings.Fields(rest))
	case "unwatch":
		unwatch(m, rest)
	case "drain":
		return openDrain(m, cmp.Or(rest, selectedNode(m)))
	case "doctor":
		return m.cover(pages.Doctor(m.ctx, m.opts.Doctor, m.keys))
	case "theme":
		setTheme(m, rest)
	case "ctx", "context":
		return switchContext(m, rest)
	case "help":
		return m.openHelp()
	default:
		m.say(kit.Delay, "Unknown command :"+scene.OneLine(word, 30)+". Commands: "+commandNames())
	}
	return nil
}

// discover searches the store of the selected datacenter for locks.
func (m *Model) discover() tea.Cmd {
	datacenter, where := selectedDatacenter(m), ""
	if m.scene.Several() {
		where = " in " + scene.OneLine(datacenter, 40)
	}
	return m.cover(pages.Locks(m.ctx, m.opts.Discover, datacenter, where, m.keys))
}

// choose requests an action on the rows that match a filter. Without a filter, it requests the action on the chosen
// rows, or shows a note if another view hides them.
func choose(m *Model, kind election.ActionKind, filter string) tea.Cmd {
	c := scene.Choose{Kind: kind, By: ":" + string(kind), Filter: filter}
	switch {
	case m.focus.view == viewEvents && filter == "":
		m.say(kit.Delay, scene.Covered+", or use "+c.By+" FILTER.")
	case kind == election.ActionRelease && filter != "": // sessions cannot be released
		return send(m, &m.board, c)
	default:
		return m.toTable(c)
	}
	return nil
}

// viewNamed returns the view with this number or name, or the Elections view if there is no such view.
func viewNamed(word string) view {
	return map[string]view{"2": viewEvents, "events": viewEvents, "3": viewSessions, "sessions": viewSessions}[word]
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

func setTheme(m *Model, name string) {
	theme, known := ThemeNamed(name)
	if !known {
		problem := "Usage: :theme NAME."
		if name != "" {
			problem = "Unknown theme " + scene.OneLine(name, 40) + "."
		}
		m.say(kit.Delay, problem+" Themes: "+strings.Join(Themes(), ", ")+".")
		return
	}
	m.look.theme = kit.Theme(theme)
	m.look = m.look.on(m.look.dark, m.look.profile)
	m.say(kit.Led, "Theme "+theme+".")
}

// switchContext replaces this dashboard with the dashboard of another context.
func switchContext(m *Model, name string) tea.Cmd {
	known := "The contexts are " + scene.OneLine(strings.Join(m.opts.Contexts, ", "), 200) + "."
	switch {
	case m.opts.SwitchContext == nil || len(m.opts.Contexts) == 0:
		m.say(kit.Delay, "The config file defines no contexts.")
	case name == "":
		m.say(kit.Quiet, known)
	case !slices.Contains(m.opts.Contexts, name):
		m.say(kit.Delay, "Unknown context "+scene.OneLine(name, 40)+". "+known)
	case name == m.opts.Context:
		m.say(kit.Quiet, "The current context is "+scene.OneLine(name, 40)+".")
	default:
		cmd := m.quit()
		if cmd != nil { // nil means that the user must confirm quitting, because an action is in progress
			m.opts.SwitchContext(name)
		}
		return cmd
	}
	return nil
}

// toTable sends a message to the table of the view. The Events view has no table, so the elections' table receives
// the message.
func (m *Model) toTable(msg tea.Msg) tea.Cmd {
	if m.focus.view == viewSessions {
		return send(m, &m.sessions, msg)
	}
	return send(m, &m.board, msg)
}

func (m *Model) goTo(name string) tea.Cmd {
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

func watch(m *Model, texts []string) {
	now := m.look.place.Patterns
	for _, text := range texts {
		p, err := election.ParsePattern(text)
		if err != nil {
			m.say(kit.Delay, scene.OneLine(err.Error(), 200))
			return
		}
		if !slices.Contains(now, p.String()) {
			now = append(slices.Clone(now), p.String())
		}
	}
	if len(now) == len(m.look.place.Patterns) {
		m.say(kit.Quiet, "Already watched: "+scene.OneLine(strings.Join(now, ", "), 200))
		return
	}
	setPatterns(m, now)
}

func unwatch(m *Model, text string) {
	now := m.look.place.Patterns
	p, err := election.ParsePattern(text)
	if err != nil || !slices.Contains(now, p.String()) {
		m.say(kit.Delay, "Not a watched pattern. Watched: "+scene.OneLine(strings.Join(now, ", "), 200))
		return
	}
	left := slices.DeleteFunc(slices.Clone(now), func(text string) bool { return text == p.String() })
	if !slices.ContainsFunc(left, func(text string) bool { return !strings.HasPrefix(text, "!") }) {
		m.say(kit.Delay, "This is the only pattern that selects keys; add another pattern with :watch PATTERN first.")
		return
	}
	setPatterns(m, left)
}

func setPatterns(m *Model, texts []string) {
	ps, err := election.ParsePatterns(texts)
	switch {
	case err != nil:
		m.say(kit.Delay, scene.OneLine(err.Error(), 200))
		return
	case m.opts.SetPatterns == nil:
		m.say(kit.Delay, "The patterns of this dashboard cannot be changed.")
		return
	}
	m.look.place.Patterns = ps.Strings()
	m.opts.SetPatterns(ps)
	m.say(kit.Led, "Watching "+scene.OneLine(strings.Join(ps.Strings(), ", "), 200))
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
