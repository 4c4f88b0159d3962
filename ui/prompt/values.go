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
	for _, e := range s.Shown.Elections {
		all = append(all, valueOf(e, field))
	}
	if s.Shown.SessionList != nil && (field == "node" || field == "session") {
		for _, ses := range s.Shown.SessionList.Sessions {
			text := ses.Node
			if field == "session" {
				text = ses.Name
			}
			all = append(all, text)
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

func valueOf(e *election.Election, field string) string {
	switch field {
	case "election":
		return e.Name
	case "leader":
		return e.Leader
	case "node":
		return e.Node()
	case "key":
		return e.Key()
	case "dc":
		return e.Datacenter
	case "session":
		if e.Session != nil {
			return e.Session.Name
		}
	}
	return ""
}

// CompleteFilter returns a Completer for filters.
func CompleteFilter(s *scene.Scene, scope query.Scope) Completer {
	return func(text string) (int, []string) {
		return query.Complete(text, scope, func(field string) []string { return Values(s, field) })
	}
}
