// Package keys defines how the keys of the dashboard are bound, drawn and replaced.
package keys

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Map contains the key bindings that components handle, and the tables of all actions.
type Map struct {
	Up, Down, HalfUp, HalfDown, PageUp, PageDown, Top, Bottom key.Binding
	NextProblem, PrevProblem                                  key.Binding
	Open, Back, NextTab, PrevTab, PaneUp, PaneDown            key.Binding
	Sort, Reverse, Pause, Mark, Command, Report               key.Binding
	Release, Destroy, Results                                 key.Binding
	MarkAll, Unmark                                           key.Binding
	Earlier, Later, ShorterLane, LongerLane                   key.Binding
	Mouse, Suspend, Quit                                      key.Binding
	// Enter is how the screen names the key enter.
	Enter string
	// Rows are the actions that have keys, and Commands those of the command line.
	Rows     []Row
	Commands []Command
}

// Place is a part of the screen with its own footer. The first three are the views, and pages of the help.
type Place string

// The places.
const (
	Elections Place = "elections"
	Events    Place = "events"
	Sessions  Place = "sessions"
	Zoom      Place = "zoom"  // the pane of an election fills the screen
	Past      Place = "past"  // the board shows the past
	Empty     Place = "empty" // there are no elections
)

// Views lists the views in the order of the help.
func Views() []Place {
	return []Place{
		Elections,
		Events,
		Sessions,
	}
}

// Row is an action that has keys.
type Row struct {
	// Name is the name in the settings, and Keys are the default keys, separated by spaces.
	Name, Keys, About string
	// Group is the group of the action in the help. Help lists the pages of the help with the action, which are the
	// views in which it works, and Foot the footers: "elections, events=newest". "views" stands for all views. The text after the place replaces About.
	Group, Help, Foot string
	// Bind receives the binding. It is nil in the table if no component handles the action.
	Bind *key.Binding
	// Run carries out the action. If Run is nil, the part of the screen with the focus handles
	// the key.
	Run func(arg string) tea.Cmd
}

// Command is a command of the command line.
type Command struct {
	// Usage is the name with the argument, such as "sort KEY [reverse]".
	Usage, About string
	// Run carries out the command.
	Run func(arg string) tea.Cmd
	// Complete, if set, completes the argument.
	Complete func(text string) (start int, options []string)
}

// Word returns the name of the command.
func (c *Command) Word() string {
	word, _, _ := strings.Cut(c.Usage, " ")
	return word
}

// In reports whether places, which are Help or Foot, contain a place, and returns the text there.
func (r *Row) In(places string, at Place) (text string, found bool) {
	for part := range strings.SplitSeq(places, ", ") {
		if place, text, _ := strings.Cut(part, "="); place == string(at) || place == "views" && slices.Contains(Views(), at) {
			return text, true
		}
	}
	return "", false
}

// Bind binds the rows to their keys. custom replaces the keys of some actions.
func (k *Map) Bind(ascii bool, custom map[string][]string) {
	if k.Enter = "⏎"; ascii {
		k.Enter = "enter"
	}
	for i := range k.Rows {
		r := &k.Rows[i]
		if ascii {
			r.Foot = strings.ReplaceAll(r.Foot, "…", "...")
		}
		names := r.names(custom[r.Name])
		if r.Bind == nil {
			r.Bind = new(key.Binding)
		}
		*r.Bind = key.NewBinding(key.WithKeys(names...), key.WithHelp(k.label(names[0]), r.About))
	}
	move := "↑↓"
	if ascii || custom["up"] != nil || custom["down"] != nil {
		move = k.label(k.Down.Keys()[0]) + "/" + k.label(k.Up.Keys()[0])
	}
	k.Down.SetHelp(move, k.Down.Help().Desc)
}

// label returns the name of a key on the screen.
func (k *Map) label(name string) string {
	if name == "enter" {
		return k.Enter
	}
	return strings.NewReplacer("ctrl+", "ctrl-", "alt+", "alt-", "shift+", "S-", "pgdown", "pgdn").Replace(name)
}

// Footer lists the keys in the footer of a place that work in the view, the most important first. It omits the actions
// in hidden, and disables those in off.
func (k *Map) Footer(at, view Place, hidden []string, off ...string) (all []key.Binding) {
	for _, r := range k.Rows {
		text, shown := r.In(r.Foot, at)
		if _, works := r.In(r.Help, view); shown && works && !slices.Contains(hidden, r.Name) {
			b := says(*r.Bind, text)
			b.SetEnabled(!slices.Contains(off, r.Name))
			all = append(all, b)
		}
	}
	return all
}

// says returns the binding with another description, unless it is empty.
func says(b key.Binding, what string) key.Binding {
	if what != "" {
		b.SetHelp(b.Help().Key, what)
	}
	return b
}

// Step converts a movement key to a number of rows. page is the number of visible rows, and all is the total number of
// rows. For other keys, Step returns false.
func (k Map) Step(msg tea.KeyPressMsg, page, all int) (int, bool) {
	half := max(1, page/2)
	for i, b := range []key.Binding{k.Down, k.Up, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp, k.Bottom, k.Top} {
		if key.Matches(msg, b) {
			return []int{1, -1, half, -half, page, -page, all, -all}[i], true
		}
	}
	return 0, false
}

// Scroll returns the key that scrolls a text.
func (k Map) Scroll() key.Binding { return says(k.Down, "scroll") }
