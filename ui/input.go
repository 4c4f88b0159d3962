package ui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// input is a line of text that is being edited, with the keys that shells have.
// (The textinput of bubbles starts programs to read the clipboard; a terminal
// pastes by itself.)
type input struct {
	text []rune
	at   int // where the cursor stands
}

// inputLimit is the longest text that can be typed.
const inputLimit = 500

// set replaces the text and puts the cursor behind it.
func (in *input) set(text string) {
	in.text = []rune(text)
	in.at = len(in.text)
}

func (in *input) String() string { return string(in.text) }

// insert puts a text in at the cursor. Line breaks become spaces, other control
// characters are left out.
func (in *input) insert(text string) {
	var typed []rune
	for _, r := range strings.TrimRight(text, "\r\n") {
		switch {
		case r == '\n' || r == '\t':
			typed = append(typed, ' ')
		case !unicode.IsControl(r):
			typed = append(typed, r)
		}
	}
	typed = typed[:min(len(typed), max(0, inputLimit-len(in.text)))]
	in.text = slices.Insert(in.text, in.at, typed...)
	in.at += len(typed)
}

// press edits the line.
func (in *input) press(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(len(in.text), in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		in.cut(max(0, in.at-1), in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, min(len(in.text), in.at+1))
	case "ctrl+u":
		in.cut(0, in.at)
	case "ctrl+k":
		in.cut(in.at, len(in.text))
	case "ctrl+w", "alt+backspace":
		in.cut(in.wordStart(), in.at)
	default:
		in.insert(msg.Text)
	}
}

func (in *input) cut(from, to int) {
	in.text = slices.Delete(in.text, from, to)
	in.at = from
}

// wordStart is where the word before the cursor begins.
func (in *input) wordStart() int {
	i := in.at
	for i > 0 && in.text[i-1] == ' ' {
		i--
	}
	for i > 0 && in.text[i-1] != ' ' {
		i--
	}
	return i
}
