package ui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
	"electop/ui/prompt"
	"electop/ui/scene"
	"electop/ui/sessions"
	"electop/ui/shell"
)

// action is one row of the table of actions. Dispatch, footers, help, settings and completion use the same row.
type action struct {
	keys.Row
	// run carries out the action. by is the pressed key, or the command with its colon. arg is the argument of a command.
	// If run is nil, the part of the screen with the focus handles the key.
	run func(m *Model, by, arg string) tea.Cmd
	// complete completes the argument of a command.
	complete func(m *Model, text string) (start int, options []string)
}

// actions returns all actions. The bindings of those that components handle are fields of k. The keys follow the
// conventions of k9s, lazygit and vim.
func actions(k *keys.Map, ascii bool) []action {
	move, fix := "↑↓", "fix…"
	if k.Enter = "⏎"; ascii {
		k.Enter, move, fix = "enter", "j/k", "fix..."
	}
	const everywhere = "elections, events, sessions"
	view := func(v view) func(*Model, string, string) tea.Cmd {
		return plain(func(m *Model) tea.Cmd { return m.show(v) })
	}
	act := func(kind election.ActionKind) func(*Model, string, string) tea.Cmd {
		return func(m *Model, by, filter string) tea.Cmd { return choose(m, kind, by, filter) }
	}
	return append([]action{
		{Row: keys.Row{Name: "back", Keys: "esc", About: "back", Group: "Everywhere", Help: everywhere, Foot: "zoom, session, past=now", Bind: &k.Back}, run: plain(back)},
		{Row: keys.Row{Name: "earlier", Keys: "[", About: "previous event", Group: "Everywhere", Help: everywhere, Foot: "past=earlier", Bind: &k.Earlier}, run: step(-1)},
		{Row: keys.Row{Name: "later", Keys: "]", About: "next event", Group: "Everywhere", Help: everywhere, Foot: "past=later", Bind: &k.Later}, run: step(1)},
		{Row: keys.Row{Name: "down", Keys: "j down", Sign: move, About: "move", Group: "Move", Help: everywhere, Foot: "elections, events, sessions, past, zoom=scroll, session=scroll", Bind: &k.Down}},
		{Row: keys.Row{Name: "up", Keys: "k up", About: "up", Group: "Move", Help: everywhere, Bind: &k.Up}},
		{Row: keys.Row{Name: "open", Keys: "enter", Sign: k.Enter, About: "open", Group: "Look", Help: "elections, events=open the event; again: open its election, sessions", Foot: "elections, events, sessions, past", Bind: &k.Open}},
		{Row: keys.Row{Name: "filter", Keys: "/", About: "filter", Group: "Everywhere", Help: everywhere, Foot: "elections, events, sessions, past", Bind: &k.Filter, Command: "filter TEXT", Says: "filter the list, like /"}, run: filter, complete: filters},
		{Row: keys.Row{Name: "top", Keys: "g home", About: "first", Group: "Move", Help: "elections, events=newest; follow new events, sessions", Foot: "events=newest", Bind: &k.Top}},
		{Row: keys.Row{Name: "bottom", Keys: "G end", About: "last", Group: "Move", Help: everywhere, Bind: &k.Bottom}},
		{Row: keys.Row{Name: "half-down", Keys: "ctrl+d", About: "half a page down", Group: "Move", Help: everywhere, Bind: &k.HalfDown}},
		{Row: keys.Row{Name: "half-up", Keys: "ctrl+u", About: "half a page up", Group: "Move", Help: everywhere, Bind: &k.HalfUp}},
		{Row: keys.Row{Name: "page-down", Keys: "pgdown ctrl+f", About: "one page down", Group: "Move", Help: everywhere, Bind: &k.PageDown}},
		{Row: keys.Row{Name: "page-up", Keys: "pgup ctrl+b", About: "one page up", Group: "Move", Help: everywhere, Bind: &k.PageUp}},
		{Row: keys.Row{Name: "next-problem", Keys: "n", About: "next problem", Group: "Move", Help: "elections", Bind: &k.NextTrouble}},
		{Row: keys.Row{Name: "previous-problem", Keys: "N", About: "previous problem", Group: "Move", Help: "elections", Bind: &k.PrevTrouble}},
		{Row: keys.Row{Name: "fix", Keys: "f", About: "explain and fix a vacancy", Group: "Act", Help: "elections", Foot: "elections=" + fix + ", zoom=" + fix, Command: "fix", Says: "show why the election has no leader, and the fix"}, run: openFix},
		{Row: keys.Row{Name: "release", Keys: "r", About: "release", Group: "Act", Help: "elections", Foot: "elections, zoom", Bind: &k.Release, Command: "release [FILTER]", Says: "release the selected, marked or matching elections"}, run: act(election.ActionRelease), complete: electionFilters},
		{Row: keys.Row{Name: "destroy", Keys: "x", About: "destroy", Group: "Act", Help: "elections, sessions=destroy the session", Foot: "elections, zoom, sessions, session", Bind: &k.Destroy, Command: "destroy [FILTER]", Says: "like :release, but destroy the sessions"}, run: act(election.ActionDestroy), complete: filters},
		{Row: keys.Row{Name: "scan", Keys: "f", About: "scan all keys", Group: "Look", Help: "sessions", Foot: "sessions, session", Bind: &k.Scan}},
		{Row: keys.Row{Name: "longer-lane", Keys: "-", About: "longer lanes, up to 30 days", Group: "Look", Help: "elections", Foot: "past=longer lanes", Bind: &k.LongerLane}},
		{Row: keys.Row{Name: "shorter-lane", Keys: "+ =", About: "shorter lanes, min. 1 minute", Group: "Look", Help: "elections", Foot: "past=shorter lanes", Bind: &k.ShorterLane}},
		{Row: keys.Row{Name: "sort", Keys: "s", About: "sort", Group: "Look", Help: "elections, sessions", Foot: "elections, sessions, past", Bind: &k.Sort, Command: "sort KEY [reverse]", Says: "sort the list"}, run: sort, complete: values(orders)},
		{Row: keys.Row{Name: "reverse", Keys: "S", About: "reverse the sort order", Group: "Look", Help: "elections, sessions", Bind: &k.Reverse}},
		{Row: keys.Row{Name: "next-tab", Keys: "tab", About: "next page", Group: "Look", Help: "elections", Foot: "zoom, elections=page, past=page", Bind: &k.NextTab}, run: toDetail},
		{Row: keys.Row{Name: "previous-tab", Keys: "shift+tab", About: "previous page", Group: "Look", Help: "elections", Bind: &k.PrevTab}, run: toDetail},
		{Row: keys.Row{Name: "pane-down", Keys: "J shift+down", About: "scroll the pane down", Group: "Look", Help: "elections, sessions", Bind: &k.PaneDown}, run: toDetail},
		{Row: keys.Row{Name: "pane-up", Keys: "K shift+up", About: "scroll the pane up", Group: "Look", Help: "elections, sessions", Bind: &k.PaneUp}, run: toDetail},
		{Row: keys.Row{Name: "mark", Keys: "space", About: "mark and move down", Group: "Mark", Help: "elections, sessions", Foot: "elections=mark, sessions=mark", Bind: &k.Mark}},
		{Row: keys.Row{Name: "mark-range", Keys: "V", About: "mark a range", Group: "Mark", Help: "elections, sessions", Bind: &k.MarkRange}},
		{Row: keys.Row{Name: "mark-all", Keys: "a", About: "mark all shown rows", Group: "Mark", Help: "elections, sessions", Bind: &k.MarkAll}},
		{Row: keys.Row{Name: "invert-marks", Keys: "i", About: "invert marks of shown rows", Group: "Mark", Help: "elections, sessions", Bind: &k.Invert}},
		{Row: keys.Row{Name: "unmark", Keys: "A", About: "unmark all", Group: "Mark", Help: "elections, sessions", Bind: &k.Unmark}},
		{Row: keys.Row{Name: "drain", Keys: "D", About: "drain the selected row's node", Group: "Everywhere", Help: everywhere, Foot: "elections=drain, sessions=drain", Command: "drain [NODE]", Says: "move every leader off a node"}, run: func(m *Model, _, node string) tea.Cmd { return openDrain(m, cmp.Or(node, selectedNode(m))) }, complete: fields("node")},
		{Row: keys.Row{Name: "copy", Keys: "c", About: "copy a field or a command", Group: "Look", Help: "elections, sessions", Foot: "zoom=copy, sessions=copy, session=copy"}, run: plain(openCopyMenu)},
		{Row: keys.Row{Name: "report", Keys: "E", About: "write an incident report", Group: "Look", Help: "elections, events=write an incident report about the listed events", Foot: "zoom=report, events=report", Bind: &k.Report, Command: "report [SINCE]", Says: "write an incident report about the election or the listed events"}, run: report, complete: words("15m", "1h", "24h", "7d")},
		{Row: keys.Row{Name: "run", Keys: "!", About: "run a configured command", Group: "Act", Help: "elections, sessions"}, run: plain(openCommands)},
		{Row: keys.Row{Name: "elections", Keys: "1", About: "elections", Group: "Everywhere", Help: everywhere, Foot: "events, sessions, session", Command: "1", Says: "show the elections"}, run: view(viewElections)},
		{Row: keys.Row{Name: "events", Keys: "2", About: "events", Group: "Everywhere", Help: everywhere, Foot: "elections, sessions, past, empty", Command: "2", Says: "show the events"}, run: view(viewEvents)},
		{Row: keys.Row{Name: "sessions", Keys: "3", About: "sessions", Group: "Everywhere", Help: everywhere, Foot: "elections, events, empty", Command: "3", Says: "show the sessions"}, run: view(viewSessions)},
		{Row: keys.Row{Name: "command", Keys: ":", About: "command", Group: "Everywhere", Help: everywhere, Foot: "empty", Bind: &k.Command}, run: func(m *Model, _, _ string) tea.Cmd { return openPrompt(m, prompt.Command) }},
		{Row: keys.Row{Name: "pause", Keys: "p", About: "pause", Group: "Everywhere", Help: everywhere, Foot: "elections, events, sessions", Bind: &k.Pause, Command: "pause", Says: "pause or resume the board"}, run: plain((*Model).togglePause)},
		{Row: keys.Row{Name: "results", Keys: "u", About: "actions and their results", Group: "Everywhere", Help: everywhere, Bind: &k.Results}, run: func(m *Model, _, _ string) tea.Cmd { return m.log.Show() }},
		{Row: keys.Row{Name: "mouse", Keys: "M", About: "turn the mouse on or off", Group: "Everywhere", Help: everywhere, Bind: &k.Mouse}, run: plain(toggleMouse)},
		{Row: keys.Row{Name: "help", Keys: "?", About: "help", Group: "Everywhere", Help: everywhere, Foot: "elections, events, sessions, zoom, past, session, empty", Command: "help", Says: "show the keys, symbols and commands"}, run: plain(openHelp)},
		{Row: keys.Row{Name: "suspend", Keys: "ctrl+z", About: "suspend", Group: "Everywhere", Help: everywhere, Bind: &k.Suspend}},
		{Row: keys.Row{Name: "quit", Keys: "q ctrl+c", About: "quit", Group: "Everywhere", Help: everywhere, Foot: "elections, events, sessions, zoom, past, session, empty", Bind: &k.Quit, Command: "q"}, run: plain((*Model).quit)},
	}, commands()...)
}

