package keys

import "charm.land/bubbles/v2/key"

// FixedKeys are the keys with a fixed meaning in dialogs, panels and prompts.
type FixedKeys struct {
	Enter, Esc, Tab, Recall key.Binding
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
		Recall: bind("up", "earlier", "up", "down"),
	}
}

// Prompt lists the footer keys of the filter line or of the command line.
func (k Map) Prompt(filter bool) []key.Binding {
	if filter {
		return []key.Binding{says(k.Fixed.Tab, "complete"), k.Fixed.Recall, says(k.Fixed.Enter, "keep the filter"), says(k.Fixed.Esc, "clear it")}
	}
	return []key.Binding{says(k.Fixed.Tab, "complete"), k.Fixed.Recall, says(k.Fixed.Enter, "run it"), says(k.Fixed.Esc, "leave")}
}

// dialogs returns the page of the help about dialogs and panels.
func (k Map) dialogs() Page {
	fixed := func(sign, about string) key.Binding {
		return key.NewBinding(key.WithKeys(sign), key.WithHelp(sign, about))
	}
	enter := k.Fixed.Enter.Help().Key
	return Page{"Dialogs", append([]Group{
		{"Read", []key.Binding{named(k.Down, "scroll down"), named(k.Up, "scroll up"), fixed("a", "show all details, keys and names"), fixed("r", "read the current state again")}},
		{"Decide", []key.Binding{
			fixed("tab", "choose a button"), fixed(enter, "press the button"), fixed("y", "press the action button"), fixed("space", "include the hidden marks"), fixed("c", "copy the equivalent electop command"),
			fixed("f", "scan the store for other keys that the destroy affects"), fixed("esc", "cancel, close"),
		}},
		{"Plan of a drain", []key.Binding{
			fixed("space", "exclude or include the election"), fixed("x", "allow or forbid destroying the sessions of leaders that stay on the node"),
		}},
		{"Results", []key.Binding{fixed("x", "stop the drain"), fixed("c", "copy the command that moves the leaders back")}},
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
