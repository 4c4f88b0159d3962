package ui

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/board"
	"electop/ui/internal/scene"
)

// boardHistory plays what may happen on a board, snapshot by snapshot. Every
// snapshot is a new one that shares what did not change.
type boardHistory struct {
	rnd  *rand.Rand
	now  time.Time
	snap *election.Snapshot
	made int
}

func newBoardHistory(seed uint64, n int) *boardHistory {
	return &boardHistory{rnd: rand.New(rand.NewPCG(seed, 1)), now: testNow(), snap: crowd(n), made: n}
}

func (h *boardHistory) step() {
	h.now = h.now.Add(time.Duration(h.rnd.IntN(20_000)) * time.Millisecond)
	next := *h.snap
	next.Elections = slices.Clone(h.snap.Elections)
	next.Checks = maps.Clone(h.snap.Checks)
	for range h.rnd.IntN(4) {
		h.change(&next)
	}
	if h.rnd.IntN(6) == 0 {
		node := fmt.Sprintf("node-%d", 1+h.rnd.IntN(3))
		next.Checks[node] = election.NodeChecks{At: h.now, Checks: passing(node, "x", []string{"passing", "warning"}[h.rnd.IntN(2)], "")}
		next.Checks[node].Checks[0].Status = []string{"passing", "critical"}[h.rnd.IntN(2)]
	}
	next.Connection.State = election.Live
	if h.rnd.IntN(8) == 0 { // what is shown is then older than the board before
		next.Connection.State, next.Connection.LastContact = election.Lost, h.now.Add(-time.Duration(h.rnd.IntN(40))*time.Second)
	}
	h.snap = &next
}

func (h *boardHistory) change(s *election.Snapshot) {
	i := h.rnd.IntN(len(s.Elections))
	switch h.rnd.IntN(6) {
	case 0:
		s.Elections = slices.Delete(s.Elections, i, i+1)
	case 1:
		h.made++
		e := ledElection(h.rnd.IntN(50), fmt.Sprintf("svc-%05d-%d", h.rnd.IntN(300), h.made), 2, time.Minute)
		at, _ := slices.BinarySearchFunc(s.Elections, e, func(a, b *election.Election) int { return cmp.Compare(a.Key(), b.Key()) })
		s.Elections = slices.Insert(s.Elections, at, e)
	case 2:
		e := *s.Elections[i]
		e.Unreadable = !e.Unreadable
		s.Elections[i] = &e
	case 3:
		e := *s.Elections[i]
		e.Pair.Flags, e.Pair.Session = election.SemaphoreFlag, ""
		s.Elections[i] = &e
	default:
		s.Elections[i] = h.moved(s.Elections[i])
	}
}

// moved is an election that got or lost its leader just now.
func (h *boardHistory) moved(old *election.Election) *election.Election {
	e := *old
	e.Terms = slices.Clone(old.Terms)
	if last := len(e.Terms) - 1; e.Pair.Held() && last >= 0 {
		e.Terms[last].End = h.now
		e.Leader, e.Session, e.Pair.Session, e.VacantSince = "", nil, "", h.now
		e.LockDelayUntil = h.now.Add(time.Duration(h.rnd.IntN(60)) * time.Second)
		return &e
	}
	e.Session = testSession(h.rnd.IntN(900), e.Name, fmt.Sprintf("node-%d", h.rnd.IntN(12)), "service:x")
	e.Leader, e.Pair.Session, e.Term, e.Since = fmt.Sprintf("new-%d", h.rnd.IntN(2000)), e.Session.ID, e.Term+1, h.now
	e.Exists, e.Pair.Flags, e.LockDelayUntil, e.VacantSince = true, 0, time.Time{}, time.Time{}
	e.Terms = append(e.Terms, election.Term{
		Number: e.Term, Session: e.Session.ID, Leader: e.Leader, Node: e.Session.Node, Start: h.now, StartKnown: true,
	})
	return &e
}

// Whatever happens, the cursor stays on its election as long as that is shown.
func TestCursorStaysOnItsElection(t *testing.T) {
	filters := []string{"", "state:lock", "!state:vacant", "node-2", "!new"}
	for seed := range uint64(8 * len(filters)) {
		h := newBoardHistory(seed, 60)
		d := drive(t, h.snap, 200, 40)
		s, f := board.Sorting{Key: board.SortKey(seed % uint64(board.SortKeyCount)), Reverse: seed%3 == 0}, filters[seed%uint64(len(filters))]
		d.m.setSort(s)
		d.m.setFilter(f)
		for range 40 {
			h.step()
			d.now = h.now
			d.keys([]string{"j", "k", "G", "g", "p"}[h.rnd.IntN(5)])
			was := d.m.table.Cursor
			d.send(snapshotMsg{h.snap})
			d.send(tickMsg(d.now))
			shown := slices.ContainsFunc(d.m.table.Order, func(e *election.Election) bool { return e.ID() == was })
			if got := d.m.table.Selected(); shown && (got == nil || got.ID() != was) {
				t.Fatalf("seed %d, filter %q, sorted by %s: the cursor left %q", seed, f, s.Key.Word(), was)
			}
			wantsSorted(t, d)
		}
	}
}

// wantsSorted fails unless the rows are in order, equal ones by name.
func wantsSorted(t *testing.T, d *driver) {
	t.Helper()
	table, snap, asOf := d.m.table, d.m.shown, d.m.asOf()
	for i := 1; i < len(table.Order); i++ {
		a, b := table.Order[i-1], table.Order[i]
		c := table.Sort.Compare(board.Rank(a, table.Sort.Key, snap, asOf), board.Rank(b, table.Sort.Key, snap, asOf))
		if c > 0 || c == 0 && board.ByName(a, b) >= 0 {
			t.Fatalf("sorted by %s, %s stands before %s", table.Sort.Key.Word(), a.Key(), b.Key())
		}
	}
}

// What happens to other elections is taken up with the clock, not with each
// snapshot: an insight among 10,000 elections costs 20 ms.
func TestOtherElectionsCountAfterAWhile(t *testing.T) {
	s := studiedSnapshot("service/mail/leader")
	d := drive(t, s, 120, 36, studies)
	d.text()
	first := d.m.insights.In
	other := *s
	other.Elections = slices.Clone(s.Elections)
	changed := *s.Elections[0]
	changed.Term++
	other.Elections[0] = &changed
	d.now = d.now.Add(scene.InsightAge / 2)
	d.send(snapshotMsg{&other})
	if d.text(); d.m.insights.In != first {
		t.Error("inferred anew at once")
	}
	d.now = d.now.Add(scene.InsightAge)
	d.send(tickMsg(d.now))
	if d.text(); d.m.insights.In == first {
		t.Error("what changed is never taken up")
	}
}
