package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// newKeys returns the tables of all actions: dispatch, footers, help, settings and completion use the same rows. m may
// be nil if nothing runs.
func newKeys(m *Model, ascii bool, custom map[string][]string) *keys.Map {
	k := &keys.Map{Commands: m.commands()}
	k.Rows = m.rows(k)
	k.Bind(ascii, custom)
	return k
}

// run is the function of a row.
type run = func(arg string) tea.Cmd

// rows returns the actions that have keys. The keys follow the conventions of k9s, lazygit and vim.
func (m *Model) rows(k *keys.Map) []keys.Row {
	const (
		all    = "views"
		both   = "elections, sessions"
		panels = "views, zoom, past, empty"
	)
	step := func(by int) run {
		return func(string) tea.Cmd {
			if ev := m.events.Earlier(m.scene); m.view == viewEvents && by < 0 && ev != nil {
				return m.travel.StepTo(ev, m.scene)
			}
			return m.travel.Step(by, m.scene, m.board.Listed())
		}
	}
	open := func(kind prompt.Kind) run { return func(string) tea.Cmd { return m.openPrompt(kind) } }
	return []keys.Row{ // name, keys, text, group and pages of the help, footers, binding, function
		{"back", "esc", "back", "Everywhere", all, "zoom, past=now", &k.Back, m.back},
		{"earlier", "[", "previous event", "Everywhere", all, "past=earlier", &k.Earlier, step(-1)},
		{"later", "]", "next event", "Everywhere", all, "past=later", &k.Later, step(1)},
		{"down", "j down", "move", "Move", all, "views, past, zoom=scroll", &k.Down, nil},
		{"up", "k up", "up", "Move", all, "", &k.Up, nil},
		{"open", "enter", "open", "Look", "elections, events=open the event; again: open its election, sessions", "views, past", &k.Open, nil},
		{"filter", "/", "filter", "Everywhere", all, "views, past", nil, open(prompt.Filter)},
		{"top", "g home", "first", "Move", "elections, events=newest; follow new events, sessions", "events=newest", &k.Top, nil},
		{"bottom", "G end", "last", "Move", all, "", &k.Bottom, nil},
		{"half-down", "ctrl+d", "half a page down", "Move", all, "", &k.HalfDown, nil},
		{"half-up", "ctrl+u", "half a page up", "Move", all, "", &k.HalfUp, nil},
		{"page-down", "pgdown ctrl+f", "one page down", "Move", all, "", &k.PageDown, nil},
		{"page-up", "pgup ctrl+b", "one page up", "Move", all, "", &k.PageUp, nil},
		{"next-problem", "n", "next problem", "Move", "elections", "", &k.NextProblem, nil},
		{"previous-problem", "N", "previous problem", "Move", "elections", "", &k.PrevProblem, nil},
		{"fix", "f", "explain and fix a vacancy", "Act", "elections", "elections=fix…, zoom=fix…", nil, m.openFix},
		{"release", "r", "release", "Act", "elections", "elections, zoom", &k.Release, m.choose(election.ActionRelease)},
		{"destroy", "x", "destroy", "Act", "elections, sessions=destroy the session", "elections, zoom, sessions", &k.Destroy, m.choose(election.ActionDestroy)},
		{"longer-lane", "-", "longer lanes, up to 30 days", "Look", "elections", "past=longer lanes", &k.LongerLane, nil},
		{"shorter-lane", "+ =", "shorter lanes, min. 1 minute", "Look", "elections", "past=shorter lanes", &k.ShorterLane, nil},
		{"sort", "s", "sort", "Look", both, "elections, sessions, past", &k.Sort, nil},
		{"reverse", "S", "reverse the sort order", "Look", both, "", &k.Reverse, nil},
		{"next-tab", "tab", "next page", "Look", "elections", "zoom, elections=page, past=page", &k.NextTab, nil},
		{"previous-tab", "shift+tab", "previous page", "Look", "elections", "", &k.PrevTab, nil},
		{"pane-down", "J shift+down", "scroll the pane down", "Look", both, "", &k.PaneDown, nil},
		{"pane-up", "K shift+up", "scroll the pane up", "Look", both, "", &k.PaneUp, nil},
		{"mark", "space", "mark and move down", "Mark", both, "elections=mark, sessions=mark", &k.Mark, nil},
		{"mark-all", "a", "mark all shown rows", "Mark", both, "", &k.MarkAll, nil},
		{"unmark", "A", "unmark all", "Mark", both, "", &k.Unmark, nil},
		{"drain", "D", "drain the selected row's node", "Everywhere", all, "elections=drain, sessions=drain", nil, m.openDrain},
		{"copy", "c", "copy a field or a command", "Look", both, "zoom=copy, sessions=copy", nil, m.openCopyMenu},
		{"report", "E", "write an incident report", "Look", "elections, events=write an incident report about the elections of the listed events", "zoom=report, events=report", &k.Report, m.startReport},
		{"run", "!", "run a configured command", "Act", both, "", nil, m.openCommands},
		{"elections", "1", "elections", "Everywhere", all, "events, sessions", nil, m.to(viewElections)},
		{"events", "2", "events", "Everywhere", all, "elections, sessions, past, empty", nil, m.to(viewEvents)},
		{"sessions", "3", "sessions", "Everywhere", all, "elections, events, empty", nil, m.to(viewSessions)},
		{"command", ":", "command", "Everywhere", all, "empty", &k.Command, open(prompt.Command)},
		{"pause", "p", "pause", "Everywhere", all, "views", &k.Pause, m.togglePause},
		{"results", "u", "actions and their results", "Everywhere", all, "", &k.Results, func(string) tea.Cmd { return m.log.Show() }},
		{"mouse", "M", "turn the mouse on or off", "Everywhere", all, "", &k.Mouse, m.toggleMouse},
		{"help", "?", "help", "Everywhere", all, panels, nil, m.openHelp},
		{"suspend", "ctrl+z", "suspend", "Everywhere", all, "", &k.Suspend, nil},
		{"quit", "q ctrl+c", "quit", "Everywhere", all, panels, &k.Quit, m.quit},
	}
}

