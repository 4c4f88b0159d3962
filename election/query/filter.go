package query

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"electop/election"
	"electop/election/sanitize"
)

// Filter is a parsed filter. All words must match.
type Filter struct {
	Text  string
	Words []Word
	// Err describes the first invalid word. Words omits invalid words, so that they do not exclude any element.
	Err error
	// Unfinished is set if Err is only about the missing value of the last word: the user may still be typing.
	Unfinished bool
}

// Word is one word of a filter. Without a field, it is compared with several text fields.
type Word struct {
	Field string // empty if the word names no field
	Value string // value in lower case
	Not   bool
	// regex is set for /regex/. compare is set for a field with numbers.
	regex   *regexp.Regexp
	compare comparison
	// unfinished is set if the field has no value, or only an operator.
	unfinished bool
}

// Parse parses text, !inverse, /regex/ and field:value, separated by blanks. Quotes make any text literal.
func Parse(text string, s Scope) Filter {
	f := Filter{Text: text}
	tokens := scan(text)
	for i, t := range tokens {
		w, err := t.word(s)
		switch {
		case err != nil && f.Err == nil:
			f.Err = err
			f.Unfinished = w.unfinished && i == len(tokens)-1 && strings.TrimRight(text, " ") == text
		case err == nil && (w.Value != "" || w.Field != ""):
			f.Words = append(f.Words, w)
		}
	}
	return f
}

// Empty reports whether the filter has neither valid nor invalid words.
func (f Filter) Empty() bool { return len(f.Words) == 0 && f.Err == nil }

// Has reports whether a word has one of the fields.
func (f Filter) Has(fields ...string) bool {
	return slices.ContainsFunc(f.Words, func(w Word) bool { return slices.Contains(fields, w.Field) })
}

// DependsOnTime reports whether an election may begin or cease to match although it does not change.
func (f Filter) DependsOnTime() bool { return f.Has("for", "changes", "advice") }

// Check returns the reason why an action must not use the filter: an invalid word would be ignored, and an empty
// filter matches everything.
func (f Filter) Check() error {
	if f.Empty() {
		return errors.New("the filter is empty")
	}
	return f.Err
}

func (t token) word(s Scope) (Word, error) {
	w := Word{Field: t.field, Value: strings.ToLower(t.value), Not: t.not}
	switch {
	case t.field != "":
		return w.ofField(t, s)
	case !t.quoted && strings.HasPrefix(t.value, "/"):
		return w.ofRegex(t.value)
	}
	return w, nil
}

// shownText is the maximum length of user input in an error, in runes.
const shownText = 40

func (w Word) ofField(t token, s Scope) (Word, error) {
	f, err := find(t, s)
	if err != nil {
		return w, err
	}
	w.unfinished = strings.TrimRight(t.value, "<>=") == ""
	switch {
	case t.value == "":
		return w, fmt.Errorf("%s: needs a value, for example %s", f.Name, f.ExampleIn(s))
	case f.parse != nil:
		w.compare, err = f.parse(w.Value)
		if err != nil {
			err = fmt.Errorf("%s: %w, for example %s", f.Name, err, f.Example)
		}
		return w, err
	}
	values := f.Values(s)
	if values == nil {
		return w, nil
	}
	w.Value = underscored(w.Value)
	if !slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(underscored(v), w.Value) }) {
		return w, fmt.Errorf("unknown %s %q: %s", f.Name, sanitize.Line(t.value, shownText), strings.Join(values, ", "))
	}
	return w, nil
}

// find returns the field of a token.
func find(t token, s Scope) (Field, error) {
	var names []string
	for _, f := range Fields() {
		applies := slices.Contains(f.Scopes, s)
		switch {
		case f.Name == t.field && applies:
			return f, nil
		case f.Name == t.field:
			return f, fmt.Errorf("%s: does not apply to %s", f.Name, s)
		case applies:
			names = append(names, f.Name+":")
		}
	}
	return Field{}, fmt.Errorf("unknown word %q: use one of %s, or quote text that contains a colon", sanitize.Line(t.field, shownText)+":", strings.Join(names, " "))
}

func splitOperator(text string) (operator, rest string) {
	for _, operator := range []string{"<=", ">=", "<", ">", "="} {
		if rest, found := strings.CutPrefix(text, operator); found {
			return operator, rest
		}
	}
	return "", text
}

func parseCount(text string) (comparison, error) {
	operator, rest := splitOperator(text)
	n, err := strconv.ParseUint(rest, 10, 31)
	if err != nil {
		return comparison{}, errors.New("needs a number")
	}
	return comparison{operator, int64(n)}, nil
}

func parseAge(text string) (comparison, error) {
	operator, rest := splitOperator(text)
	if operator == "" || operator == "=" {
		return comparison{}, errors.New("needs < or >")
	}
	d, err := election.ParseDays(rest)
	if err != nil {
		return comparison{}, errors.New("needs a duration")
	}
	return comparison{operator, int64(d)}, nil
}

// ofRegex parses /regex/. The last slash may be missing: the user may still be typing.
func (w Word) ofRegex(text string) (Word, error) {
	pattern := strings.TrimSuffix(text[1:], "/")
	if pattern == "" {
		return Word{}, nil
	}
	var err error
	if w.regex, err = regexp.Compile(pattern); err != nil {
		reason := "invalid"
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			reason = e.Code.String() + ": " + sanitize.Line(e.Expr, shownText)
		}
		return w, errors.New("regex: " + reason)
	}
	// The upper-case letters of escapes such as \W do not make a regex case-sensitive.
	if !strings.ContainsFunc(regexp.MustCompile(`\\.`).ReplaceAllString(pattern, ""), unicode.IsUpper) {
		w.regex = regexp.MustCompile("(?i)" + pattern)
	}
	return w, nil
}
