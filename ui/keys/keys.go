// Package keys defines the keys of the dashboard.
package keys

import (
	"slices"

	"charm.land/bubbles/v2/key"
)

// Map contains every key binding of the dashboard.
type Map struct {
	Up, Down, HalfUp, HalfDown, PageUp, PageDown, Top, Bottom key.Binding
	NextTrouble, PrevTrouble                                  key.Binding
	Open, Back, NextTab, PrevTab, PaneUp, PaneDown            key.Binding
	Filter, Sort, Reverse, Pause, Mark, Copy, Command         key.Binding
	Release, Destroy, Fix, Results, Scan, Report, Run         key.Binding
	Drain, MarkAll, Invert, MarkRange, Unmark                 key.Binding
	Elections, Events, Sessions                               key.Binding
	Earlier, Later, ShorterLane, LongerLane                   key.Binding
	Mouse, Help, Suspend, Quit                                key.Binding
	// Fixed contains the keys of dialogs and prompts. Settings cannot change them.
	Fixed FixedKeys
}

// FixedKeys are the keys with a fixed meaning in dialogs, panels and prompts.
type FixedKeys struct {
	Enter, Esc, Tab, Confirm, Refresh, Unfold, Hidden, Scan, Stop, Recall, Select, Exclude, AllowDestroy, CopyCommand, WatchAll key.Binding
}

// action is a binding with its name in the settings.
type action struct {
	name    string
	binding *key.Binding
}

// named lists all bindings that settings can change.
func (k *Map) named() []action {
	return []action{
		{"up", &k.Up}, {"down", &k.Down}, {"half-up", &k.HalfUp}, {"half-down", &k.HalfDown},
		{"page-up", &k.PageUp}, {"page-down", &k.PageDown}, {"top", &k.Top}, {"bottom", &k.Bottom},
		{"next-problem", &k.NextTrouble}, {"previous-problem", &k.PrevTrouble},
		{"open", &k.Open}, {"back", &k.Back}, {"next-tab", &k.NextTab}, {"previous-tab", &k.PrevTab},
		{"pane-up", &k.PaneUp}, {"pane-down", &k.PaneDown},
		{"filter", &k.Filter}, {"sort", &k.Sort}, {"reverse", &k.Reverse}, {"pause", &k.Pause},
		{"mark", &k.Mark}, {"mark-all", &k.MarkAll}, {"mark-range", &k.MarkRange}, {"invert-marks", &k.Invert}, {"unmark", &k.Unmark},
		{"copy", &k.Copy}, {"command", &k.Command}, {"release", &k.Release}, {"destroy", &k.Destroy}, {"fix", &k.Fix},
		{"drain", &k.Drain}, {"results", &k.Results}, {"scan", &k.Scan}, {"report", &k.Report}, {"run", &k.Run},
		{"elections", &k.Elections}, {"events", &k.Events}, {"sessions", &k.Sessions},
		{"earlier", &k.Earlier}, {"later", &k.Later}, {"shorter-lane", &k.ShorterLane}, {"longer-lane", &k.LongerLane},
		{"mouse", &k.Mouse}, {"help", &k.Help}, {"suspend", &k.Suspend}, {"quit", &k.Quit},
	}
}

