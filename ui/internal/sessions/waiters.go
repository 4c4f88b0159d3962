package sessions

import (
	"strings"
	"unicode"

	"electop/election"
)

// waiters tell of a session that holds nothing whether it may wait for a
// watched election, and so was not left behind. They are put in order once for
// all sessions; in doubt a session waits.
type waiters struct {
	former map[string]bool // sessions that led
	alike  map[string]bool // what sessions of leaders look like
	names  map[string]bool // of the elections
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

// mayWait reports that a session led before, or looks like that of a leader.
func (c *waiters) mayWait(s *election.Session) bool { return c.former[s.ID] || c.competes(s) }

// competes judges by what a whole kin has in common.
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

// named reports a word that is an election's name or begins with one, as
// "web-host17" does. Shorter names tell nothing.
func (c *waiters) named(word string) bool {
	for i := 3; i <= len(word); i++ {
		if (i == len(word) || strings.IndexByte("-_.", word[i]) >= 0) && c.names[word[:i]] {
			return true
		}
	}
	return false
}

// looksOf are a session's name and service checks without what differs from one
// instance of a program to the next: its node's name and all numbers.
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
