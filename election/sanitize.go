package election

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes a text from Consul safe to show: the result has no control
// byte, escape sequence, line break, bidirectional or zero-width character.
// What was there stays visible: ESC becomes ␛, U+202E becomes <U+202E>, and
// bytes that are not UTF-8 become U+FFFD. A text that is safe is returned as
// it is.
func Sanitize(s string) string {
	if isSafe(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // at the beginning there is nothing to put one on
	for _, r := range s {
		if marks = countMarks(marks, r); marks > maxMarks {
			writeCode(&b, r)
			continue
		}
		writeSafe(&b, r)
	}
	return b.String()
}

// maxMarks is how many combining marks one letter may carry. They have no width
// of their own: more of them, or one without a letter, would draw over what
// stands around the text.
const maxMarks = 2

func countMarks(marks int, r rune) int {
	if r < 0x300 || !unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	return marks + 1
}

// Line is [Sanitize] for the first max runes of s, with white space at the
// edges left out and inner line breaks and tabs drawn as one space each. A text
// that was cut ends in "…".
func Line(s string, limit int) string {
	s = strings.TrimSpace(s)
	cut := false
	if n := nthRune(s, limit); n < len(s) {
		s, cut = s[:n], true
	}
	s = Sanitize(oneLine(s))
	if cut {
		s += "…"
	}
	return s
}

// oneLine draws line breaks and tabs as one space each.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n\t") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\t':
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// nthRune is the byte offset of the n-th rune of s, len(s) if s is shorter.
func nthRune(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	count := 0
	for i := range s {
		if count == n {
			return i
		}
		count++
	}
	return len(s)
}

func isSafe(s string) bool {
	marks := maxMarks
	for i, r := range s {
		if r < 0x7f && r >= 0x20 {
			marks = 0
			continue
		}
		if marks = countMarks(marks, r); marks > maxMarks || unsafeRune(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// unsafeRune reports runes that move the cursor, change the direction of text
// or cannot be seen.
func unsafeRune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x034f, r == 0x17b4, r == 0x17b5:
		return true // letters and marks that are drawn as nothing
	}
	return r > 0x9f && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Cs)
}

func writeSafe(b *strings.Builder, r rune) {
	switch {
	case !unsafeRune(r):
		b.WriteRune(r)
	case r < 0x20:
		b.WriteRune(0x2400 + r) // the control pictures
	case r == 0x7f:
		b.WriteRune('␡')
	default:
		writeCode(b, r)
	}
}

// writeCode writes a rune's number, as <U+202E>.
func writeCode(b *strings.Builder, r rune) {
	const hex = "0123456789ABCDEF"
	b.WriteString("<U+")
	for shift := max(12, (bitLen(r)-1)/4*4); shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&0xf])
	}
	b.WriteByte('>')
}

func bitLen(r rune) int {
	n := 0
	for ; r > 0; r >>= 1 {
		n++
	}
	return n
}

// EscapeJSON rewrites a JSON text so that it can be shown on a terminal: runes
// that [Sanitize] would replace are written as \u escapes, which mean the same
// to a JSON parser. Line feeds are kept: in JSON text they stand between
// tokens only.
func EscapeJSON(text []byte) []byte {
	s := string(text)
	if isSafe(strings.ReplaceAll(s, "\n", "")) {
		return text
	}
	var b strings.Builder
	marks := 0
	for _, r := range s {
		marks = countMarks(marks, r)
		if r == '\n' || !unsafeRune(r) && marks <= maxMarks {
			b.WriteRune(r)
			continue
		}
		writeEscape(&b, r)
	}
	return []byte(b.String())
}

func writeEscape(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	if r > 0xffff {
		r -= 0x10000
		writeEscape(b, 0xd800+r>>10)
		writeEscape(b, 0xdc00+r&0x3ff)
		return
	}
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&0xf])
	}
}
