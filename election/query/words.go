package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word as the user typed it.
type token struct {
	start int // byte offset of the word
	not   bool
	// field is in lower case, or empty for plain text. quoted is set if the value is quoted.
	field, value string
	quoted       bool
}

// scan divides text into words.
func scan(text string) []token {
	var all []token
	for at := skipBlanks(text, 0); at < len(text); at = skipBlanks(text, at) {
		t := token{start: at}
		if text[at] == '!' {
			t.not = true
			at++
		}
		// The word has a field if a colon follows letters. An address such as 10.0.0.1:8500 has no field.
		n := strings.IndexFunc(text[at:], func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
		if n > 0 && text[at+n] == ':' {
			t.field = strings.ToLower(text[at : at+n])
			at += n + 1
		}
		t.value, t.quoted, at = scanValue(text, at)
		all = append(all, t)
	}
	return all
}

func skipBlanks(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
}

// scanValue reads up to the next blank, or up to the closing quote if the value is quoted. If the closing quote is
// missing, it reads to the end.
func scanValue(text string, at int) (value string, quoted bool, end int) {
	if !strings.HasPrefix(text[at:], `"`) {
		n := strings.IndexFunc(text[at:], unicode.IsSpace)
		if n < 0 {
			n = len(text) - at
		}
		return text[at : at+n], false, at + n
	}
	var b strings.Builder
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' && at+1 < len(text) {
			at++
		}
		b.WriteByte(text[at])
	}
	return b.String(), true, min(at+1, len(text))
}

// Quote returns text that a filter parses as this value.
func Quote(value string) string {
	first, _ := utf8.DecodeRuneInString(value)
	if first != '"' && strings.IndexFunc(value, unicode.IsSpace) < 0 {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