// Default returns the default bindings. They follow the conventions of k9s, lazygit and vim.
func Default(ascii bool) Map {
	move, enter, fix := "↑↓", "⏎", "fix…"
	if ascii {
		move, enter, fix = "j/k", "enter", "fix..."
	}
	bind := func(short, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(short, what))
	}
	return Map{
		Up: bind("k", "up", "k", "up"), Down: bind(move, "move", "j", "down"),
		HalfUp:   bind("ctrl-u", "half a page up", "ctrl+u"),
		HalfDown: bind("ctrl-d", "half a page down", "ctrl+d"),
		PageUp:   bind("pgup", "one page up", "pgup", "ctrl+b"),
		PageDown: bind("pgdn", "one page down", "pgdown", "ctrl+f"),
		Top:      bind("g", "first", "g", "home"), Bottom: bind("G", "last", "G", "end"),
		NextTrouble: bind("n", "next problem", "n"), PrevTrouble: bind("N", "previous problem", "N"),
		Open: bind(enter, "open", "enter"), Back: bind("esc", "back", "esc"),
		NextTab: bind("tab", "next page", "tab"), PrevTab: bind("S-tab", "previous page", "shift+tab"),
		PaneUp: bind("K", "scroll the pane up", "K", "shift+up"), PaneDown: bind("J", "scroll the pane down", "J", "shift+down"),
		Filter: bind("/", "filter", "/"), Sort: bind("s", "sort", "s"), Reverse: bind("S", "reverse the sort order", "S"),
		Pause: bind("p", "pause", "p"), Mark: bind("space", "mark", "space"),
		Copy: bind("c", "copy", "c"), Command: bind(":", "command", ":"),
		Release: bind("r", "release", "r"), Destroy: bind("x", "destroy", "x"),
		Fix:     bind("f", fix, "f"),
		Drain:   bind("D", "drain the selected row's node", "D"),
		MarkAll: bind("a", "mark all shown rows", "a"), Invert: bind("i", "invert marks of shown rows", "i"),
		MarkRange: bind("V", "mark a range", "V"), Unmark: bind("A", "unmark all", "A"),
		Scan:      bind("f", "scan all keys", "f"),
		Report:    bind("E", "write an incident report", "E"),
		Run:       bind("!", "run a configured command", "!"),
		Results:   bind("u", "actions and their results", "u"),
		Elections: bind("1", "elections", "1"), Events: bind("2", "events", "2"),
		Sessions: bind("3", "sessions", "3"),
		Earlier:  bind("[", "previous event", "["), Later: bind("]", "next event", "]"),
		ShorterLane: bind("+", "shorter lanes", "+", "="), LongerLane: bind("-", "longer lanes", "-"),
		Mouse: bind("M", "turn the mouse on or off", "M"),
		Help:  bind("?", "help", "?"), Suspend: bind("ctrl-z", "suspend", "ctrl+z"), Quit: bind("q", "quit", "q", "ctrl+c"),
		Fixed: FixedKeys{
			Enter: bind(enter, "press the button", "enter"), Esc: bind("esc", "cancel", "esc"), Tab: bind("tab", "choose", "tab"),
			Confirm: bind("y", "press the action button", "y"), Refresh: bind("r", "read the current state again", "r"),
			Unfold: bind("a", "show shortened lists in full", "a"), Hidden: bind("space", "include the hidden marks", "space"),
			Scan: bind("f", "scan all keys", "f"), Stop: bind("x", "stop", "x"),
			Recall: bind("up", "earlier", "up", "down"), Select: bind("ctrl-n", "next row", "ctrl+n", "ctrl+p"),
			Exclude: bind("space", "exclude", "space"), AllowDestroy: bind("x", "allow destroy", "x"),
			CopyCommand: bind("c", "copy the command", "c"), WatchAll: bind("w", "watch all", "w"),
		},
	}
}

// says returns the binding with another description.
func says(b key.Binding, what string) key.Binding {
	b.SetHelp(b.Help().Key, what)
	return b
}

// named returns the binding with only its first key as the label, and with another description.
func named(b key.Binding, what string) key.Binding {
	b.SetHelp(first(b), what)
	return b
}

// Board lists the footer keys of the board.
func (k Map) Board() []key.Binding {
	page := says(k.NextTab, "page")
	return []key.Binding{
		k.Down, k.Open, k.Filter, k.Release, k.Destroy, k.Sort, page, k.Mark, says(k.Drain, "drain"), k.Events, k.Sessions, k.Pause, k.Help, k.Quit,
	}
}

// Vacant lists the footer keys of the board while it offers a fix for the selected election.
func (k Map) Vacant() []key.Binding {
	return slices.Insert(k.Board(), 3, k.Fix)
}

// Past lists the footer keys while the board shows the past.
func (k Map) Past() []key.Binding {
	return []key.Binding{
		says(k.Back, "now"), says(k.Earlier, "earlier"), says(k.Later, "later"), k.Down, k.Open, k.Filter, k.LongerLane, k.ShorterLane, k.Sort, says(k.NextTab, "page"),
		k.Events, k.Help, k.Quit,
	}
}

// arrows returns a text about the arrow keys. It is empty if they do not move the cursor.
func arrows(down key.Binding) string {
	if slices.Contains(down.Keys(), "down") {
		return "; also arrow keys"
	}
	return ""
}

// Zoom lists the footer keys while the pane fills the screen.
func (k Map) Zoom() []key.Binding {
	return []key.Binding{k.Back, says(k.Down, "scroll"), k.NextTab, k.Release, k.Destroy, k.Copy, says(k.Report, "report"), k.Help, k.Quit}
}

// ZoomVacant lists the footer keys while the pane fills the screen and offers a fix for the selected election.
func (k Map) ZoomVacant() []key.Binding {
	return []key.Binding{k.Back, says(k.Down, "scroll"), k.NextTab, k.Fix, k.Copy, says(k.Report, "report"), k.Help, k.Quit}
}

