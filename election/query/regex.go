package query

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"

	"electop/election/sanitize"
)

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

// Is reports whether text equals the value, ignoring case, or matches the regex.
func (w *Word) Is(text string) bool {
	if w.regex != nil {
		return w.In(text)
	}
	return strings.EqualFold(text, w.Value)
}

// In reports whether text contains the value, ignoring case, or matches the regex.
func (w *Word) In(text string) bool {
	if w.regex != nil {
		return w.regex.MatchString(text)
	}
	return containsFold(text, w.Value)
}
