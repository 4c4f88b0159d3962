package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Error is a problem with the keys of one action.
type Error struct{ Action, Text string }

func (e *Error) Error() string { return e.Action + ": " + e.Text }

// Check validates the configured keys of actions and binds k to them. Every error that it returns is an [*Error].
func (k *Map) Check(custom map[string][]string) error {
	for _, action := range slices.Sorted(maps.Keys(custom)) {
		switch {
		case !slices.ContainsFunc(k.Rows, func(r Row) bool { return r.Name == action }):
			return &Error{action, "unknown action"}
		case len(custom[action]) == 0:
			return &Error{action, "the list of keys is empty"}
		}
		for _, name := range custom[action] {
			switch {
			case !valid(name):
				return &Error{action, fmt.Sprintf("%q is not a key; a key is one character that is not a space, or a name such as enter, space, pgup or f5, optionally preceded by ctrl+ and alt+ in this order. "+
					"Only a name can follow shift+; terminals send ctrl+i as tab, ctrl+m as enter and ctrl+[ as esc", name)}
			case slices.Contains([]string{"up", "down", "half-up", "half-down", "page-up", "page-down", "top", "bottom"}, action) &&
				slices.Contains(strings.Fields("y n q h l a f r x c enter esc space tab shift+tab left right ctrl+z"), name):
				return &Error{action, fmt.Sprintf("%q has a fixed meaning in dialogs", name)}
			}
		}
	}
	k.Bind(false, custom)
	owner := map[string]string{}
	for _, r := range k.Rows {
		for _, name := range r.Bind.Keys() {
			holder, taken := owner[name]
			owner[name] = r.Name
			if !taken || holder == r.Name {
				continue
			}
			blamed := r.Name
			if custom[blamed] == nil {
				blamed, holder = holder, blamed
			}
			return &Error{blamed, fmt.Sprintf("%q is already bound to %s", name, holder)}
		}
	}
	return nil
}

// valid reports whether terminals send a key of this name.
func valid(name string) bool {
	base, mod := parts(name)
	r, size := utf8.DecodeRuneInString(base)
	switch {
	case special(base) >= 0:
		return true
	case slices.Contains([]string{"ctrl+i", "ctrl+m", "ctrl+["}, name), size != len(base), r == utf8.RuneError, !unicode.IsGraphic(r), unicode.IsSpace(r):
		return false
	}
	return mod&tea.ModShift == 0 && (mod&tea.ModCtrl == 0 || !unicode.IsUpper(r))
}
