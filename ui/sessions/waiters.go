package sessions

import (
	"strings"
	"unicode"

	"electop/election"
)

// waiters finds idle sessions that may be candidates of a watched election. If a session may be either a candidate
// or an orphan, it counts as a candidate.
type waiters struct {
	former map[string]bool // sessions that led an election
	alike  map[string]bool // results of looksOf for the sessions of leaders
	names  map[string]bool // names of elections
}

func newWaiters(es []*election.Election) *waiters {
	c := &waiters{
		former: make(map[string]bool, len(es)), alike: make(map[string]bool, 2*len(es)), names: make(map[string]bool, len(es)),
	}
	for _, e := range es {
		c.names[e.Name] = true
		for i := range e.Terms {
			c.former[e.Terms[i].Session] = true
		}
		for _, s := range []*election.Session{e.Session, e.LastSession} {
			if s == nil {
				continue
			}
			for _, look := range looksOf(s) {
				c.alike[look] = true
			}
		}
	}
	return c
}

// mayWait reports whether a session led an election before, or resembles the session of a leader.
func (c *waiters) mayWait(s *election.Session) bool { return c.former[s.ID] || c.competes(s) }

// competes reports whether a session resembles the session of a leader: a similar name or check, or a name that
// contains the name of an election.
func (c *waiters) competes(s *election.Session) bool {
	for _, look := range looksOf(s) {
		if c.alike[look] {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(s.Name, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '/' }) {
		if c.named(word) {
			return true
		}
	}
	return false
}

// named reports whether a word is the name of an election, or starts with that name and a separator, for example
// "web-host17". It ignores names shorter than three bytes, because they are ambiguous.
func (c *waiters) named(word string) bool {
	for i := 3; i <= len(word); i++ {
		if (i == len(word) || strings.IndexByte("-_.", word[i]) >= 0) && c.names[word[:i]] {
			return true
		}
	}
	return false
}

// looksOf returns a session's name and service checks without the node name and without digits, because the node
// name and the digits differ between instances of a program.
func looksOf(s *election.Session) []string {
	short, _, _ := strings.Cut(s.Node, ".")
	var looks []string
	add := func(kind, text string) {
		for _, node := range []string{s.Node, short} {
			if node != "" {
				text = strings.ReplaceAll(text, node, "#")
			}
		}
		text = strings.Map(withoutDigits, text)
		if strings.ContainsFunc(text, unicode.IsLetter) {
			looks = append(looks, kind+text)
		}
	}
	add("name ", s.Name)
	for _, id := range s.ServiceChecks {
		add("check ", id)
	}
	return looks
}

func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}