// commands returns the actions that have only a command.
func commands() []action {
	return []action{
		{Row: keys.Row{Command: "go NAME", About: "select an election by name or key"}, run: goTo, complete: fields("election")},
		{Row: keys.Row{Command: "at TIME", About: "show the board at a past time, or now"}, run: func(m *Model, _, at string) tea.Cmd { return m.out.travel.Jump(at, m.scene) }, complete: words("-10m", "-1h", "-24h", "now")},
		{Row: keys.Row{Command: "since 24h", About: "show the events of this period"}, run: func(m *Model, _, since string) tea.Cmd { return m.do(past.ShowSince(since, m.scene.Now)) }, complete: words("15m", "1h", "24h", "7d")},
		{Row: keys.Row{Command: "history", About: "show the history of the election"}, run: plain(showHistory)},
		{Row: keys.Row{Command: "discover", About: "find all locks in the store"}, run: plain(discover)},
		{Row: keys.Row{Command: "watch PATTERN", About: "also watch the keys that match this pattern"}, run: func(m *Model, _, texts string) tea.Cmd { return watch(m, strings.Fields(texts)) }, complete: values(commonPatterns)},
		{Row: keys.Row{Command: "unwatch PATTERN", About: "remove a watched pattern"}, run: unwatch, complete: values(func(m *Model) []string { return m.look.place.Patterns })},
		{Row: keys.Row{Command: "doctor", About: "show what this address and token can read and do"}, run: plain(openDoctor)},
		{Row: keys.Row{Command: "theme NAME", About: "change the colours"}, run: setTheme, complete: words(Themes()...)},
		{Row: keys.Row{Command: "ctx [NAME]", About: "connect to another configured cluster"}, run: switchContext, complete: values(func(m *Model) []string { return m.opts.Contexts })},
	}
}

