package keys

import (
	"cmp"
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
			case slices.Contains(strings.Fields("up down half-up half-down page-up page-down top bottom"), action) &&
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

// names returns the keys of an action, which own replaces. A user can always quit and go back.
func (r *Row) names(own []string) []string {
	names := strings.Fields(r.Keys)
	if always := names[len(names)-1]; len(own) > 0 {
		if names = own; (r.Name == "quit" || r.Name == "back") && !slices.Contains(own, always) {
			names = append(slices.Clone(own), always)
		}
	}
	return names
}

// valid reports whether terminals send a key of this name.
func valid(name string) bool {
	base, mod := parts(name)
	r, size := utf8.DecodeRuneInString(base)
	switch {
	case special(base) != 0:
		return true
	case slices.Contains(strings.Fields("ctrl+i ctrl+m ctrl+["), name), size != len(base), r == utf8.RuneError, !unicode.IsGraphic(r), unicode.IsSpace(r):
		return false
	}
	return mod&tea.ModShift == 0 && (mod&tea.ModCtrl == 0 || !unicode.IsUpper(r))
}

// Press returns the message for a key press. name is the name of the key, such as "j", "enter", "ctrl+d" or "space".
func Press(name string) tea.KeyPressMsg {
	base, mod := parts(name)
	press := tea.KeyPressMsg{Code: cmp.Or(special(base), []rune(base)[0]), Mod: mod}
	if mod == 0 && unicode.IsGraphic(press.Code) {
		press.Text = string(press.Code)
	}
	return press
}

// parts splits the name of a key into the modifiers, in their order, and the rest.
func parts(name string) (base string, mod tea.KeyMod) {
	for i, prefix := range []string{"ctrl+", "alt+", "shift+"} {
		if rest, found := strings.CutPrefix(name, prefix); found && rest != "" {
			name, mod = rest, mod|[]tea.KeyMod{tea.ModCtrl, tea.ModAlt, tea.ModShift}[i]
		}
	}
	return name, mod
}

// special returns the code of a key that has a name instead of a character, or 0 for another name.
func special(name string) rune {
	for _, code := range []rune{
		tea.KeyEnter, tea.KeyTab, tea.KeySpace, tea.KeyEscape, tea.KeyBackspace, tea.KeyInsert, tea.KeyDelete,
		tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown,
		tea.KeyF1, tea.KeyF2, tea.KeyF3, tea.KeyF4, tea.KeyF5, tea.KeyF6, tea.KeyF7, tea.KeyF8, tea.KeyF9, tea.KeyF10, tea.KeyF11, tea.KeyF12,
	} {
		if (tea.Key{Code: code}).String() == name {
			return code
		}
	}
	return 0
}
