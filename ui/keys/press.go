package keys

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Press returns the message for a key press. name is the name of the key, such as "j", "enter", "ctrl+d" or "space".
func Press(name string) tea.KeyPressMsg {
	base, mod := parts(name)
	press := tea.KeyPressMsg{Code: []rune(base)[0], Mod: mod}
	if i := special(base); i >= 0 {
		press.Code = specialKeys()[i]
	}
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

// special returns the index of a name in [specialKeys], or -1.
func special(name string) int {
	return slices.IndexFunc(specialKeys(), func(code rune) bool { return tea.Key{Code: code}.String() == name })
}

// specialKeys lists the codes of the keys that have a name instead of a character.
func specialKeys() []rune {
	return []rune{
		tea.KeyEnter, tea.KeyTab, tea.KeySpace, tea.KeyEscape, tea.KeyBackspace, tea.KeyInsert, tea.KeyDelete,
		tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown,
		tea.KeyF1, tea.KeyF2, tea.KeyF3, tea.KeyF4, tea.KeyF5, tea.KeyF6, tea.KeyF7, tea.KeyF8, tea.KeyF9, tea.KeyF10, tea.KeyF11, tea.KeyF12,
	}
}
