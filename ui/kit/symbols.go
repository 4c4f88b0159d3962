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
	ascii                                     bool
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
		more: "v", KeyMove: "j/k", Note: ">", Urgent: "#", Past: "<<", ascii: true,
	}
}

// Plain replaces characters that the terminal cannot draw. If the symbols are ASCII, it replaces every character that
// is not ASCII with a similar ASCII character, or with question marks of the same width.
func (s *Symbols) Plain(text string) string {
	if !s.ascii || isASCII(text) {
		return text
	}
	var b strings.Builder
	for state := byte(0); text != ""; {
		seq, width, n, next := ansi.DecodeSequence(text, state, nil)
		switch similar := similarSign(seq); {
		case isASCII(seq):
			b.WriteString(seq)
		case similar != "":
			b.WriteString(similar)
		default:
			b.WriteString(strings.Repeat("?", width))
		}
		text, state = text[n:], next
	}
	return b.String()
}

// similarSign returns a similar ASCII character of the same width for a punctuation mark, or "" if there is none.
func similarSign(r string) string {
	switch r {
	case "…":
		return "~"
	case "—", "–", "·":
		return "-"
	case "×":
		return "x"
	case "“", "”":
		return `"`
	case "’", "‘":
		return "'"
	}
	return ""
}
