package query_test

import (
	"testing"
	"unicode/utf8"

	"electop/election/query"
	"electop/election/sanitize"
)

// FuzzParse checks that no text causes a panic, that errors are safe to print and short, and that each completion is
// one word.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"web", "!web", "/^web-[12]$/", `"a b`, `leader:"web on \"n\""`, "state:vacant node:n for:<2d04h changes:>=3", "advice:any !cause:released", "state:foo",
		"!", "/", "/[", "!/(", ":", "a:", "é:x", "for:<9999999d", "changes:<99999999999", "\x1b[31m", "state:\u202e", "type:e", "\xff",
	} {
		f.Add(text)
	}
	es := board()
	values := func(string) []string { return []string{`"`, "a b", `\`, "é", "web", "!x"} }
	f.Fuzz(func(t *testing.T, text string) {
		for _, scope := range []query.Scope{query.Elections, query.Events, query.Sessions} {
			parsed := query.Parse(text, scope)
			if err := parsed.Err; err != nil && (sanitize.Text(err.Error()) != err.Error() || utf8.RuneCountInString(err.Error()) > 400) {
				t.Errorf("%q: the error is too long or not sanitized: %q", text, err)
			}
			if scope == query.Elections {
				parsed.On(es, nil, query.Facts{At: now()}).Select(es)
			}
			start, options := query.Complete(text, scope, values)
			for _, o := range options {
				if n := len(query.Parse(o, scope).Words); n > 1 {
					t.Errorf("%q: the option %q has %d words, want at most 1", text, o, n)
				}
				if start > len(text) {
					t.Errorf("%q: the completion begins at offset %d, after the end of the text", text, start)
				}
			}
		}
		if plain := query.Parse("key:"+query.Quote(text), query.Elections); utf8.ValidString(text) && text != "" && (plain.Err != nil || len(plain.Words) != 1) {
			t.Errorf("%q quoted: %+v", text, plain)
		}
		_, _ = query.ParseOrder(text)
	})
}
