package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
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
		"soft\u00adhyphen":          "soft<U+00AD>hyphen",
		"note \ufff9\ufffa\ufffb":   "note <U+FFF9><U+FFFA><U+FFFB>",
		"private \ue000":            "private <U+E000>",
		"unassigned \u0378":         "unassigned <U+0378>",
		"hangul \u3164\u115f\uffa0": "hangul <U+3164><U+115F><U+FFA0>",
		"한글 is text":                "한글 is text",
		"jamo ᄀ":                    "jamo <U+1100>",
		"👍🏽":                        "👍<U+1F3FD>",
		"👨\u200d👩":                  "👨<U+200D>👩",
		"❤\ufe0f":                   "❤<U+FE0F>",
		"🇩🇪":                        "<U+1F1E9><U+1F1EA>",
		"शिव":                       "श<U+093F>व",
		"ก\u0e33":                   "ก<U+0E33>",
		"ก\u0e35 is a syllable":     "ก\u0e35 is a syllable",
		"1\u20e3":                   "1<U+20E3>",
		"עברית العربية":             "עברית العربية",
	}
	for in, want := range tests {
		if got := Text(in); got != want {
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

// Every printed rune must have the same width alone and next to any other rune, in terminals that count runes and in
// terminals that count graphemes.
func TestSanitizedRunesHaveTheirOwnWidth(t *testing.T) {
	beside := []string{"1", "e\u0301", "ก", "क", "한", "م", "👍", "❤"}
	const end = 0x40000 // later planes contain no letters
	for r := rune(0x20); r < end; r++ {
		if s := string(r); Text(s) != s || !utf8.ValidRune(r) {
			continue
		}
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Tangut) && r%61 > 0 {
			continue // 100,000 random code points of each kind
		}
		w := ansi.StringWidth(string(r))
		if w < 1 || w > 2 {
			t.Errorf("%U is %d cells wide, want 1 or 2", r, w)
		}
		for _, b := range beside {
			checkWidth(t, b+string(r)+b)
		}
	}
	for r := rune(0x300); r < end; r++ {
		for _, b := range beside {
			if s := b + string(r); isMark(r) && Text(s) == s {
				checkWidth(t, s+"a")
				checkWidth(t, s+b)
			}
		}
	}
}

// checkWidth fails the test unless the width in runes and the width in graphemes equal the sum of the separate runes.
func checkWidth(t *testing.T, s string) {
	t.Helper()
	sum := 0
	for _, r := range s {
		if !isMark(r) {
			sum += ansi.StringWidth(string(r))
		}
	}
	if g, w := ansi.StringWidth(s), ansi.StringWidthWc(s); g != sum || w != sum {
		t.Errorf("%+q takes %d cells by graphemes, %d by runes; want %d, the sum of its runes", s, g, w, sum)
	}
}

func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{
		"\x1b]0;title\x07\u202e\u009b", "👨\u200d👩\u200d👧", "🇩🇪", "1\ufe0f\u20e3", "ᄀ\u1161\u11a8", "क\u094dष\u093f", "e\u0301\u0302\u0303",
		"\u2028\u2029\u00ad\u034f", "\xf0\x9f\x91", "\xed\xa0\x80", "\U000e0041\U000e007f", "\u0600\u0661", "ﾊﾟ", "\u302e\u20e3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, safe := range []string{Text(s), Line(s, 40)} {
			if !utf8.ValidString(safe) {
				t.Errorf("the result %q is not UTF-8", safe)
			}
			for _, r := range safe {
				if !unicode.IsGraphic(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
					t.Errorf("%U is not replaced in %q", r, safe)
				}
			}
			if Text(safe) != safe {
				t.Errorf("sanitizing %q again changes it", safe)
			}
			checkWidth(t, safe)
			checkWidth(t, "a"+safe+"世")
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
		escaped := JSON(text)
		if got := string(escaped); Text(got) != got {
			t.Errorf("the result %q contains unsafe runes", got)
		}
		var want, got string
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(escaped, &got) != nil || got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}
