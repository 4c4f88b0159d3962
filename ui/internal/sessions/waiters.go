package sessions

import (
	"strings"
	"unicode"

	"electop/election"
)

// waiters decides whether an idle session may wait for a watched election and so is no orphan.
// Uncertain sessions count as waiters.
type waiters struct {
	former map[string]bool // sessions that led
	alike  map[string]bool // looks of leaders' sessions, see looksOf
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

// mayWait reports whether a session led before or resembles that of a leader.
func (c *waiters) mayWait(s *election.Session) bool { return c.former[s.ID] || c.competes(s) }

// competes reports whether the session's name or checks resemble a leader's or an election's.
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

// named reports whether a word is an election's name or starts with one, like "web-host17".
// Names shorter than three bytes are too ambiguous.
func (c *waiters) named(word string) bool {
	for i := 3; i <= len(word); i++ {
		if (i == len(word) || strings.IndexByte("-_.", word[i]) >= 0) && c.names[word[:i]] {
			return true
		}
	}
	return false
}

// looksOf returns a session's name and service checks without the node name and digits, which
// differ between instances of a program.
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
