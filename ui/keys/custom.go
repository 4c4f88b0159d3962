package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
)

// Action is an action of the dashboard that settings can bind to keys. Name is its name in the settings.
type Action struct {
	Name, About string
	Keys        []string
}

// Actions lists all actions with their default keys.
func Actions() []Action {
	k := Default(false)
	var all []Action
	for _, n := range k.named() {
		all = append(all, Action{Name: n.name, About: strings.TrimSuffix(n.binding.Help().Desc, "…"), Keys: n.binding.Keys()})
	}
	return all
}

// Custom replaces the keys of some actions. The zero value replaces no keys.
type Custom struct {
	keys map[string][]string // the new keys of each action, by its name
}

// Error is a problem with the keys of one action.
type Error struct{ Action, Text string }

func (e *Error) Error() string { return e.Action + ": " + e.Text }

// fixed returns the key that an action keeps regardless of the settings, so that a user can always quit and go back.
// It returns "" if there is none.
func fixed(action string) string {
	return map[string]string{"quit": "ctrl+c", "back": "esc"}[action]
}

// Parse validates the configured keys of actions. Every error that it returns is an [*Error].
func Parse(custom map[string][]string) (Custom, error) {
	k := Default(false)
	known := map[string]bool{}
	for _, n := range k.named() {
		known[n.name] = true
	}
	for _, action := range slices.Sorted(maps.Keys(custom)) {
		if !known[action] {
			return Custom{}, &Error{action, "unknown action"}
		}
		if len(custom[action]) == 0 {
			return Custom{}, &Error{action, "the list of keys is empty"}
		}
		for _, name := range custom[action] {
			if problem := invalid(name, action); problem != "" {
				return Custom{}, &Error{action, problem}
			}
		}
	}
	if err := conflict(custom); err != nil {
		return Custom{}, err
	}
	return Custom{maps.Clone(custom)}, nil
}

// conflict returns an error if two actions have the same key. Only fix and scan may have the same key.
func conflict(custom map[string][]string) error {
	k := Default(false).With(Custom{custom})
	owner := map[string]string{}
	for _, n := range k.named() {
		for _, name := range n.binding.Keys() {
			other, taken := owner[name]
			owner[name] = n.name
			if !taken || other == n.name || n.name == "scan" && other == "fix" { // fix and scan are in different views
				continue
			}
			blamed, holder := n.name, other
			if custom[blamed] == nil {
				blamed, holder = other, n.name
			}
			return &Error{blamed, fmt.Sprintf("%q is already bound to %s", name, holder)}
		}
	}
	return nil
}

// With returns the bindings with the keys of c.
func (k Map) With(c Custom) Map {
	for _, n := range k.named() {
		names := c.keys[n.name]
		if len(names) == 0 {
			continue
		}
		n.binding.SetHelp(label(names[0]), n.binding.Help().Desc)
		if always := fixed(n.name); always != "" && !slices.Contains(names, always) {
			names = append(slices.Clone(names), always)
		}
		n.binding.SetKeys(names...)
	}
	if c.keys["up"] != nil || c.keys["down"] != nil {
		k.Down.SetHelp(first(k.Down)+"/"+first(k.Up), k.Down.Help().Desc)
	}
	return k
}

// first returns the label of the first key of a binding.
func first(b key.Binding) string { return label(b.Keys()[0]) }

// label returns the name of a key on the screen.
func label(name string) string {
	return strings.NewReplacer("ctrl+", "ctrl-", "alt+", "alt-", "shift+", "S-", "pgdown", "pgdn").Replace(name)
}

// inDialogs lists the keys with fixed meanings in dialogs. A movement key scrolls in dialogs, so it must not be one
// of them.
func inDialogs() []string {
	return []string{"y", "n", "q", "h", "l", "a", "f", "r", "x", "c", "enter", "esc", "space", "tab", "shift+tab", "left", "right", "ctrl+z"}
}

func movement() []string {
	return []string{"up", "down", "half-up", "half-down", "page-up", "page-down", "top", "bottom"}
}

// invalid returns the reason why an action cannot have the key, or "" if it can.
func invalid(name, action string) string {
	if slices.Contains(movement(), action) && slices.Contains(inDialogs(), name) {
		return fmt.Sprintf("%q has a fixed meaning in dialogs", name)
	}
	if same := sameAs(name); same != "" {
		return fmt.Sprintf("terminals do not distinguish %q from %q", name, same)
	}
	base, ctrl, shift := name, false, false
	for _, modifier := range []string{"ctrl+", "alt+", "shift+"} {
		rest, found := strings.CutPrefix(base, modifier)
		if found && rest != "" {
			base = rest
			ctrl, shift = ctrl || modifier == "ctrl+", shift || modifier == "shift+"
		}
	}
	r, size := utf8.DecodeRuneInString(base)
	switch {
	case slices.Contains(special(), base):
		return ""
	case size != len(base) || r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r):
		return fmt.Sprintf("%q is not a key; a key is one character or one of %s, optionally preceded by ctrl+, alt+ and shift+ in this order", name, strings.Join(special(), ", "))
	case shift:
		return fmt.Sprintf("%q: shift+ is not allowed before a character; use the upper-case letter or symbol", name)
	case ctrl && unicode.IsUpper(r):
		return fmt.Sprintf("%q: use a lower-case letter after ctrl+", name)
	}
	return ""
}

// sameAs returns the key for which a terminal sends the same byte as for name, or "" if there is none.
func sameAs(name string) string {
	return map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}[name]
}
