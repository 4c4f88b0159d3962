package events

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/query"
	"electop/internal/history"
)

// translation is the part of a filter that the history can apply.
type translation struct {
	history.EventQuery
	// rest is set if the view must still match each event against the filter. none is set if no stored event can match.
	rest, none bool
}

// translate converts a filter to a query that returns every match. It does not convert a plain word, which may occur
// in any text.
func translate(f query.Filter, board *election.Snapshot) translation {
	var t translation
	types := election.EventTypes()
	for _, w := range f.Words {
		switch {
		case w.Field == "type":
			types = slices.DeleteFunc(types, func(e election.EventType) bool { return strings.HasPrefix(string(e), w.Value) == w.Not })
		case w.Field == "cause" && !w.Not && len(t.Causes) == 0:
			t.Causes = withPrefix(election.Causes(), w.Value)
			t.none = t.none || len(t.Causes) == 0
		case w.Field == "election" && !w.Not && len(t.Names) == 0:
			t.Names = named(w, board)
		default:
			t.rest = true
		}
	}
	t.none = t.none || len(types) == 0
	t.Types = complete(types)
	if len(t.Causes) > 0 {
		t.Types = nil // only explanations have a cause
	}
	return t
}

// complete adds explained to vacated and vacated to explained, because these events share a line.
func complete(types []election.EventType) []election.EventType {
	switch ends, why := slices.Contains(types, election.Vacated), slices.Contains(types, election.Explained); {
	case ends && why && len(types) == len(election.EventTypes()):
		return nil
	case ends && !why:
		return append(types, election.Explained)
	case why && !ends:
		return append(types, election.Vacated)
	}
	return types
}

func withPrefix(all []election.Cause, prefix string) (found []election.Cause) {
	for _, c := range all {
		if strings.HasPrefix(string(c), prefix) {
			found = append(found, c)
		}
	}
	return found
}

// named lists the names on the board that equal a word, regardless of case. The history distinguishes upper and lower
// case. If no name is equal, named returns the word.
func named(w query.Word, board *election.Snapshot) []string {
	var names []string
	for _, e := range board.Elections {
		switch {
		case strings.EqualFold(e.Key(), w.Value):
			return []string{e.Key()}
		case strings.EqualFold(e.Name, w.Value) && !slices.Contains(names, e.Name):
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return []string{w.Value}
	}
	return names
}
