// Package keys defines how the keys of the dashboard are bound, drawn and replaced.
package keys

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Map contains the key bindings that components handle, and the rows of all actions.
type Map struct {
	Up, Down, HalfUp, HalfDown, PageUp, PageDown, Top, Bottom key.Binding
	NextTrouble, PrevTrouble                                  key.Binding
	Open, Back, NextTab, PrevTab, PaneUp, PaneDown            key.Binding
	Filter, Sort, Reverse, Pause, Mark, Command, Report       key.Binding
	Release, Destroy, Results, Scan                           key.Binding
	MarkAll, Invert, MarkRange, Unmark                        key.Binding
	Earlier, Later, ShorterLane, LongerLane                   key.Binding
	Mouse, Suspend, Quit                                      key.Binding
	// Enter is how the screen names the key enter.
	Enter string
	// Copies are the groups of the help about the copy menus.
	Copies []Group
	rows   []Row
}

// Place is a part of the screen with its own footer. The first three are the views, and pages of the help.
type Place string

// The places.
const (
	Elections Place = "elections"
	Events    Place = "events"
	Sessions  Place = "sessions"
	Zoom      Place = "zoom" // the pane of an election fills the screen
	Past      Place = "past" // the board shows the past
	Session   Place = "session"
	Empty     Place = "empty" // there are no elections
)

// Row describes an action that has keys, or a command, or both.
type Row struct {
	// Name is the name in the settings. It is empty if the action has no key.
	Name string
	// Keys are the default keys, separated by spaces. Sign is how the screen names them, if not by the first key.
	Keys, Sign string
	About      string
	Group      string // the group of the action in the help
	// Help lists the pages of the help with the action, and Foot the footers: "elections, events=newest". The text after
	// the place replaces About.
	Help, Foot string
	// Bind receives the binding of an action that a component handles.
	Bind *key.Binding
	// Command is the command with its argument, such as "sort KEY [reverse]", or empty. Says describes the command if it
	// differs from About.
	Command, Says string

	binding key.Binding
}

// Binding returns the keys of the action.
func (r *Row) Binding() key.Binding { return r.binding }

// In reports whether places, which are Help or Foot, contain a place, and returns the text there.
func (r *Row) In(places string, at Place) (text string, found bool) {
	for part := range strings.SplitSeq(places, ", ") {
		if place, text, _ := strings.Cut(part, "="); place == string(at) {
			return text, true
		}
	}
	return "", false
}

// Word returns the name of the command.
func (r *Row) Word() string {
	word, _, _ := strings.Cut(r.Command, " ")
	return word
}

// New binds the rows to their keys, and stores the bindings for k, to whose fields the rows refer.
func New(k *Map, rows []*Row, c Custom) {
	for _, r := range rows {
		names := strings.Fields(r.Keys)
		sign := r.Sign
		if own := c.keys[r.Name]; len(own) > 0 && r.Name != "" {
			names, sign = own, label(own[0])
			if always := fixed(r.Name); always != "" && !slices.Contains(names, always) {
				names = append(slices.Clone(names), always)
			}
		}
		if len(names) > 0 {
			if sign == "" {
				sign = label(names[0])
			}
			r.binding = key.NewBinding(key.WithKeys(names...), key.WithHelp(sign, r.About))
		}
		if r.Bind != nil {
			*r.Bind = r.binding
		}
		k.rows = append(k.rows, *r)
	}
	if c.keys["up"] != nil || c.keys["down"] != nil {
		sign := first(k.Down) + "/" + first(k.Up)
		k.Down.SetHelp(sign, k.Down.Help().Desc)
		for i := range k.rows {
			if k.rows[i].Name == "down" {
				k.rows[i].binding = k.Down
			}
		}
	}
}

// Footer lists the keys in the footer of a place, the most important first. It omits the action hidden, and disables
// those in off.
func (k Map) Footer(at Place, hidden string, off ...string) []key.Binding {
	var all []key.Binding
	for i := range k.rows {
		r := &k.rows[i]
		if text, shown := r.In(r.Foot, at); shown && r.Name != hidden {
			b := says(r.binding, text)
			b.SetEnabled(!slices.Contains(off, r.Name))
			all = append(all, b)
		}
	}
	return all
}

// Commands lists the actions that have a command.
func (k Map) Commands() []Row {
	return slices.DeleteFunc(slices.Clone(k.rows), func(r Row) bool { return r.Command == "" })
}

// says returns the binding with another description, unless it is empty.
func says(b key.Binding, what string) key.Binding {
	if what != "" {
		b.SetHelp(b.Help().Key, what)
	}
	return b
}

// named returns the binding with only its first key as the label, and with another description.
func named(b key.Binding, what string) key.Binding {
	b.SetHelp(first(b), what)
	return b
}

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
	titles := map[Place]string{Elections: "Elections", Events: "Events", Sessions: "Sessions"}
	for _, at := range []Place{Elections, Events, Sessions} {
		page := Page{Title: titles[at]}
		for _, title := range []string{"Move", "Look", "Mark", "Act", "Everywhere"} {
			g := Group{Title: title}
			for i := range k.rows {
				r := &k.rows[i]
				text, shown := r.In(r.Help, at)
				switch {
				case !shown || r.Group != title:
				case r.Name == "down" && slices.Contains(r.binding.Keys(), "down"):
					g.Keys = append(g.Keys, named(r.binding, "down; also arrow keys"))
				case r.Name == "down":
					g.Keys = append(g.Keys, named(r.binding, "down"))
				default:
					g.Keys = append(g.Keys, says(r.binding, text))
				}
			}
			if len(g.Keys) > 0 {
				page.Groups = append(page.Groups, g)
			}
		}
		pages = append(pages, page)
	}
	return append(pages, k.dialogs())
}
