package sessions

import (
	"cmp"
	"strings"
	"unicode"

	"electop/election"
	"electop/election/insight"
)

// mayWait returns a function that reports whether a session may be a candidate: it led an election, its name or a check
// resembles that of a leader's session, or its name contains the name of an election. Such a session is not an orphan.
func mayWait(es []*election.Election) func(*election.Session) bool {
	known, names := make(map[string]bool, 3*len(es)), make(map[string]bool, len(es))
	for _, e := range es {
		names[e.Name] = true
		for i := range e.Terms {
			known[e.Terms[i].Session] = true
		}
		for _, s := range []*election.Session{e.Session, e.LastSession} {
			if s != nil {
				for _, look := range looksOf(s) {
					known[look] = true
				}
			}
		}
	}
	return func(s *election.Session) bool {
		for _, look := range append(looksOf(s), s.ID) {
			if known[look] {
				return true
			}
		}
		for word := range strings.FieldsFuncSeq(s.Name, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '/' }) {
			for i := 3; i <= len(word); i++ { // shorter names are ambiguous
				if (i == len(word) || strings.IndexByte("-_.", word[i]) >= 0) && names[word[:i]] {
					return true
				}
			}
		}
		return false
	}
}

// looksOf returns what a session's name and service checks have in common with those of other instances of its program.
func looksOf(s *election.Session) (looks []string) {
	for i, text := range append([]string{s.Name}, s.ServiceChecks...) {
		if text != "" {
			looks = append(looks, []string{"name ", "check "}[min(i, 1)]+cmp.Or(insight.Shape(text, s.Node), text))
		}
	}
	return looks
}
