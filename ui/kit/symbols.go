package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Symbols contains the symbols and the line-drawing characters. The symbols of lanes, borders and states are one cell
// wide.
type Symbols struct {
	Led, Delay, Vacant, Semaphore             string
	Passing, Warning, Critical, Unknown, Dash string
	LaneLed, LaneLost, LaneGap, LaneWon       string
	LaneChange, LaneUnseen                    string
	rule, Bar, topLeft, topRight, bottomLeft  string
	bottomRight, Cursor, Mark, Up, Down       string
	MarkedCursor                              string
	Ellipsis, Dot, Connecting, Paused         string
	AtLeast, Arrow, more                      string
	KeyMove, Note, Urgent, Past               string
	// ascii, if set, replaces punctuation marks with similar ASCII characters of the same width.
	ascii *strings.Replacer
}

// Unicode returns the symbols for terminals that display Unicode.
func Unicode() *Symbols {
	return &Symbols{
		Led: "●", Delay: "◐", Vacant: "○", Semaphore: "◎",
		Passing: "✓", Warning: "!", Critical: "✗", Unknown: "?", Dash: "—",
		LaneLed: "━", LaneLost: "╾", LaneGap: "─", LaneWon: "╼", LaneChange: "┿", LaneUnseen: "·",
		rule: "─", Bar: "│", topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯",
		Cursor: "▌", Mark: "▎", MarkedCursor: "█", Up: "▲", Down: "▼", Ellipsis: "…", Dot: "·",
		Connecting: "◌", Paused: "‖", AtLeast: "≥", Arrow: "→",
		more: "↓", KeyMove: "↑↓", Note: "▸", Urgent: "⚑", Past: "«",
	}
}

// ASCII returns the symbols for terminals that display only ASCII.
func ASCII() *Symbols {
	return &Symbols{
		Led: "*", Delay: "~", Vacant: "o", Semaphore: "%",
		Passing: "ok", Warning: "!", Critical: "x", Unknown: "?", Dash: "-",
		LaneLed: "=", LaneLost: ">", LaneGap: "-", LaneWon: "<", LaneChange: "|", LaneUnseen: ".",
		rule: "-", Bar: "|", topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+",
		Cursor: ">", Mark: "+", MarkedCursor: "@", Up: "^", Down: "v", Ellipsis: "~", Dot: "-",
		Connecting: ".", Paused: "=", AtLeast: ">=", Arrow: "->",
		more: "v", KeyMove: "j/k", Note: ">", Urgent: "#", Past: "<<",
		ascii: strings.NewReplacer("…", "~", "—", "-", "–", "-", "·", "-", "×", "x", "“", `"`, "”", `"`, "’", "'", "‘", "'"),
	}
}

// Plain replaces characters that the terminal cannot draw. If the symbols are ASCII, it replaces every character that
// is not ASCII with a similar ASCII character, or with question marks of the same width.
func (s *Symbols) Plain(text string) string {
	if s.ascii == nil || isASCII(text) {
		return text
	}
	var b strings.Builder
	text = s.ascii.Replace(text)
	for state := byte(0); text != ""; {
		seq, width, n, next := ansi.DecodeSequence(text, state, nil)
		if !isASCII(seq) {
			seq = strings.Repeat("?", width)
		}
		b.WriteString(seq)
		text, state = text[n:], next
	}
	return b.String()
}
