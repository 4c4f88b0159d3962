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
	Filter, Sort, Reverse, Wide, Pause, Mark, Copy, Command   key.Binding
	Release, Destroy, Fix, Results, Scan, Report              key.Binding
	Drain, MarkAll, Invert, MarkRange, Unmark                 key.Binding
	Elections, Events, Sessions                               key.Binding
	Earlier, Later, ShorterLane, LongerLane                   key.Binding
	Help, Suspend, Quit                                       key.Binding
}

// Default returns the bindings, which follow k9s, lazygit and vim.
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
		PageUp:   bind("pgup", "a page up", "pgup", "ctrl+b"),
		PageDown: bind("pgdn", "a page down", "pgdown", "ctrl+f"),
		Top:      bind("g", "first", "g", "home"), Bottom: bind("G", "last", "G", "end"),
		NextTrouble: bind("n", "next problem", "n"), PrevTrouble: bind("N", "previous problem", "N"),
		Open: bind(enter, "open", "enter"), Back: bind("esc", "back", "esc"),
		NextTab: bind("tab", "next page", "tab"), PrevTab: bind("S-tab", "previous page", "shift+tab"),
		PaneUp: bind("K", "scroll the pane up", "K", "shift+up"), PaneDown: bind("J", "scroll the pane", "J", "shift+down"),
		Filter: bind("/", "filter", "/"), Sort: bind("s", "sort", "s"), Reverse: bind("S", "reverse the sort", "S"),
		Wide: bind("w", "wide table", "w"), Pause: bind("p", "pause", "p"), Mark: bind("space", "mark", "space"),
		Copy: bind("c", "copy", "c"), Command: bind(":", "command", ":"),
		Release: bind("r", "release", "r"), Destroy: bind("x", "destroy", "x"),
		Fix:     bind("f", fix, "f"),
		Drain:   bind("D", "drain the row's node", "D"),
		MarkAll: bind("a", "mark all shown", "a"), Invert: bind("i", "invert the marks shown", "i"),
		MarkRange: bind("V", "mark a range", "V"), Unmark: bind("A", "unmark all", "A"),
		Scan:      bind("f", "scan all keys", "f"),
		Report:    bind("E", "write an incident report", "E"),
		Results:   bind("u", "actions and their results", "u"),
		Elections: bind("1", "elections", "1"), Events: bind("2", "events", "2"),
		Sessions: bind("3", "sessions", "3"),
		Earlier:  bind("[", "the event before", "["), Later: bind("]", "the event after", "]"),
		ShorterLane: bind("+", "shorter lanes", "+", "="), LongerLane: bind("-", "longer lanes", "-"),
		Help: bind("?", "help", "?"), Suspend: bind("ctrl-z", "suspend", "ctrl+z"), Quit: bind("q", "quit", "q", "ctrl+c"),
	}
}

// says sets another description of a key.
func says(b key.Binding, what string) key.Binding {
	b.SetHelp(b.Help().Key, what)
	return b
}

// Board lists the keys of the footer of the board.
func (k Map) Board() []key.Binding {
	page := says(k.NextTab, "page")
	return []key.Binding{
		k.Down, k.Open, k.Filter, k.Release, k.Destroy, k.Sort, page, k.Mark, says(k.Drain, "drain"), k.Events, k.Sessions, k.Pause, k.Help, k.Quit,
	}
}

// Vacant lists the keys of the footer of the board for an election without a leader.
func (k Map) Vacant() []key.Binding {
	return slices.Insert(k.Board(), 3, k.Fix)
}

// Past lists the keys of the footer in the past.
func (k Map) Past() []key.Binding {
	return []key.Binding{
		says(k.Back, "now"), says(k.Earlier, "earlier"), says(k.Later, "later"), k.Down, k.Open, k.Filter, k.LongerLane, k.ShorterLane, k.Sort, says(k.NextTab, "page"),
		k.Events, k.Help, k.Quit,
	}
}