// rowsOf returns the rows of a table.
func rowsOf(table []action) []*keys.Row {
	rows := make([]*keys.Row, len(table))
	for i := range table {
		rows[i] = &table[i].Row
	}
	return rows
}

// newKeys returns the bindings and the table of actions.
func newKeys(ascii bool, c keys.Custom) (*keys.Map, []action) {
	k := &keys.Map{Copies: copyHelp()}
	table := actions(k, ascii)
	keys.New(k, rowsOf(table), c)
	return k, table
}

// NewKeys returns the bindings of the dashboard, with the keys that c replaces.
func NewKeys(ascii bool, c Keys) keys.Map {
	k, _ := newKeys(ascii, c)
	return *k
}

// KeyAction is an action that has keys.
type KeyAction struct {
	Name, About string
	Keys        []string
}

// KeyActions lists the actions that have keys.
func KeyActions() (all []KeyAction) {
	for _, a := range actions(&keys.Map{}, false) {
		if a.Name != "" {
			all = append(all, KeyAction{a.Name, a.About, strings.Fields(a.Keys)})
		}
	}
	return all
}

// Keys are key bindings that replace the default ones.
type Keys = keys.Custom

// KeyError is a problem with the keys of one action.
type KeyError = keys.Error

// ParseKeys checks key bindings. custom maps names of [KeyActions] to their keys. An error is a [KeyError].
func ParseKeys(custom map[string][]string) (Keys, error) {
	k := &keys.Map{}
	return keys.Parse(k, rowsOf(actions(k, false)), custom)
}

