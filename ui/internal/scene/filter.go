package scene

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"electop/election"
)

// Filter is a parsed filter: all words must match.
type Filter struct {
	Text  string
	Words []FilterWord
}

// FilterWord is one word, matched against all text or one field.
type FilterWord struct {
	Field string // empty for plain text
	Value string // in lower case
	Not   bool
}

// ParseFilter parses plain text, field:text and "!" for the inverse. An unknown field is plain
// text.
func ParseFilter(text string) Filter {
	f := Filter{Text: text}
	for word := range strings.FieldsSeq(text) {
		w := FilterWord{Value: strings.ToLower(word)}
		if rest, found := strings.CutPrefix(w.Value, "!"); found {
			w.Not, w.Value = true, rest
		}
		if field, value, found := strings.Cut(w.Value, ":"); found && isField(field) {
			w.Field, w.Value = field, value
		}
		if w.Value != "" {
			f.Words = append(f.Words, w)
		}
	}
	return f
}

func isField(s string) bool {
	switch s {
	case "state", "node", "leader", "session", "key", "type", "election", "cause":
		return true
	}
	return false
}

// Empty reports whether the filter matches everything.
func (f Filter) Empty() bool { return len(f.Words) == 0 }

// Match reports whether every word matches the election.
func (f Filter) Match(e *election.Election, asOf time.Time) bool {
	for _, w := range f.Words {
		if w.matchElection(e, asOf) == w.Not {
			return false
		}
	}
	return true
}

func (w FilterWord) matchElection(e *election.Election, asOf time.Time) bool {
	switch w.Field {
	case "state":
		word := DisplayStateOf(e, asOf).Word()
		return strings.HasPrefix(word, strings.ReplaceAll(w.Value, "_", "-"))
	case "node":
		return ContainsFold(NodeOf(e), w.Value)
	case "leader":
		return ContainsFold(e.Leader, w.Value)
	case "session":
		return strings.HasPrefix(e.Pair.Session, w.Value) && w.Value != "" ||
			e.Session != nil && ContainsFold(e.Session.Name, w.Value)
	case "key":
		return ContainsFold(e.Key(), w.Value)
	case "election":
		return w.Names(e.Name, e.Key())
	case "cause":
		last := e.LastTerm()
		return last != nil && strings.HasPrefix(string(last.Cause), w.Value)
	case "type":
		return false
	}
	return ContainsFold(e.Name, w.Value) || ContainsFold(e.Key(), w.Value) ||
		ContainsFold(e.Leader, w.Value) || ContainsFold(NodeOf(e), w.Value)
}

// Names reports whether the value is exactly this name or key.
func (w FilterWord) Names(name, key string) bool {
	return strings.EqualFold(name, w.Value) || strings.EqualFold(key, w.Value)
}

// NodeOf is the node of the leader, or of the last leader if there is none.
func NodeOf(e *election.Election) string {
	if e.Session != nil {
		return e.Session.Node
	}
	if n := len(e.Terms); n > 0 && e.Pair.Held() {
		return e.Terms[n-1].Node
	}
	if last := e.LastTerm(); last != nil && e.Leader == "" {
		return last.Node
	}
	return ""
}

// MatchEvent reports whether every word matches the event or its explanation.
func (f Filter) MatchEvent(l EventLine) bool {
	for _, w := range f.Words {
		if matches := w.matchOneEvent(l.Ev) || l.Why != nil && w.matchOneEvent(l.Why); matches == w.Not {
			return false
		}
	}
	return true
}

func (w FilterWord) matchOneEvent(ev *election.Event) bool {
	switch w.Field {
	case "type":
		return strings.HasPrefix(string(ev.Type), w.Value)
	case "node":
		return ContainsFold(ev.Node, w.Value)
	case "leader":
		return ContainsFold(ev.Leader, w.Value)
	case "session":
		return strings.HasPrefix(ev.Session, w.Value)
	case "key":
		return ContainsFold(ev.Key, w.Value)
	case "election":
		return w.Names(ev.Election, ev.Key)
	case "cause":
		return strings.HasPrefix(string(ev.Cause), w.Value) && ev.Cause != ""
	case "state":
		return false
	}
	texts := []string{ev.Election, ev.Key, ev.Leader, ev.Node, string(ev.Type), string(ev.Cause), ev.Evidence, ev.Error}
	return slices.ContainsFunc(texts, func(text string) bool { return ContainsFold(text, w.Value) })
}

// ContainsFold reports whether s contains sub, ignoring case; sub must be in lower case. It
// does not copy ASCII texts: each key press filters every election.
func ContainsFold(s, sub string) bool {
	if sub == "" {
		return true
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Contains(strings.Map(unicode.ToLower, s), sub)
		}
	}
	for i := 0; i+len(sub) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return true
		}
	}
	return false
}
