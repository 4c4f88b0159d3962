package board

import (
	"strings"

	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// facts returns the inputs of the sort order, except for the elections.
func facts(s *scene.Scene) query.Facts { return query.Facts{At: s.AsOf, Checks: s.Shown.ChecksOf} }

// sortColumn returns the column with the sort marker. It is the election column if no column has this sort order.
func sortColumn(k query.OrderKey) columnID {
	switch k {
	case query.ByLeader:
		return colLeader
	case query.ByNode:
		return colNode
	case query.ByFor:
		return colFor
	case query.ByTerm:
		return colTerm
	case query.ByChecks:
		return colChecks
	case query.ByChanges:
		return colChanges
	default:
		return colElection
	}
}

// sortKeyOf returns the sort key of a column.
func sortKeyOf(column int) (query.OrderKey, bool) {
	for i := range query.OrderKeys() {
		if k := query.OrderKey(i); int(sortColumn(k)) == column && k != query.ByProblems && k != query.ByState {
			return k, true
		}
	}
	return 0, false
}

func (m *Model) setSort(by query.Order, s *scene.Scene) scene.Action {
	m.sort, m.between = by, nil
	m.refresh(s)
	return scene.Sorted(by.Key.String(), by.Reverse)
}

func (m *Model) nextSort(s *scene.Scene) scene.Action {
	next := (int(m.sort.Key) + 1) % len(query.OrderKeys())
	return m.setSort(query.Order{Key: query.OrderKey(next)}, s) //nolint:gosec // the list is short
}

func (m *Model) sortBy(by scene.SortBy, s *scene.Scene) scene.Action {
	order, err := query.ParseOrder(by.Text)
	if err != nil {
		return scene.Say{Role: kit.Delay, Text: "Usage: :sort KEY [reverse]. Keys: " + strings.Join(query.OrderKeys(), ", ") + "."}
	}
	return m.setSort(order, s)
}

// sortByColumn sorts by a column; a second click reverses the order.
func (m *Model) sortByColumn(column int, s *scene.Scene) scene.Action {
	if k, found := sortKeyOf(column); found {
		return m.setSort(query.Order{Key: k, Reverse: m.sort.Key == k && !m.sort.Reverse}, s)
	}
	return nil
}
