package keys

import "charm.land/bubbles/v2/key"

// FixedKeys are the keys with a fixed meaning in dialogs, panels and prompts.
type FixedKeys struct {
	Enter, Esc, Tab, Confirm, Scan, Stop, Recall, Exclude, AllowDestroy, CopyCommand key.Binding
}

// Fixed returns the keys with a fixed meaning.
func Fixed(ascii bool) FixedKeys {
	enter := "⏎"
	if ascii {
		enter = "enter"
	}
	bind := func(short, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(short, what))
	}
	return FixedKeys{
		Enter: bind(enter, "press the button", "enter"), Esc: bind("esc", "cancel", "esc"), Tab: bind("tab", "choose", "tab"),
		Confirm: bind("y", "press the action button", "y"), Scan: bind("f", "scan all keys", "f"), Stop: bind("x", "stop", "x"),
		Recall: bind("up", "earlier", "up", "down"), Exclude: bind("space", "exclude", "space"), AllowDestroy: bind("x", "allow destroy", "x"),
		CopyCommand: bind("c", "copy the command", "c"),
	}
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

// ResultList lists the footer keys of the results. draining is true if the panel shows a drain in progress.
func (k Map) ResultList(draining bool) []key.Binding {
	if draining {
		return []key.Binding{says(k.Down, "scroll"), k.Fixed.Stop, says(k.Fixed.Enter, "hide")}
	}
	return []key.Binding{says(k.Down, "scroll"), says(k.Fixed.Esc, "close")}
}

// dialogs returns the page of the help about dialogs and panels.
func (k Map) dialogs() Page {
	fixed := func(sign, about string) key.Binding {
		return key.NewBinding(key.WithKeys(sign), key.WithHelp(sign, about))
	}
	enter := k.Fixed.Enter.Help().Key
	return Page{"Dialogs", append([]Group{
		{"Read", []key.Binding{named(k.Down, "scroll down"), named(k.Up, "scroll up"), fixed("a", "show shortened lists in full"), fixed("r", "read the current state again")}},
		{"Decide", []key.Binding{
			fixed("tab", "choose a button"), fixed(enter, "press the button"), fixed("y", "press the action button"), fixed("space", "include the hidden marks"), fixed("c", "copy the equivalent electop command"),
			fixed("f", "scan the store for other keys that the destroy affects"), fixed("esc", "cancel, close"),
		}},
		{"Plan of a drain", []key.Binding{
			fixed("space", "exclude or include the election"), fixed("x", "allow or forbid destroying the sessions of leaders that stay on the node"),
		}},
		{"Drain in progress", []key.Binding{fixed("x", "stop the drain")}},
		{"Configured commands", []key.Binding{fixed(enter, "run the command"), fixed("y", "confirm and run the command")}},
		{"Doctor", []key.Binding{fixed("r", "run the checks again")}},
		{"Discovered locks", []key.Binding{fixed("w", "watch all discovered locks")}},
		{"Filter and command", []key.Binding{
			fixed("tab", "complete; again: next completion"), fixed("up", "earlier line; down: later line"),
			fixed("ctrl-n", "next row while filtering; ctrl-p: previous row"), fixed(enter, "keep the filter, or run the command"),
			fixed("esc", "clear the filter, or cancel the command"),
		}},
	}, k.Copies...)}
}
