// Package sanitize makes text from Consul safe to print on a terminal. Keys, values,
// names, check output and error bodies are arbitrary bytes that other programs wrote;
// control bytes, escape sequences, bidirectional and zero-width characters must not
// reach the terminal.
package sanitize

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Text makes s safe to print: unsafe runes become visible (ESC is ␛, U+202E is <U+202E>, invalid UTF-8 is U+FFFD). It
// keeps accents and the letters of right-to-left scripts, which a terminal may reorder.
func Text(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // the maximum, because a combining mark needs a preceding letter
	for _, r := range s {
		if marks = countMarks(marks, r); marks > maxMarks {
			writeCode(&b, r)
			continue
		}
		writeSafe(&b, r)
	}
	return b.String()
}

// maxMarks is the maximum number of combining marks on one letter. Marks have no width: additional marks, or a mark
// without a letter, would overlap neighbouring text.
const maxMarks = 2

func countMarks(marks int, r rune) int {
	if r < 0x300 || !isMark(r) {
		return 0
	}
	return marks + 1
}

// isMark reports whether a rune is an accent or vowel sign above or below a letter. Other combining marks are excluded,
// because they may change the width of the letter or join it with the next letter.
func isMark(r rune) bool {
	return unicode.Is(unicode.Mn, r) &&
		unicode.In(r, unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Thai, unicode.Lao)
}

// Line returns [Text] of the first limit runes of s as one line: it trims white space and replaces each line break
// and tab with a space. A truncated line ends in "…".
func Line(s string, limit int) string {
	s = strings.TrimSpace(s)
	cut := false
	if n := nthRune(s, limit); n < len(s) {
		s, cut = s[:n], true
	}
	if strings.ContainsAny(s, "\r\n\t") {
		s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s)
	}
	if s = Text(s); cut {
		s += "…"
	}
	return s
}

// nthRune returns the byte offset of the n-th rune of s, or len(s) if s has no more than n runes.
func nthRune(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// unsafeRune reports whether a rune moves the cursor, changes the direction of
// text, is invisible or has no fixed width.
func unsafeRune(r rune) bool {
	switch {
	case r < 0x7f:
		return r < 0x20
	case r < 0xa0:
		return true
	case !unicode.IsGraphic(r): // format characters, private-use characters and unassigned code points
		return true
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case unicode.In(r, unicode.M):
		return !isMark(r)
	}
	return drawnTogether(r)
}

// drawnTogether reports whether terminals may combine a rune with its neighbour. Some terminals draw the combination in
// fewer cells than the separate runes.
func drawnTogether(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xa97f, r >= 0xd7b0 && r <= 0xd7ff: // conjoining Hangul
	case r == 0x0e33, r == 0x0eb3, r == 0xff9e, r == 0xff9f: // Thai and Lao vowel signs AM, voiced sound marks
	case r == 0x0d4e, r == 0x111c2, r == 0x111c3, r == 0x1193f, r == 0x11941, // signs that precede a letter
		r >= 0x11a84 && r <= 0x11a89, r == 0x11d46, r == 0x11f02:
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators, which form flags
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
	default:
		return false
	}
	return true
}

func writeSafe(b *strings.Builder, r rune) {
	switch {
	case !unsafeRune(r):
		b.WriteRune(r)
	case r < 0x20:
		b.WriteRune(0x2400 + r) // Unicode control pictures, such as ␛
	case r == 0x7f:
		b.WriteRune('␡')
	default:
		writeCode(b, r)
	}
}

// writeCode writes the code point of a rune, such as <U+202E>.
func writeCode(b *strings.Builder, r rune) { fmt.Fprintf(b, "<U+%04X>", r) }

// JSON makes JSON text safe to print: it replaces unsafe runes (see [Text]) with equivalent \u escapes. It keeps line
// feeds, because in JSON text they occur only between tokens.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
		return text
	}
	var b strings.Builder
	marks := 0
	for _, r := range string(text) {
		marks = countMarks(marks, r)
		if r == '\n' || !unsafeRune(r) && marks <= maxMarks {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return []byte(b.String())
}
