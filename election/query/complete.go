package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxOptions is the maximum number of completions.
const maxOptions = 100

// Complete returns completions of the last word of a filter, and the offset at which this word begins. values returns
// the values of a field that accepts any text, sorted; it may be nil.
func Complete(text string, s Scope, values func(field string) []string) (start int, options []string) {
	t := token{start: len(text)}
	if all := scan(text); len(all) > 0 {
		if last, _ := utf8.DecodeLastRuneInString(text); !unicode.IsSpace(last) || all[len(all)-1].open(text) {
			t = all[len(all)-1]
		}
	}
	not := ""
	if t.not {
		not = "!"
	}
	if t.field == "" {
		for _, f := range FieldsOf(s) {
			if !t.quoted && strings.HasPrefix(f.Name, strings.ToLower(t.value)) {
				options = append(options, not+f.Name+":")
			}
		}
		return t.start, options
	}
	f, err := find(t, s)
	if err != nil {
		return t.start, nil
	}
	known := f.Values(s)
	switch {
	case known != nil:
	case f.parse != nil:
		known = []string{strings.TrimPrefix(f.Example, f.Name+":")}
	case values != nil:
		known = values(f.Name)
	}
	for _, v := range matching(known, strings.ToLower(t.value), f.values == nil) {
		if option := not + f.Name + ":" + Quote(v); option != text[t.start:] {
			options = append(options, option)
		}
	}
	return t.start, options
}

// open reports whether the token, which is the last token of text, has a quoted value without a closing quote.
func (t token) open(text string) bool {
	return t.quoted && strings.Count(text[t.start:], `"`)-strings.Count(text[t.start:], `\"`) < 2
}

// matching returns the values that begin with text. If inside is set, the values that contain text follow.
func matching(values []string, text string, inside bool) []string {
	var found, others []string
	for _, v := range values {
		switch lower := strings.ToLower(v); {
		case strings.HasPrefix(lower, text) || strings.HasPrefix(underscored(lower), text):
			found = append(found, v)
		case inside && strings.Contains(lower, text):
			others = append(others, v)
		}
	}
	found = slices.Concat(found, others)
	return found[:min(len(found), maxOptions)]
}