// All lists all keys in groups: moving, viewing, acting.
func (k Map) All() [][]key.Binding {
	move := k.Down
	move.SetHelp("j k", "down and up, arrows too")
	more := k.MarkAll
	more.SetHelp("a V i A", "mark all, range, inverse, none")
	return [][]key.Binding{
		{move, k.Top, k.Bottom, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp, k.NextTrouble, k.PrevTrouble},
		{k.Open, k.Back, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp, k.Filter, k.Sort, k.Reverse, k.Wide, k.Pause, k.Earlier, k.Later, k.ShorterLane, k.LongerLane},
		{k.Release, k.Destroy, k.Drain, says(k.Fix, "fix: why no leader"), k.Results, k.Report, k.Mark, more, says(k.Scan, "view 3: scan all keys"), k.Copy, k.Command, k.Elections, k.Events, k.Sessions, k.Help, k.Suspend, k.Quit},
	}
}

// Zoom lists the keys of the footer while the pane fills the screen.
func (k Map) Zoom() []key.Binding {
	return []key.Binding{k.Back, says(k.Down, "scroll"), k.NextTab, k.Release, k.Destroy, k.Copy, says(k.Report, "report"), k.Help, k.Quit}
}

// EventList lists the keys of the footer in the events view.
func (k Map) EventList() []key.Binding {
	open, newest := says(k.Open, "its election"), says(k.Top, "newest")
	return []key.Binding{k.Down, open, k.Filter, newest, says(k.Report, "report"), k.Pause, k.Elections, k.Sessions, k.Help, k.Quit}
}

// SessionList lists the keys of the footer in the sessions view; open is true if one
// session is open.
func (k Map) SessionList(open bool) []key.Binding {
	if open {
		return []key.Binding{k.Back, says(k.Down, "scroll"), k.Destroy, k.Scan, k.Copy, k.Elections, k.Help, k.Quit}
	}
	return []key.Binding{k.Down, k.Open, k.Filter, k.Destroy, k.Scan, k.Sort, k.Mark, says(k.Drain, "drain"), k.Copy, k.Elections, k.Events, k.Pause, k.Help, k.Quit}
}

// Prompt lists the keys of the footer of a filter or a command.
func (k Map) Prompt(filter bool) []key.Binding {
	earlier := k.Up
	earlier.SetHelp("up", "earlier")
	if filter {
		return []key.Binding{says(k.NextTab, "complete"), earlier, says(k.Open, "keep the filter"), says(k.Back, "clear it")}
	}
	return []key.Binding{says(k.NextTab, "complete"), earlier, says(k.Open, "run it"), says(k.Back, "leave")}
}

// Dialog lists the keys of the footer of a dialog. searching is true during a scan of the
// store, mayScan if one is possible.
func (k Map) Dialog(searching, mayScan bool) []key.Binding {
	choose, done, leave := says(k.NextTab, "choose"), says(k.Open, "press the button"), says(k.Back, "cancel")
	switch {
	case searching:
		leave = says(k.Back, "stop the scan")
	case mayScan:
		return []key.Binding{choose, done, k.Scan, leave}
	}
	return []key.Binding{choose, done, leave}
}

// Menu lists the keys of the footer of a menu.
func (k Map) Menu() []key.Binding {
	return []key.Binding{k.Down, says(k.Open, "choose"), says(k.Back, "cancel")}
}

// HelpPage lists the keys of the footer of the help.
func (k Map) HelpPage() []key.Binding {
	return []key.Binding{says(k.Down, "scroll"), k.Back}
}

// ResultList lists the keys of the footer of the results; draining is true while the drain that
// they show is in progress.
func (k Map) ResultList(draining bool) []key.Binding {
	if draining {
		return []key.Binding{says(k.Down, "scroll"), says(k.Destroy, "stop"), says(k.Open, "hide")}
	}
	return []key.Binding{says(k.Down, "scroll"), says(k.Back, "close")}
}

// LockList lists the keys of the footer of the discovered locks; more is true if some are not
// watched.
func (k Map) LockList(more bool) []key.Binding {
	if more {
		return []key.Binding{says(k.Down, "scroll"), says(k.Wide, "watch all"), says(k.Back, "close")}
	}
	return k.ResultList(false)
}

// Empty lists the keys of the footer while there is no election.
func (k Map) Empty() []key.Binding {
	return []key.Binding{k.Events, k.Sessions, k.Command, k.Help, k.Quit}
}
