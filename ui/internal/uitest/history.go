package uitest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"electop/election"
)

// History simulates the changes to a board, snapshot by snapshot. A new snapshot shares the unchanged parts with the
// previous snapshot.
type History struct {
	Rnd  *rand.Rand
	Now  time.Time
	Snap *election.Snapshot
	made int
}

// NewHistory returns a history that begins with n elections.
func NewHistory(seed uint64, n int) *History {
	return &History{Rnd: rand.New(rand.NewPCG(seed, 1)), Now: Now(), Snap: Crowd(n), made: n}
}

// Step replaces Snap with the next snapshot, which is up to 20 seconds later.
func (h *History) Step() {
	h.Now = h.Now.Add(time.Duration(h.Rnd.IntN(20_000)) * time.Millisecond)
	next := *h.Snap
	next.Elections = slices.Clone(h.Snap.Elections)
	next.Checks = maps.Clone(h.Snap.Checks)
	for range h.Rnd.IntN(4) {
		h.change(&next)
	}
	if h.Rnd.IntN(6) == 0 {
		node := fmt.Sprintf("node-%d", 1+h.Rnd.IntN(3))
		next.Checks[node] = election.NodeChecks{At: h.Now, Checks: Passing(node, "x", []string{"passing", "warning"}[h.Rnd.IntN(2)], "")}
		next.Checks[node].Checks[0].Status = []string{"passing", "critical"}[h.Rnd.IntN(2)]
	}
	next.Connection.State = election.Live
	if h.Rnd.IntN(8) == 0 { // while the connection is lost, AsOf may be earlier than before
		next.Connection.State, next.Connection.LastContact = election.Lost, h.Now.Add(-time.Duration(h.Rnd.IntN(40))*time.Second)
	}
	h.Snap = &next
}

func (h *History) change(s *election.Snapshot) {
	i := h.Rnd.IntN(len(s.Elections))
	switch h.Rnd.IntN(6) {
	case 0:
		s.Elections = slices.Delete(s.Elections, i, i+1)
	case 1:
		h.made++
		e := Led(h.Rnd.IntN(50), fmt.Sprintf("svc-%05d-%d", h.Rnd.IntN(300), h.made), 2, time.Minute)
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
		s.Elections[i] = h.Moved(s.Elections[i])
	}
}

// Moved returns a copy of an election without its leader or, if there was no leader, with a new leader.
func (h *History) Moved(old *election.Election) *election.Election {
	e := *old
	e.Terms = slices.Clone(old.Terms)
	if last := len(e.Terms) - 1; e.Pair.Held() && last >= 0 {
		e.Terms[last].End = h.Now
		e.Leader, e.Session, e.Pair.Session, e.VacantSince = "", nil, "", h.Now
		e.LockDelayUntil = h.Now.Add(time.Duration(h.Rnd.IntN(60)) * time.Second)
		return &e
	}
	e.Session = Session(h.Rnd.IntN(900), e.Name, fmt.Sprintf("node-%d", h.Rnd.IntN(12)), "service:x")
	e.Leader, e.Pair.Session, e.Term, e.Since = fmt.Sprintf("new-%d", h.Rnd.IntN(2000)), e.Session.ID, e.Term+1, h.Now
	e.Exists, e.Pair.Flags, e.LockDelayUntil, e.VacantSince = true, 0, time.Time{}, time.Time{}
	e.Terms = append(e.Terms, election.Term{
		Number: e.Term, Session: e.Session.ID, Leader: e.Leader, Node: e.Session.Node, Start: h.Now, StartKnown: true,
	})
	return &e
}