// place returns the place of the view, for its page of the help.
func (v view) place() keys.Place {
	return [...]keys.Place{viewElections: keys.Elections, viewEvents: keys.Events, viewSessions: keys.Sessions}[v]
}

// boardKey handles a key while no overlay and no prompt is open.
func (m *Model) boardKey(msg tea.KeyPressMsg) tea.Cmd {
	for i := range m.table {
		a := &m.table[i]
		if _, here := a.In(a.Help, m.focus.view.place()); here && a.run != nil && key.Matches(msg, a.Binding()) {
			return a.run(m, msg.String(), "")
		}
	}
	return toFocused(m, msg)
}

// toFocused sends a key to the part of the screen that has the focus.
func toFocused(m *Model, msg tea.KeyPressMsg) tea.Cmd {
	if m.focus.view == viewElections && m.focus.zoom {
		return send(m, &m.detail, msg)
	}
	return m.toView(msg)
}

// command runs a line typed after ":".
func (m *Model) command(text string) tea.Cmd {
	word, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word == "" {
		return nil
	}
	if a := m.named(word); a != nil {
		return a.run(m, ":"+a.Word(), strings.TrimSpace(arg))
	}
	var usages []string
	for _, r := range m.keys.Commands() {
		usages = append(usages, ":"+r.Command)
	}
	return m.refuse("Unknown command :" + scene.OneLine(word, 30) + ". Commands: " + strings.Join(usages, "  "))
}

// named returns the action with this command or name, or nil.
func (m *Model) named(word string) *action {
	i := slices.IndexFunc(m.table, func(a action) bool { return a.Command != "" && (a.Word() == word || a.Name == word) })
	if i < 0 {
		return nil
	}
	return &m.table[i]
}

// plain returns the run function of an action without arguments.
func plain(run func(*Model) tea.Cmd) func(*Model, string, string) tea.Cmd {
	return func(m *Model, _, _ string) tea.Cmd { return run(m) }
}

