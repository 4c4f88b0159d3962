package prompt

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
)

// Values lists the values of a field on the board, sorted. Texts that the user cannot type are
// omitted.
func Values(s *scene.Scene, field string) []string {
	seen := map[string]struct{}{}
	for _, e := range s.Shown.Elections {
		seen[valueOf(e, field)] = struct{}{}
	}
	if s.Shown.SessionList != nil && (field == "node" || field == "session") {
		for _, ses := range s.Shown.SessionList.Sessions {
			text := ses.Node
			if field == "session" {
				text = ses.Name
			}
			seen[text] = struct{}{}
		}
	}
	all := make([]string, 0, len(seen))
	for text := range seen {
		if text != "" && strings.TrimSpace(text) == text && sanitize.Text(text) == text {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
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

// NamesOn returns the names that complete a command in a view.
func NamesOn(s *scene.Scene, scope query.Scope, patterns []string) Names {
	return Names{
		Elections: Values(s, "election"), Nodes: Values(s, "node"), Patterns: patterns, Orders: query.OrderKeys(),
		Filter: CompleteFilter(s, scope), ElectionFilter: CompleteFilter(s, query.Elections),
	}
}
