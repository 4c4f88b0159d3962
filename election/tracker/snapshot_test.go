package tracker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
)

// board simulates many elections: partial reads, every cause, and sessions that are read before their keys, after
// them, or never.
type board struct {
	r       *rand.Rand
	tracker *Tracker
	at      time.Time
	index   uint64
	pairs   map[string]election.Pair
	sent    int // number of sessions created so far
	lost    []election.Event
}

const boardKeys = 40

func newBoard(t *testing.T, seed uint64) *board {
	t.Helper()
	return &board{
		r: rand.New(rand.NewPCG(seed, 11)), tracker: New(Options{Patterns: consultest.Patterns(t, "k/**")}),
		at: t0, pairs: map[string]election.Pair{},
	}
}

func boardKey(i int) string { return fmt.Sprintf("k/%02d", i) }

func boardSession(i int) *election.Session {
	return &election.Session{ID: fmt.Sprint("s", i), Name: "web", Node: fmt.Sprint("n", i%3), LockDelay: time.Second}
}

// write changes one key.
func (b *board) write() {
	key := boardKey(b.r.IntN(boardKeys))
	p, exists := b.pairs[key]
	b.index++
	switch n := b.r.IntN(10); {
	case !exists:
		p = election.Pair{Key: key, CreateIndex: b.index}
	case n == 0:
		delete(b.pairs, key)
		return
	case n < 3:
		p.Value = fmt.Append(nil, b.r.IntN(3))
	case n < 4:
		p.LockIndex = 0
	case n == 4 && !p.Held():
		p.Flags, p.LockIndex = election.SemaphoreFlag, 0
		p.Value = fmt.Appendf(nil, `{"Limit":2,"Holders":{"s%d":true,"s%d":true}}`, b.r.IntN(5), b.r.IntN(5))
	case p.Held():
		p.Session = ""
	default:
		if b.sent++; b.r.IntN(3) == 0 {
			b.sent -= b.r.IntN(min(b.sent, 5)) // use a session that held this or another key before
		}
		p.Session = fmt.Sprint("s", b.sent)
		p.Flags = 0
		p.LockIndex++
	}
	p.ModifyIndex = b.index
	b.pairs[key] = p
}

// step makes one observation.
func (b *board) step() {
	b.at = b.at.Add(time.Duration(b.r.IntN(700)) * time.Millisecond)
	for range b.r.IntN(4) {
		b.write()
	}
	var o election.Observation
	switch b.r.IntN(6) {
	case 0:
		read := election.SessionsRead{At: b.at}
		for range b.r.IntN(3) + 1 {
			read.Sessions = append(read.Sessions, boardSession(max(0, b.sent-b.r.IntN(6))))
		}
		o = read
	case 1:
		if len(b.lost) == 0 {
			return
		}
		o = election.TermEvidence{At: b.at, Event: b.lost[0], Outcome: election.Evidence{SessionRead: true, SessionExists: b.r.IntN(2) == 0}}
		b.lost = b.lost[1:]
	default:
		o = b.read()
	}
	for _, e := range b.tracker.Observe(o) {
		if e.Type == election.Vacated && !e.Initial {
			b.lost = append(b.lost, e)
		}
	}
}

// read returns a read of some of the keys. Some of these keys may be hidden.
func (b *board) read() election.KeysRead {
	from := b.r.IntN(boardKeys)
	o := election.KeysRead{At: b.at, Range: election.Range{From: boardKey(from), To: boardKey(from + 1 + b.r.IntN(boardKeys))}}
	for key, p := range b.pairs {
		switch {
		case !o.Range.Contains(key):
		case b.r.IntN(20) == 0:
			o.Hidden = append(o.Hidden, key)
		default:
			o.Pairs = append(o.Pairs, &p)
		}
	}
	slices.SortFunc(o.Pairs, election.ComparePairs)
	return o
}

// everything formats the whole content of a snapshot.
func everything(s *election.Snapshot) string {
	var b strings.Builder
	for _, e := range s.Elections {
		fmt.Fprintf(&b, "%+v\n", *e)
		for _, s := range []*election.Session{e.Session, e.LastSession} {
			if s != nil {
				fmt.Fprintf(&b, "%+v\n", *s)
			}
		}
	}
	fmt.Fprintf(&b, "%+v %v %v %+v %+v", s.Events, s.Loaded, s.Filtered, s.Connection, s.Checks)
	return b.String()
}

func TestSnapshotsNeverChange(t *testing.T) {
	var readers sync.WaitGroup
	defer readers.Wait()
	for seed := range uint64(2) {
		b := newBoard(t, seed)
		for range 200 {
			b.step()
			if b.r.IntN(6) > 0 {
				continue
			}
			shown := b.tracker.Snapshot(b.at)
			was := everything(shown)
			readers.Go(func() { // these reads run while the tracker continues
				if now := everything(shown); now != was {
					t.Errorf("seed %d: a snapshot changed to\n%s\nfrom\n%s", seed, now, was)
				}
			})
			defer func() {
				if now := everything(shown); now != was {
					t.Errorf("seed %d: a snapshot changed to\n%s\nfrom\n%s", seed, now, was)
				}
			}()
		}
	}
}

func TestHoldersGetSessionsThatAreReadLater(t *testing.T) {
	for seed := range uint64(25) {
		b := newBoard(t, seed)
		for step := range 400 {
			b.step()
			if err := b.holds(); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

// holds returns an error if an invariant of the tracker is broken.
func (b *board) holds() error {
	elections := b.tracker.Snapshot(b.at).Elections
	for _, e := range elections {
		switch id := e.Pair.Session; {
		case !e.Exists || !e.Pair.Held():
		case e.Session != nil && e.Session.ID != id:
			return fmt.Errorf("%s is held by %s, but has the session %s", e.Key(), id, e.Session.ID)
		case e.Session == nil && b.tracker.sessions[id] != nil:
			return fmt.Errorf("%s has no session, although it was read", e.Key())
		}
	}
	if !sort.SliceIsSorted(elections, func(i, j int) bool { return elections[i].Key() < elections[j].Key() }) {
		return fmt.Errorf("the elections are not sorted by key")
	}
	return nil
}
