package keys

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"electop/ui/kit"
)

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
func (k Map) Pages() (pages []Page) {
	for _, at := range Views() {
		page := Page{Title: kit.Capital(string(at))}
		for _, title := range []string{"Move", "Look", "Mark", "Act", "Everywhere"} {
			g := Group{Title: title}
			for _, r := range k.Rows {
				text, shown := r.In(r.Help, at)
				if !shown || r.Group != title {
					continue
				}
				b := says(*r.Bind, text)
				if r.Name == "down" {
					if text = "down"; slices.Contains(b.Keys(), "down") {
						text += "; also arrow keys"
					}
					b.SetHelp(k.label(b.Keys()[0]), text)
				}
				g.Keys = append(g.Keys, b)
			}
			if len(g.Keys) > 0 {
				page.Groups = append(page.Groups, g)
			}
		}
		pages = append(pages, page)
	}
	return append(pages, k.dialogs())
}

// hint describes a key.
func (k *Map) hint(name, about string) key.Binding {
	return key.NewBinding(key.WithKeys(name), key.WithHelp(k.label(name), about))
}

// Prompt lists the footer keys of the filter line or of the command line.
func (k *Map) Prompt(filter bool) []key.Binding {
	run, leave := "run it", "leave"
	if filter {
		run, leave = "keep the filter", "clear it"
	}
	return []key.Binding{k.hint("tab", "complete"), k.hint("enter", run), k.hint("esc", leave)}
}

// dialogs returns the page of the help about dialogs and panels.
func (k *Map) dialogs() Page {
	return Page{"Dialogs", []Group{
		{"Read", []key.Binding{k.hint(k.Down.Keys()[0], "scroll down"), k.hint(k.Up.Keys()[0], "scroll up"), k.hint("a", "show all details, keys and names"), k.hint("r", "read the current state again")}},
		{"Decide", []key.Binding{
			k.hint("tab", "choose a button"), k.hint("enter", "press the button"), k.hint("y", "press the action button"), k.hint("c", "copy the equivalent electop command"),
			k.hint("esc", "cancel, close"),
		}},
		{"Filter and command", []key.Binding{
			k.hint("tab", "complete; again: next completion"),
			k.hint("ctrl-n", "next row while filtering; ctrl-p: previous row"), k.hint("enter", "keep the filter, or run the command"),
			k.hint("esc", "clear the filter, or cancel the command"),
		}},
	}}
}
