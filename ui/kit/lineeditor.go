package kit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Input is an editable line with the keys of a shell. It replaces the textinput of Bubbles, because textinput starts
// programs to read the clipboard.
type Input struct {
	Text []rune
	At   int // position of the cursor, in runes
}

// InputLimit is the maximum length of an input, in runes.
const InputLimit = 500

func (in *Input) String() string { return string(in.Text) }

// Insert inserts a text at the cursor. It replaces line breaks with spaces and drops other control characters.
func (in *Input) Insert(text string) {
	var typed []rune
	for _, r := range strings.TrimRight(text, "\r\n") {
		switch {
		case r == '\n' || r == '\t':
			typed = append(typed, ' ')
		case !unicode.IsControl(r):
			typed = append(typed, r)
		}
	}
	typed = typed[:min(len(typed), max(0, InputLimit-len(in.Text)))]
	in.Text = slices.Insert(in.Text, in.At, typed...)
	in.At += len(typed)
}

// Press edits the line.
func (in *Input) Press(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "left", "ctrl+b":
		in.At = max(0, in.At-1)
	case "right", "ctrl+f":
		in.At = min(len(in.Text), in.At+1)
	case "home", "ctrl+a":
		in.At = 0
	case "end", "ctrl+e":
		in.At = len(in.Text)
	case "backspace", "ctrl+h":
		in.cut(max(0, in.At-1), in.At)
	case "delete", "ctrl+d":
		in.cut(in.At, min(len(in.Text), in.At+1))
	case "ctrl+u":
		in.cut(0, in.At)
	case "ctrl+k":
		in.cut(in.At, len(in.Text))
	case "ctrl+w", "alt+backspace":
		before := strings.TrimRight(string(in.Text[:in.At]), " ")
		in.cut(utf8.RuneCountInString(before[:strings.LastIndex(before, " ")+1]), in.At)
	default:
		in.Insert(msg.Text)
	}
}

func (in *Input) cut(from, to int) {
	in.Text = slices.Delete(in.Text, from, to)
	in.At = from
}
