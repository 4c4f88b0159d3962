package keys

import "charm.land/bubbles/v2/key"

// Page is the help about one part of the dashboard: the keys that have an effect there.
type Page struct {
	Title  string
	Groups []Group
}

// Group is a list of keys with one purpose.
type Group struct {
	Title string
	Keys  []key.Binding
}

// Pages returns the help: one page per view, in the order of the views, and one about dialogs
// and panels.
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
				k.Open, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp, k.Sort, k.Reverse, k.Wide, says(k.LongerLane, "longer lanes, to 30 days"), says(k.ShorterLane, "shorter lanes, to 5 minutes"), says(k.Copy, "copy, also as a command"), k.Report,
			}},
			marks,
			{"Act", []key.Binding{k.Release, k.Destroy, says(k.Fix, "fix: why there is no leader"), k.Run}},
			always,
		}},
		{"Events", []Group{
			{"Move", moves(says(k.Top, "newest: the list follows it"))},
			{"Look", []key.Binding{says(k.Open, "the whole event; then its election"), says(k.Report, "write an incident report about the listed events")}},
			always,
		}},
		{"Sessions", []Group{
			{"Move", moves(k.Top)},
			{"Look", []key.Binding{k.Open, k.PaneDown, k.PaneUp, k.Sort, k.Reverse, k.Wide, says(k.Copy, "copy, such as the session ID"), k.Scan}},
			{"Act", []key.Binding{k.Mark, says(k.Destroy, "destroy the session"), k.Run}},
			always,
		}},
		{"Dialogs", []Group{
			{"Read", []key.Binding{named(k.Down, "scroll down"), named(k.Up, "scroll up"), k.Fixed.Unfold, k.Fixed.Refresh}},
			{"Decide", []key.Binding{
				says(k.Fixed.Tab, "choose the button"), k.Fixed.Enter, k.Fixed.Confirm, k.Fixed.Hidden, says(k.Fixed.CopyCommand, "copy the electop command that does the same"),
				says(k.Fixed.Scan, "scan all keys for more that a destroy affects"), says(k.Fixed.Esc, "cancel, close"),
			}},
			{"Plan of a drain", []key.Binding{
				says(k.Fixed.Exclude, "exclude or include the election"), says(k.Fixed.AllowDestroy, "allow or forbid destroying the sessions of leaders that stay"),
				says(k.Fixed.ListAll, "list all elections of a long plan, or only those that need attention"),
			}},
			{"Drain in progress", []key.Binding{says(k.Fixed.Stop, "stop the drain")}},
			{"Commands of the settings", []key.Binding{says(k.Fixed.Enter, "run the command"), says(k.Fixed.Confirm, "run a command that needs a confirmation")}},
			{"Doctor", []key.Binding{says(k.Fixed.Refresh, "run the checks again")}},
			{"Discovered locks", []key.Binding{says(k.Wide, "watch all of them")}},
			{"Filter and command", []key.Binding{
				says(k.Fixed.Tab, "complete; again: the next completion"), says(k.Fixed.Recall, "an earlier line; down: a later one"),
				says(k.Fixed.Select, "filter: the next row; ctrl-p: the previous row"), says(k.Fixed.Enter, "keep the filter, run the command"),
				says(k.Fixed.Esc, "clear the filter, or cancel the command"),
			}},
			{"Copy of an election", k.CopyMenu(false)},
			{"Copy of a session", k.CopyMenu(true)},
		}},
	}
}