// openHelp opens the help at the page of the view.
func openHelp(m *Model) tea.Cmd {
	var all []pages.Usage
	for _, r := range m.keys.Commands() {
		all = append(all, pages.Usage{Usage: ":" + r.Command, About: cmp.Or(r.Says, r.About)})
	}
	return m.cover(pages.Help(m.keys, all, int(m.focus.view)), nil)
}

func openDoctor(m *Model) tea.Cmd { return m.cover(pages.Doctor(m.ctx, m.opts.Backend.Doctor, m.keys)) }

// completer returns the completer for the open prompt.
func completer(m *Model) prompt.Completer {
	if m.focus.prompt.Kind == prompt.Filter {
		return prompt.CompleteFilter(m.scene, scope(m))
	}
	return func(text string) (int, []string) {
		word, arg, found := strings.Cut(text, " ")
		if !found {
			return 0, prompt.First(m.keys.Commands(), m.scene, text)
		}
		if a := m.named(word); a != nil && a.complete != nil {
			start, options := a.complete(m, arg)
			return len(word) + 1 + start, options
		}
		return 0, nil
	}
}

// values returns the function that completes one of several values.
func values(list func(*Model) []string) func(*Model, string) (int, []string) {
	return func(m *Model, text string) (int, []string) { return 0, prompt.Find(text, list(m)) }
}

// words is like values, with constant values.
func words(all ...string) func(*Model, string) (int, []string) {
	return values(func(*Model) []string { return all })
}

// fields returns the function that completes a value of a field of the elections.
func fields(name string) func(*Model, string) (int, []string) {
	return values(func(m *Model) []string { return prompt.Values(m.scene, name) })
}

func filters(m *Model, text string) (int, []string) {
	return prompt.CompleteFilter(m.scene, scope(m))(text)
}

func electionFilters(m *Model, text string) (int, []string) {
	return prompt.CompleteFilter(m.scene, query.Elections)(text)
}

// orders lists the sort orders of the view.
func orders(m *Model) (all []string) {
	of := query.OrderKeys()
	if m.focus.view == viewSessions {
		of = sessions.SortKeys()
	}
	for _, name := range of {
		all = append(all, name, name+" reverse")
	}
	return all
}

// commonPatterns lists the patterns of all presets, except for the watched ones.
func commonPatterns(m *Model) (patterns []string) {
	for _, p := range insight.Presets() {
		for _, text := range p.Patterns {
			if !slices.Contains(m.look.place.Patterns, text) && !slices.Contains(patterns, text) {
				patterns = append(patterns, text)
			}
		}
	}
	return patterns
}

// contexts returns the menu of the configured contexts.
func contexts(m *Model) *scene.Overlay {
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Connect to another cluster", Width: 60, Keys: m.keys, Menu: true}}
	o.Buttons = []kit.Button{
		{Key: "enter", Sign: m.keys.Enter, Label: "Connect", Hint: "connect", Do: func() any {
			name := m.opts.Contexts[o.Chosen()]
			m.closeOverlay("")
			return scene.Run{Cmd: switchContext(m, "", name)}
		}},
		{Key: "esc", Label: "Cancel"},
	}
	o.Write = func(page *kit.Page) {
		for i, name := range m.opts.Contexts {
			page.Add(kit.Span{Role: kit.Text, Text: scene.OneLine(name, 40)})
			if name == m.opts.Context {
				page.Lines[len(page.Lines)-1] = append(page.Lines[len(page.Lines)-1], kit.Span{Role: kit.Quiet, Text: "  current"})
			}
			o.Row(page, i)
		}
	}
	return o
}

// copyHelp lists the keys of the copy menus for the help.
func copyHelp() []keys.Group {
	var none shell.Cluster
	return []keys.Group{
		{Title: "Copy from an election", Keys: copyKeys(none.OfElection(&election.Election{}))},
		{Title: "Copy from a session", Keys: copyKeys(none.OfSession(&election.Session{}, ""))},
	}
}

// copyKeys returns the keys of a copy menu.
func copyKeys(items []shell.Item) (all []key.Binding) {
	for _, i := range items {
		all = append(all, keys.Fixed(i.Key, i.What))
	}
	return append(all, keys.Fixed("esc", "nothing"))
}
