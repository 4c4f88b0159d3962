package board

import (
	"slices"
	"time"

	"electop/ui/kit"
)

// columnID identifies a column of the election table.
type columnID uint8

const (
	colElection columnID = iota
	colDatacenter
	colLeader
	colNode
	colFor
	colTerm
	colSession
	colChecks
	colLane
	colChanges
	columnCount
)

// The widths of a full and of a shortened session ID, in cells.
const (
	shortSession = 8
	fullSession  = 36
)

type column struct {
	id    columnID
	title string
	width int
}

// extent holds the widths of the table's contents, in cells.
type extent struct {
	name, leader, address, node, term int
	// datacenter is the width of the longest name of a datacenter. It is 0 if the board shows only one datacenter.
	datacenter int
}

// bounds holds the minimum, the usual and the maximum width of a column, in cells.
type bounds struct{ least, want, most int }

// followedWidth is the width of "after 999ms", the result of an action next to a leader. The table reserves this
// width, so that an action does not move columns.
const followedWidth = 11

func columnBounds(c extent) [columnCount]bounds {
	name := max(12, c.name+2)   // 12 cells are enough for the title, its sign and the sort marker
	leader := max(15, c.leader) // "lock-delay ~60s"
	both := leader + kit.ColumnGap + max(c.address, followedWidth)
	number := max(4, c.term)
	return [columnCount]bounds{
		colElection:   {min(name, 12), min(name, 34), min(name, 60)},
		colDatacenter: {min(max(2, c.datacenter), 6), min(max(2, c.datacenter), 12), min(max(2, c.datacenter), 24)},
		colLeader:     {min(leader, 15), min(leader, 30), min(both, 52)},
		colNode:       {min(max(6, c.node), 8), min(max(6, c.node), 22), min(max(6, c.node), 40)},
		colFor:        {9, 10, 10},
		colTerm:       {number, number, number},
		colSession:    {shortSession, shortSession, shortSession},
		colChecks:     {7, 7, 11},
		colLane:       {10, 20, 60},
		colChanges:    {5, 9, 9},
	}
}

// ColumnNames lists the columns in their default order.
func ColumnNames() []string {
	return []string{"election", "dc", "leader", "node", "for", "term", "session", "checks", "lane", "changes"}
}

// chooseIDs returns the columns with these names, or all columns if there are no names. If the names do not include
// the election column, it adds this column at the beginning, because each row needs it.
func chooseIDs(names []string) []columnID {
	if len(names) == 0 {
		names = ColumnNames()
	}
	ids := map[string]columnID{}
	for id := range columnCount {
		ids[ColumnNames()[id]] = id
	}
	var chosen []columnID
	for _, name := range names {
		if id, known := ids[name]; known && !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	if !slices.Contains(chosen, colElection) {
		chosen = slices.Insert(chosen, 0, colElection)
	}
	return chosen
}

// leastImportant lists the columns in the order in which a narrow window hides them.
func leastImportant() []columnID {
	return []columnID{colSession, colTerm, colChanges, colLane, colChecks, colNode}
}

// WideWidth returns the minimum width, in cells, at which the wide table shows full session IDs. It returns 0 if the
// table has no session column.
func (m Model) WideWidth(past bool) int {
	if !slices.Contains(m.chosen, colSession) {
		return 0
	}
	n := kit.LeadIn + kit.LeadOut - kit.ColumnGap + fullSession - shortSession
	b := columnBounds(m.totals.widths)
	for _, id := range m.shown(past) {
		n += b[id].least + kit.ColumnGap
	}
	return n
}

// columns selects the columns for a table width and distributes the space among them. For a past moment, it omits the
// column of checks, because the history does not store checks.
func (m Model) columns(width int, past bool) []column {
	return setLaneTitle(chooseColumns(width, m.totals.widths, m.wide, m.shown(past)), m.Window())
}

// shown returns the configured columns that have contents. With several datacenters, it always includes the datacenter
// column, because elections in different datacenters can have the same name.
func (m Model) shown(past bool) []columnID {
	several := m.totals.widths.datacenter > 0
	chosen := slices.DeleteFunc(slices.Clone(m.chosen), func(id columnID) bool { return past && id == colChecks || !several && id == colDatacenter })
	if several && !slices.Contains(chosen, colDatacenter) {
		chosen = slices.Insert(chosen, slices.Index(chosen, colElection)+1, colDatacenter)
	}
	return chosen
}

// setLaneTitle puts the time window into the title of the lane column.
func setLaneTitle(columns []column, window time.Duration) []column {
	for i := range columns {
		if columns[i].id != colLane {
			continue
		}
		period := windowText(window)
		columns[i].title = "LAST " + period
		if columns[i].width < len(columns[i].title) {
			columns[i].title = period
		}
	}
	return columns
}

func chooseColumns(width int, c extent, wide bool, of []columnID) []column {
	b := columnBounds(c)
	shown := [columnCount]bool{}
	room := width - kit.LeadIn - kit.LeadOut + kit.ColumnGap
	for _, id := range of {
		shown[id] = true
		room -= b[id].least + kit.ColumnGap
	}
	for _, id := range leastImportant() {
		if room >= 0 {
			break
		}
		if shown[id] {
			shown[id] = false
			room += b[id].least + kit.ColumnGap
		}
	}
	widths := [columnCount]int{}
	for id := range columnCount {
		widths[id] = b[id].least
	}
	grow := func(to func(bounds) int, ids ...columnID) {
		for _, id := range ids {
			if n := min(room, to(b[id])-widths[id]); shown[id] && n > 0 {
				widths[id] += n
				room -= n
			}
		}
	}
	if wide && shown[colSession] && room >= fullSession-shortSession { // users copy full session IDs
		widths[colSession] = fullSession
		room -= fullSession - shortSession
	}
	want := func(b bounds) int { return b.want }
	most := func(b bounds) int { return b.most }
	grow(want, colFor, colElection, colDatacenter, colLeader, colNode, colLane, colChanges)
	grow(most, colDatacenter, colLeader, colElection, colChecks, colNode, colLane)
	if room < 0 { // the window is narrower than the sum of the minimum widths
		widths[colElection] = max(6, widths[colElection]+room)
	}
	return listColumns(of, shown, widths)
}

func listColumns(of []columnID, shown [columnCount]bool, widths [columnCount]int) []column {
	columns := make([]column, 0, len(of))
	for _, id := range of {
		if shown[id] {
			columns = append(columns, column{id: id, title: columnTitle(id, widths[id]), width: widths[id]})
		}
	}
	return columns
}

func columnTitle(id columnID, width int) string {
	title := [columnCount]string{
		"ELECTION", "DC", "LEADER", "NODE", "FOR", "TERM", "SESSION", "CHECKS", "", "CHANGES/h",
	}[id]
	if id == colChanges && width < len(title) {
		return "CHG/h"
	}
	return title
}

func (id columnID) rightAligned() bool { return id == colTerm || id == colChanges }
