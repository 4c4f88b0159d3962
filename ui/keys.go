package ui

import (
	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
)

// KeyMap is every key of the dashboard.
type KeyMap struct {
	Up, Down, HalfUp, HalfDown, PageUp, PageDown, Top, Bottom key.Binding
	NextTrouble, PrevTrouble                                  key.Binding
	Open, Back, NextTab, PrevTab, PaneUp, PaneDown            key.Binding
	Filter, Sort, Reverse, Wide, Pause, Mark, Copy, Command   key.Binding
	Release, Destroy, Results, Scan                           key.Binding
	Elections, Events, Sessions                               key.Binding
	Help, Suspend, Quit                                       key.Binding
}

var _ help.KeyMap = KeyMap{}

// DefaultKeyMap gives the keys that people know from k9s, lazygit and vim.
func DefaultKeyMap(ascii bool) KeyMap {
	move, enter := "↑↓", "⏎"
	if ascii {
		move, enter = "j/k", "enter"
	}
	bind := func(short, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(short, what))
	}
	return KeyMap{
		Up: bind("k", "up", "k", "up"), Down: bind(move, "move", "j", "down"),
		HalfUp:   bind("ctrl-u", "half a page up", "ctrl+u"),
		HalfDown: bind("ctrl-d", "half a page down", "ctrl+d"),
		PageUp:   bind("pgup", "a page up", "pgup", "ctrl+b"),
		PageDown: bind("pgdn", "a page down", "pgdown", "ctrl+f"),
		Top:      bind("g", "first", "g", "home"), Bottom: bind("G", "last", "G", "end"),
		NextTrouble: bind("n", "next problem", "n"), PrevTrouble: bind("N", "previous problem", "N"),
		Open: bind(enter, "open", "enter"), Back: bind("esc", "back", "esc"),
		NextTab: bind("tab", "next page", "tab", "]"), PrevTab: bind("[", "previous page", "shift+tab", "["),
		PaneUp: bind("K", "scroll the pane up", "K", "shift+up"), PaneDown: bind("J", "scroll the pane", "J", "shift+down"),
		Filter: bind("/", "filter", "/"), Sort: bind("s", "sort", "s"), Reverse: bind("S", "reverse the sort", "S"),
		Wide: bind("w", "wide table", "w"), Pause: bind("p", "pause", "p"), Mark: bind("space", "mark", "space"),
		Copy: bind("c", "copy", "c"), Command: bind(":", "command", ":"),
		Release: bind("r", "release", "r"), Destroy: bind("x", "destroy", "x"),
		Scan:      bind("f", "scan all keys", "f"),
		Results:   bind("u", "actions and their results", "u"),
		Elections: bind("1", "elections", "1"), Events: bind("2", "events", "2"),
		Sessions: bind("3", "sessions", "3"),
		Help:     bind("?", "help", "?"), Suspend: bind("ctrl-z", "suspend", "ctrl+z"), Quit: bind("q", "quit", "q", "ctrl+c"),
	}
}

// ShortHelp lists the keys of the footer while the board has the keys.
func (k KeyMap) ShortHelp() []key.Binding {
	page := k.NextTab
	page.SetHelp(page.Help().Key, "page")
	return []key.Binding{
		k.Down, k.Open, k.Filter, k.Release, k.Destroy, k.Sort, page, k.Mark, k.Events, k.Sessions, k.Pause, k.Help, k.Quit,
	}
}

// FullHelp lists all keys in groups: moving, looking, acting.
func (k KeyMap) FullHelp() [][]key.Binding {
	move := k.Down
	move.SetHelp("j k", "down and up, arrows too")
	return [][]key.Binding{
		{move, k.Top, k.Bottom, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp, k.NextTrouble, k.PrevTrouble},
		{k.Open, k.Back, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp, k.Filter, k.Sort, k.Reverse, k.Wide, k.Pause},
		{k.Release, k.Destroy, k.Results, k.Mark, k.Scan, k.Copy, k.Command, k.Elections, k.Events, k.Sessions, k.Help, k.Suspend, k.Quit},
	}
}

// zoomHelp are the keys of the footer while the pane takes the screen.
func (k KeyMap) zoomHelp() []key.Binding {
	down := k.Down
	down.SetHelp(down.Help().Key, "scroll")
	return []key.Binding{k.Back, down, k.NextTab, k.Release, k.Destroy, k.Copy, k.Help, k.Quit}
}

// eventsHelp are the keys of the footer in the events view.
func (k KeyMap) eventsHelp() []key.Binding {
	open, newest := k.Open, k.Top
	open.SetHelp(open.Help().Key, "its election")
	newest.SetHelp(newest.Help().Key, "newest")
	return []key.Binding{k.Down, open, k.Filter, newest, k.Pause, k.Elections, k.Sessions, k.Help, k.Quit}
}

// sessionsHelp are the keys of the footer in the sessions view, or while one
// session is open in it.
func (k KeyMap) sessionsHelp(open bool) []key.Binding {
	if open {
		down := k.Down
		down.SetHelp(down.Help().Key, "scroll")
		return []key.Binding{k.Back, down, k.Destroy, k.Scan, k.Copy, k.Elections, k.Help, k.Quit}
	}
	return []key.Binding{k.Down, k.Open, k.Filter, k.Destroy, k.Scan, k.Sort, k.Mark, k.Copy, k.Elections, k.Events, k.Pause, k.Help, k.Quit}
}

// promptHelp are the keys of the footer while a line is typed.
func (k KeyMap) promptHelp(kind promptKind) []key.Binding {
	done, leave := k.Open, k.Back
	done.SetHelp(done.Help().Key, "run it")
	leave.SetHelp(leave.Help().Key, "leave")
	if kind == promptFilter {
		done.SetHelp(done.Help().Key, "keep the filter")
		leave.SetHelp(leave.Help().Key, "clear it")
	}
	return []key.Binding{done, leave}
}

// dialogHelp are the keys of the footer while a dialog asks.
func (k KeyMap) dialogHelp(d *dialog) []key.Binding {
	choose, done, leave := k.NextTab, k.Open, k.Back

	choose.SetHelp(choose.Help().Key, "choose")
	done.SetHelp(done.Help().Key, "press the button")
	leave.SetHelp(leave.Help().Key, "cancel")
	switch {
	case d.searching():
		leave.SetHelp(leave.Help().Key, "stop the scan")
	case d.maySearch():
		f := key.NewBinding(key.WithKeys("f"), key.WithHelp("f", "scan all keys"))
		return []key.Binding{choose, done, f, leave}
	}
	return []key.Binding{choose, done, leave}
}

// helpHelp are the keys of the footer while the help is shown.
func (k KeyMap) helpHelp() []key.Binding {
	scroll := k.Down
	scroll.SetHelp(scroll.Help().Key, "scroll")
	return []key.Binding{scroll, k.Back}
}

// resultsHelp are the keys of the footer while results are shown.
func (k KeyMap) resultsHelp() []key.Binding {
	scroll, leave := k.Down, k.Back
	scroll.SetHelp(scroll.Help().Key, "scroll")
	leave.SetHelp(leave.Help().Key, "close")
	return []key.Binding{scroll, leave}
}

// emptyHelp are the keys of the footer while there is no election.
func (k KeyMap) emptyHelp() []key.Binding {
	return []key.Binding{k.Events, k.Sessions, k.Command, k.Help, k.Quit}
}
