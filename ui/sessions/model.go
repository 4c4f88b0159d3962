// Package sessions implements the Sessions view, which lists all sessions.
package sessions

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"

	"electop/election"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Model is the list of sessions. The cursor stays on its session when rows move.
type Model struct {
	keys   keys.Map
	search scene.Searcher // nil if the store cannot be searched
	rect   kit.Rect

	at     scene.Cursor
	order  []*row // the filtered and sorted rows
	cursor string
	marks  map[string]bool
	filter query.Filter
	sort   sorting
	// open is set while the session under the cursor is shown in full. top is the first visible line.
	open bool
	top  int
	// rows contains a row for each session. It was built from list, board and the result of the scan that began at scanned.
	rows    []row
	list    *election.SessionList
	board   **election.Election
	scan    storeScan
	scanned time.Time
	tally   tally
	// name, node and hold are the maximum widths of these columns, in cells. datacenter is the width of the datacenter
	// column, or 0 if there is only one datacenter.
	name, node, hold, datacenter int
}

// New returns a view without sessions. search is nil if the store cannot be searched.
func New(k keys.Map, search scene.Searcher) Model {
	return Model{keys: k, search: search, marks: map[string]bool{}}
}

// Cursor returns the ID of the session under the cursor, or "" if there is none.
func (v Model) Cursor() string { return v.cursor }

// Selected returns the session under the cursor, or nil if there is none.
func (v Model) Selected() *election.Session {
	if r := v.selected(); r != nil {
		return r.ses
	}
	return nil
}

// Open reports whether the selected session is shown in full.
func (v Model) Open() bool { return v.open }

// Filter returns the current filter.
func (v Model) Filter() query.Filter { return v.filter }

// Result describes how many sessions match the filter: "3 of 9 sessions".
func (v Model) Result(*scene.Scene) string {
	return strconv.Itoa(len(v.order)) + " of " + kit.Plural(v.tally.all, "session")
}

// Marks counts the marked sessions that the filter shows, and those that it hides.
func (v Model) Marks(*scene.Scene) (visible, hidden int) {
	for _, r := range v.order {
		if v.marks[r.ses.ID] {
			visible++
		}
	}
	return visible, len(v.marks) - visible
}

// Keys returns the key bindings for the footer.
func (v Model) Keys(k keys.Map) []key.Binding { return k.SessionList(v.open) }

// refresh sorts and filters the rows. It rebuilds them first if the sessions or elections changed.
func (v *Model) refresh(snap *election.Snapshot) {
	var board **election.Election
	if len(snap.Elections) > 0 {
		board = &snap.Elections[0]
	}
	if v.list != snap.SessionList || v.board != board || !v.scanned.Equal(v.scan.result.at) {
		v.list, v.board, v.scanned = snap.SessionList, board, v.scan.result.at
		v.build(snap)
	}
	failed := failedLeaders(snap) // checks can change although the list and the board do not
	v.order = make([]*row, 0, len(v.rows))
	for i := range v.rows {
		r := &v.rows[i]
		r.failure = failed[r.ses.ID]
		if v.filter.Empty() || match(v.filter, r) {
			v.order = append(v.order, r)
		}
	}
	sortRows(v.order, v.sort)
	v.relocate()
}

// relocate finds the cursor's session in a new order. If the session is no longer listed, the cursor moves to the
// next row.
func (v *Model) relocate() {
	i := slices.IndexFunc(v.order, func(r *row) bool { return r.ses.ID == v.cursor })
	if i >= 0 {
		v.at.Index = i
		return
	}
	v.open = false // the open session is no longer in the list
	v.moveTo(v.at.Index)
}

func (v *Model) moveTo(i int) {
	v.at.MoveTo(i, len(v.order))
	v.cursor = ""
	if r := v.selected(); r != nil {
		v.cursor = r.ses.ID
	}
}

func (v *Model) selected() *row { return scene.At(v.at, v.order) }

// scroll scrolls the list to the cursor, or limits the scroll position of the open session.
func (v *Model) scroll(s *scene.Scene) {
	if r := v.selected(); v.open && r != nil {
		lines := len(v.document(s, r, v.rect.W).Lines)
		v.top = max(0, min(v.top, lines-(v.rect.H-1)))
		return
	}
	v.at.Scroll(v.shownRows(s), len(v.order))
}

// shownRows returns the number of list rows on the screen.
func (v *Model) shownRows(s *scene.Scene) int { return rowsIn(v.rect.H, len(v.news(s, v.rect.W))) }

// mark sets or removes the marks of sessions.
func (v *Model) mark(on bool, ids ...string) {
	v.marks = maps.Clone(v.marks)
	for _, id := range ids {
		if on {
			v.marks[id] = true
		} else {
			delete(v.marks, id)
		}
	}
}
