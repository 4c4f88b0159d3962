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

// Parse validates the configured keys of actions. rows refer to the fields of k. Every error that it returns is an
// [*Error].
func Parse(k *Map, rows []*Row, custom map[string][]string) (Custom, error) {
	for _, action := range slices.Sorted(maps.Keys(custom)) {
		switch {
		case action == "" || !slices.ContainsFunc(rows, func(r *Row) bool { return r.Name == action }):
			return Custom{}, &Error{action, "unknown action"}
		case len(custom[action]) == 0:
			return Custom{}, &Error{action, "the list of keys is empty"}
		}
		for _, name := range custom[action] {
			if problem := invalid(name, action); problem != "" {
				return Custom{}, &Error{action, problem}
			}
		}
	}
	c := Custom{maps.Clone(custom)}
	New(k, rows, c)
	owner := map[string]string{}
	for _, r := range rows {
		for _, name := range r.binding.Keys() {
			other, taken := owner[name]
			owner[name] = r.Name
			if !taken || other == r.Name || r.Name == "scan" && other == "fix" { // fix and scan are in different views
				continue
			}
			blamed, holder := r.Name, other
			if custom[blamed] == nil {
				blamed, holder = other, r.Name
			}
			return Custom{}, &Error{blamed, fmt.Sprintf("%q is already bound to %s", name, holder)}
		}
	}
	return c, nil
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
