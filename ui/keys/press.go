package keys

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Press returns the message for a key press. name is the name of the key, such as "j", "enter", "ctrl+d" or "space".
func Press(name string) tea.KeyPressMsg {
	base, mod := name, tea.KeyMod(0)
	for _, m := range modifiers() {
		if rest, found := strings.CutPrefix(base, m.prefix); found && rest != "" {
			base, mod = rest, mod|m.mod
		}
	}
	press := tea.KeyPressMsg{Code: []rune(base)[0], Mod: mod}
	if i := slices.Index(special(), base); i >= 0 {
		press.Code = specialCodes()[i]
	}
	if mod == 0 && unicode.IsGraphic(press.Code) {
		press.Text = string(press.Code)
	}
	return press
}

type modifier struct {
	prefix string
	mod    tea.KeyMod
}

// modifiers lists the modifiers in the order in which they precede a key.
func modifiers() []modifier {
	return []modifier{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}}
}

// special lists the keys that have a name instead of a character.
func special() []string {
	return []string{
		"enter", "tab", "space", "esc", "backspace", "insert", "delete", "up", "down", "left", "right", "home", "end", "pgup", "pgdown",
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
	}
}

// specialCodes lists the codes of [special] in the same order.
func specialCodes() []rune {
	return []rune{
		tea.KeyEnter, tea.KeyTab, tea.KeySpace, tea.KeyEscape, tea.KeyBackspace, tea.KeyInsert, tea.KeyDelete,
		tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown,
		tea.KeyF1, tea.KeyF2, tea.KeyF3, tea.KeyF4, tea.KeyF5, tea.KeyF6, tea.KeyF7, tea.KeyF8, tea.KeyF9, tea.KeyF10, tea.KeyF11, tea.KeyF12,
	}
}
