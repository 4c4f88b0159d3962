package prompt

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/scene"
)

// Values returns the values of a field on the board, sorted. It omits values that the user cannot type.
func Values(s *scene.Scene, field string) []string {
	all := make([]string, 0, len(s.Shown.Elections))
	session := func(ses *election.Session) {
		all = append(all, map[string]string{"node": ses.Node, "session": ses.Name}[field])
	}
	for _, e := range s.Shown.Elections {
		switch field {
		case "election":
			all = append(all, e.Name)
		case "leader":
			all = append(all, e.Leader)
		case "key":
			all = append(all, e.Key())
		case "dc":
			all = append(all, e.Datacenter)
		default:
			if e.Session != nil {
				session(e.Session)
			}
		}
	}
	if s.Shown.SessionList != nil {
		for _, ses := range s.Shown.SessionList.Sessions {
			session(ses)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(text string) bool { return text == "" || !typable(text) })
}

// typable reports whether a text consists of printable characters and has no spaces at its ends. It has a fast path
// for ASCII, because each frame checks the texts of all elections.
func typable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return strings.TrimSpace(text) == text && sanitize.Text(text) == text
		}
	}
	return text[0] != ' ' && text[len(text)-1] != ' '
}

// CompleteFilter returns a Completer for filters.
func CompleteFilter(s *scene.Scene, scope query.Scope) Completer {
	return func(text string) (int, []string) {
		return query.Complete(text, scope, func(field string) []string { return Values(s, field) })
	}
}
