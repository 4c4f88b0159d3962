package ui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"electop/election"
)

// filter is what the user typed after "/": words that must all match.
type filter struct {
	text  string
	words []filterWord
}

// filterWord is one word: text to be found anywhere, or in one field.
type filterWord struct {
	field string // empty for plain text
	value string // in lower case
	not   bool
}

// parseFilter reads words: plain text, field:text for the fields the screen
// knows, and either of them after "!" for the inverse. Everything parses: a
// word that is no field is text.
func parseFilter(text string) filter {
	f := filter{text: text}
	for word := range strings.FieldsSeq(text) {
		w := filterWord{value: strings.ToLower(word)}
		if rest, found := strings.CutPrefix(w.value, "!"); found {
			w.not, w.value = true, rest
		}
		if field, value, found := strings.Cut(w.value, ":"); found && isField(field) {
			w.field, w.value = field, value
		}
		if w.value != "" {
			f.words = append(f.words, w)
		}
	}
	return f
}

func isField(s string) bool {
	switch s {
	case "state", "node", "leader", "session", "key", "type":
		return true
	}
	return false
}

func (f filter) empty() bool { return len(f.words) == 0 }

// match reports whether every word matches the election.
func (f filter) match(e *election.Election, asOf time.Time) bool {
	for _, w := range f.words {
		if w.matchElection(e, asOf) == w.not {
			return false
		}
	}
	return true
}

func (w filterWord) matchElection(e *election.Election, asOf time.Time) bool {
	switch w.field {
	case "state":
		word := standingOf(e, asOf).word()
		return strings.HasPrefix(word, strings.ReplaceAll(w.value, "_", "-"))
	case "node":
		return containsFold(nodeOf(e), w.value)
	case "leader":
		return containsFold(e.Leader, w.value)
	case "session":
		return strings.HasPrefix(e.Pair.Session, w.value) && w.value != "" ||
			e.Session != nil && containsFold(e.Session.Name, w.value)
	case "key":
		return containsFold(e.Key(), w.value)
	case "type":
		return false
	}
	return containsFold(e.Name, w.value) || containsFold(e.Key(), w.value) ||
		containsFold(e.Leader, w.value) || containsFold(nodeOf(e), w.value)
}

// nodeOf is the node of the leader, or of the last one while nobody leads.
func nodeOf(e *election.Election) string {
	if e.Session != nil {
		return e.Session.Node
	}
	if last := e.LastTerm(); last != nil && e.Leader == "" {
		return last.Node
	}
	return ""
}

// matchEvent reports whether every word matches the event.
func (f filter) matchEvent(ev *election.Event) bool {
	for _, w := range f.words {
		if w.matchOneEvent(ev) == w.not {
			return false
		}
	}
	return true
}

func (w filterWord) matchOneEvent(ev *election.Event) bool {
	switch w.field {
	case "type":
		return strings.HasPrefix(string(ev.Type), w.value)
	case "node":
		return containsFold(ev.Node, w.value)
	case "leader":
		return containsFold(ev.Leader, w.value)
	case "session":
		return strings.HasPrefix(ev.Session, w.value)
	case "key":
		return containsFold(ev.Key, w.value)
	case "state":
		return false
	}
	for _, text := range []string{
		ev.Election, ev.Key, ev.Leader, ev.Node, string(ev.Type), string(ev.Cause), ev.Evidence, ev.Error,
	} {
		if containsFold(text, w.value) {
			return true
		}
	}
	return false
}

// containsFold reports whether s contains sub, which is in lower case, in any
// case of letters. Ten thousand elections pass here at every key press, so it
// makes no lower-case copies of texts that are ASCII.
func containsFold(s, sub string) bool {
	if sub == "" {
		return true
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Contains(strings.Map(unicode.ToLower, s), sub)
		}
	}
	for i := 0; i+len(sub) <= len(s); i++ {
		if hasPrefixFold(s[i:], sub) {
			return true
		}
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	for i := range len(prefix) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}