// EventList lists the footer keys of the Events view. open is true if an event is open. leads is true if this event is
// about an election.
func (k Map) EventList(open, leads bool) []key.Binding {
	switch {
	case leads:
		return []key.Binding{says(k.Back, "close"), says(k.Open, "its election"), says(k.Down, "scroll"), k.Help, k.Quit}
	case open:
		return []key.Binding{says(k.Back, "close"), says(k.Down, "scroll"), k.Help, k.Quit}
	}
	newest := says(k.Top, "newest")
	return []key.Binding{k.Down, k.Open, k.Filter, newest, says(k.Report, "report"), k.Pause, k.Elections, k.Sessions, k.Help, k.Quit}
}

// SessionList lists the footer keys of the Sessions view. open is true if a session is open.
func (k Map) SessionList(open bool) []key.Binding {
	if open {
		return []key.Binding{k.Back, says(k.Down, "scroll"), k.Destroy, k.Scan, k.Copy, k.Elections, k.Help, k.Quit}
	}
	return []key.Binding{k.Down, k.Open, k.Filter, k.Destroy, k.Scan, k.Sort, k.Mark, says(k.Drain, "drain"), k.Copy, k.Elections, k.Events, k.Pause, k.Help, k.Quit}
}

// Prompt lists the footer keys of the filter line or of the command line.
func (k Map) Prompt(filter bool) []key.Binding {
	if filter {
		return []key.Binding{says(k.Fixed.Tab, "complete"), k.Fixed.Recall, says(k.Fixed.Enter, "keep the filter"), says(k.Fixed.Esc, "clear it")}
	}
	return []key.Binding{says(k.Fixed.Tab, "complete"), k.Fixed.Recall, says(k.Fixed.Enter, "run it"), says(k.Fixed.Esc, "leave")}
}

// Dialog lists the footer keys of a dialog. scanning is true during a scan of the store. mayScan is true if a scan
// is possible.
func (k Map) Dialog(scanning, mayScan bool) []key.Binding {
	choose, done, leave := k.Fixed.Tab, says(k.Fixed.Enter, "press the button"), k.Fixed.Esc
	switch {
	case scanning:
		leave = says(k.Fixed.Esc, "stop the scan")
	case mayScan:
		return []key.Binding{choose, done, k.Fixed.Scan, leave}
	}
	return []key.Binding{choose, done, leave}
}

// Menu lists the footer keys of a menu.
func (k Map) Menu() []key.Binding {
	return []key.Binding{k.Down, says(k.Fixed.Enter, "choose"), k.Fixed.Esc}
}

// RunMenu lists the footer keys of the menu of commands.
func (k Map) RunMenu() []key.Binding {
	return []key.Binding{k.Down, says(k.Fixed.Enter, "run the command"), says(k.Fixed.Esc, "close")}
}

// RunConfirmation lists the footer keys while the user confirms a command.
func (k Map) RunConfirmation() []key.Binding {
	return []key.Binding{says(k.Fixed.Confirm, "run it"), says(k.Fixed.Esc, "back")}
}

// Plan lists the footer keys of the plan of a drain.
func (k Map) Plan() []key.Binding {
	return []key.Binding{k.Down, k.Fixed.Exclude, k.Fixed.AllowDestroy, k.Fixed.Tab, says(k.Fixed.Enter, "press the button"), k.Fixed.Esc}
}

// Confirmation lists the footer keys while the user types a number to confirm an action.
func (k Map) Confirmation() []key.Binding {
	return []key.Binding{says(k.Fixed.Enter, "confirm"), says(k.Fixed.Esc, "back")}
}

// CopyMenu lists the parts of an election or a session that the user can copy, each with its key.
func (k Map) CopyMenu(ofSession bool) []key.Binding {
	items := [][2]string{{"k", "key"}, {"n", "name"}, {"l", "leader"}, {"s", "session"}, {"o", "node"}, {"v", "value"}, {"c", "consul command"}, {"u", "curl command"}}
	if ofSession {
		items = [][2]string{{"s", "session ID"}, {"n", "name"}, {"o", "node"}, {"u", "curl command"}}
	}
	var menu []key.Binding
	for _, i := range items {
		menu = append(menu, key.NewBinding(key.WithKeys(i[0]), key.WithHelp(i[0], i[1])))
	}
	return append(menu, says(k.Back, "nothing"))
}

// ResultList lists the footer keys of the results. draining is true if the panel shows a drain in progress.
func (k Map) ResultList(draining bool) []key.Binding {
	if draining {
		return []key.Binding{says(k.Down, "scroll"), k.Fixed.Stop, says(k.Fixed.Enter, "hide")}
	}
	return []key.Binding{says(k.Down, "scroll"), says(k.Fixed.Esc, "close")}
}

// Empty lists the footer keys while there are no elections.
func (k Map) Empty() []key.Binding {
	return []key.Binding{k.Events, k.Sessions, k.Command, k.Help, k.Quit}
}
