package keys

import "charm.land/bubbles/v2/key"

// Page is the help about one part of the dashboard. It contains the keys that work there.
type Page struct {
	Title  string
	Groups []Group
}

// Group is a list of keys with one purpose.
type Group struct {
	Title string
	Keys  []key.Binding
}

// Pages returns the pages of the help: one per view, in the order of the views, then a page about dialogs and panels.
func (k Map) Pages() []Page {
	down, up := named(k.Down, "down"+arrows(k.Down)), named(k.Up, "up")
	moves := func(top key.Binding) []key.Binding {
		return []key.Binding{down, up, top, k.Bottom, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp}
	}
	always := Group{"Everywhere", []key.Binding{
		k.Elections, k.Events, k.Sessions, k.Filter, k.Command, k.Back, k.Pause, k.Earlier, k.Later, k.Drain, k.Results, k.Mouse, k.Help,
		k.Suspend, k.Quit,
	}}
	marks := Group{"Mark", []key.Binding{k.Mark, k.MarkRange, k.MarkAll, k.Invert, k.Unmark}}
	return []Page{
		{"Elections", []Group{
			{"Move", append(moves(k.Top), k.NextTrouble, k.PrevTrouble)},
			{"Look", []key.Binding{
				k.Open, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp, k.Sort, k.Reverse, says(k.LongerLane, "longer lanes, up to 30 days"), says(k.ShorterLane, "shorter lanes, min. 1 minute"), says(k.Copy, "copy a field or a command"), k.Report,
			}},
			marks,
			{"Act", []key.Binding{k.Release, k.Destroy, says(k.Fix, "explain and fix a vacancy"), k.Run}},
			always,
		}},
		{"Events", []Group{
			{"Move", moves(says(k.Top, "newest; follow new events"))},
			{"Look", []key.Binding{says(k.Open, "open the event; again: open its election"), says(k.Report, "write an incident report about the listed events")}},
			always,
		}},
		{"Sessions", []Group{
			{"Move", moves(k.Top)},
			{"Look", []key.Binding{k.Open, k.PaneDown, k.PaneUp, k.Sort, k.Reverse, says(k.Copy, "copy a field or a command"), k.Scan}},
			{"Act", []key.Binding{k.Mark, says(k.Destroy, "destroy the session"), k.Run}},
			always,
		}},
		{"Dialogs", []Group{
			{"Read", []key.Binding{named(k.Down, "scroll down"), named(k.Up, "scroll up"), k.Fixed.Unfold, k.Fixed.Refresh}},
			{"Decide", []key.Binding{
				says(k.Fixed.Tab, "choose a button"), k.Fixed.Enter, k.Fixed.Confirm, k.Fixed.Hidden, says(k.Fixed.CopyCommand, "copy the equivalent electop command"),
				says(k.Fixed.Scan, "scan the store for other keys that the destroy affects"), says(k.Fixed.Esc, "cancel, close"),
			}},
			{"Plan of a drain", []key.Binding{
				says(k.Fixed.Exclude, "exclude or include the election"), says(k.Fixed.AllowDestroy, "allow or forbid destroying the sessions of leaders that stay on the node"),
			}},
			{"Drain in progress", []key.Binding{says(k.Fixed.Stop, "stop the drain")}},
			{"Configured commands", []key.Binding{says(k.Fixed.Enter, "run the command"), says(k.Fixed.Confirm, "confirm and run the command")}},
			{"Doctor", []key.Binding{says(k.Fixed.Refresh, "run the checks again")}},
			{"Discovered locks", []key.Binding{says(k.Fixed.WatchAll, "watch all discovered locks")}},
			{"Filter and command", []key.Binding{
				says(k.Fixed.Tab, "complete; again: next completion"), says(k.Fixed.Recall, "earlier line; down: later line"),
				says(k.Fixed.Select, "next row while filtering; ctrl-p: previous row"), says(k.Fixed.Enter, "keep the filter, or run the command"),
				says(k.Fixed.Esc, "clear the filter, or cancel the command"),
			}},
			{"Copy from an election", k.CopyMenu(false)},
			{"Copy from a session", k.CopyMenu(true)},
		}},
	}
}
