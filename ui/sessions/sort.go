package sessions

import (
	"cmp"
	"slices"
	"strings"
)

// sorting is a sort key and its direction. The default direction shows the most important sessions first.
type sorting struct {
	key     int
	reverse bool
}

// SortKeys lists the sort keys of the table.
func SortKeys() []string { return []string{"name", "node", "state", "holds", "age", "ttl"} }

func (s sorting) word() string { return SortKeys()[s.key] }

func (s sorting) compare(a, b *row) int {
	switch s.word() {
	case "node":
		return strings.Compare(a.ses.Node, b.ses.Node)
	case "state":
		return cmp.Compare(a.state, b.state)
	case "holds":
		return cmp.Compare(b.known(), a.known())
	case "age":
		return a.seen.Compare(b.seen)
	case "ttl":
		return cmp.Compare(a.ses.TTL, b.ses.TTL)
	}
	return strings.Compare(a.ses.Name, b.ses.Name)
}

// sortRows sorts sessions. Sessions with equal values are sorted by name, datacenter, node and ID.
func sortRows(rows []*row, s sorting) {
	slices.SortFunc(rows, func(a, b *row) int {
		c := s.compare(a, b)
		if s.reverse {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.ses.Name, b.ses.Name), strings.Compare(a.datacenter, b.datacenter), strings.Compare(a.ses.Node, b.ses.Node), strings.Compare(a.ses.ID, b.ses.ID))
	})
}