// commands returns the actions of the command line.
func (m *Model) commands() []keys.Command {
	return []keys.Command{ // usage, text, function, completion of the argument
		{"filter TEXT", "filter the list, like /", func(text string) tea.Cmd { return m.toView(scene.Filtered{Text: text}) }, m.filters},
		{"fix", "show why the election has no leader, and the fix", m.openFix, nil},
		{"release [FILTER]", "release the selected, marked or matching elections", m.choose(election.ActionRelease), func(text string) (int, []string) { return prompt.CompleteFilter(m.scene, query.Elections, text) }},
		{"destroy [FILTER]", "like :release, but destroy the sessions", m.choose(election.ActionDestroy), m.filters},
		{"sort KEY [reverse]", "sort the list", m.sort, values(m.orders)},
		{"drain [NODE…]", "move every leader off a node", m.openDrain, m.fields("node")},
		{"report [SINCE]", "write an incident report about the election, or those of the listed events", m.startReport, words("15m", "1h", "24h", "7d")},
		{"1", "show the elections", m.to(viewElections), nil},
		{"2", "show the events", m.to(viewEvents), nil},
		{"3", "show the sessions", m.to(viewSessions), nil},
		{"pause", "pause or resume the board", m.togglePause, nil},
		{"help", "show the keys, symbols and commands", m.openHelp, nil},
		{"q", "quit", m.quit, nil},
		{"go NAME", "select an election by name or key", m.goTo, m.fields("election")},
		{"at TIME", "show the board at a past time, or now", func(at string) tea.Cmd { return m.travel.Jump(at, m.scene) }, words("-10m", "-1h", "-24h", "now")},
		{"since 24h", "show the events of this period", m.since, words("15m", "1h", "24h", "7d")},
		{"history", "show the history of the election", m.showHistory, nil},
		{"discover", "find all locks in the store", m.discover, nil},
		{"watch PATTERN", "also watch the keys that match this pattern", func(texts string) tea.Cmd { return m.watch(strings.Fields(texts)) }, values(m.commonPatterns)},
		{"unwatch PATTERN", "remove a watched pattern", m.unwatch, values(func() []string { return m.Patterns })},
		{"doctor", "show what this address and token can read and do", func(string) tea.Cmd { return m.cover(pages.Doctor(m.ctx, m.opts.Backend.Doctor)) }, nil},
		{"theme NAME", "change the colours", m.setTheme, words(kit.Themes()...)},
		{"ctx [NAME]", "connect to another configured cluster", m.switchContext, values(func() []string { return m.Contexts })},
	}
}

// NewKeys returns the bindings of the dashboard, with the keys that custom replaces.
func NewKeys(ascii bool, custom map[string][]string) keys.Map { return *newKeys(nil, ascii, custom) }

// ParseKeys checks key bindings. An error is a [keys.Error].
func ParseKeys(custom map[string][]string) (map[string][]string, error) {
	return custom, newKeys(nil, false, nil).Check(custom)
}

// boardKey handles a key while no overlay and no prompt is open.
func (m *Model) boardKey(msg tea.KeyPressMsg) tea.Cmd {
	for _, r := range m.keys.Rows {
		if r.Run != nil && key.Matches(msg, *r.Bind) { // it refuses the views that hide its rows
			return r.Run("")
		}
	}
	if k := &m.keys; m.view == viewElections && (m.zoom || key.Matches(msg, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp)) {
		return m.send(m.detail, msg)
	}
	return m.toView(msg)
}
