package election

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSanitize(t *testing.T) {
	tests := map[string]string{
		"plain ünïcode 漢字":          "plain ünïcode 漢字",
		"\x1b[2Jclear":              "␛[2Jclear",
		"a\nb\tc\x00":               "a␊b␉c␀",
		"c1 \u009b31m":              "c1 <U+009B>31m",
		"bidi \u202e":               "bidi <U+202E>",
		"zero\u200bwidth\ufeff":     "zero<U+200B>width<U+FEFF>",
		"tag \U000e0041":            "tag <U+E0041>",
		"bytes \x9b \xff":           "bytes \ufffd \ufffd",
		"del \x7f":                  "del ␡",
		"\u2028line\u2029":          "<U+2028>line<U+2029>",
		"e\u0301 is a letter":       "e\u0301 is a letter",
		"\u0301on nothing":          "<U+0301>on nothing",
		"z\u0301\u0302\u0303algo":   "z\u0301\u0302<U+0303>algo",
		"a real replacement \ufffd": "a real replacement \ufffd",
	}
	for in, want := range tests {
		if got := Sanitize(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLineIsShortAndOneLine(t *testing.T) {
	if got := Line("  a\r\nb\tc  ", 10); got != "a b c" {
		t.Errorf("%q", got)
	}
	if got := Line("äöüß", 3); got != "äöü…" {
		t.Errorf("%q", got)
	}
	if got := Line(strings.Repeat("x", 1<<20), 5); got != "xxxxx…" {
		t.Errorf("%q", got)
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\u009b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, safe := range []string{Sanitize(s), Line(s, 40), LeaderLabel(Pair{Value: []byte(s), Session: s}, &Session{Name: s, Node: s}), ShortID(s)} {
			if !utf8.ValidString(safe) {
				t.Errorf("%q is not UTF-8", safe)
			}
			for _, r := range safe {
				if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
					t.Errorf("%U got through in %q", r, safe)
				}
			}
			if Sanitize(safe) != safe {
				t.Errorf("%q changes when sanitised again", safe)
			}
		}
	})
}

func FuzzEscapeJSONKeepsTheMeaning(f *testing.F) {
	f.Add("\u009b\U000e0041\u2028\x7f")
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.Marshal(s)
		if err != nil {
			return
		}
		escaped := EscapeJSON(text)
		if got := string(escaped); Sanitize(got) != got {
			t.Errorf("%q is not safe", got)
		}
		var want, got string
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(escaped, &got) != nil || got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}
