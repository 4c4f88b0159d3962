package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

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
