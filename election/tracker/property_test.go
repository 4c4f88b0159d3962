package tracker

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"electop/election"
)

// store is one key of a Consul server that follows the rules of its KV store: each acquire of an unlocked key
// increments LockIndex, a write without the lock sets it to 0, a deletion restarts it.
type store struct {
	index  uint64
	exists bool
	pair   election.Pair
	// acquired counts the terms that began.
	acquired int
}

func (s *store) write(p election.Pair) {
	s.index++
	if !s.exists {
		p.CreateIndex = s.index
	}
	p.Key, p.ModifyIndex = "service/web/leader", s.index
	s.pair, s.exists = p, true
}

func (s *store) acquire(session, value string) {
	p := s.pair
	if !s.exists {
		p = election.Pair{}
	}
	if p.Held() && p.Session != session {
		return
	}
	if !p.Held() {
		p.LockIndex++
		s.acquired++
	}
	p.Session, p.Value = session, []byte(value)
	s.write(p)
}

func (s *store) release() {
	if s.exists && s.pair.Held() {
		p := s.pair
		p.Session = ""
		s.write(p)
	}
}

func (s *store) overwrite(value string) {
	p := s.pair
	if !s.exists {
		p = election.Pair{}
	}
	p.Value, p.LockIndex = []byte(value), 0
	s.write(p)
}

func (s *store) remove() {
	if s.exists {
		s.index++
		s.exists = false
	}
}

// step makes one random change. If harsh is set, the change may reset LockIndex.
func (s *store) step(r *rand.Rand, harsh bool) {
	session := fmt.Sprint("s", r.IntN(3))
	switch n := r.IntN(10); {
	case n < 5:
		s.acquire(session, fmt.Sprint("v", r.IntN(2)))
	case n < 8 || !harsh:
		s.release()
	case n == 8:
		s.overwrite(fmt.Sprint("o", r.IntN(2)))
	default:
		s.remove()
	}
}

func (s *store) read(at time.Time) election.KeysRead {
	o := election.KeysRead{At: at, Range: election.PrefixRange("service/")}
	if s.exists {
		o.Pairs = []election.Pair{s.pair}
	}
	return o
}

// judge checks the events of one election and returns an error for an impossible sequence.
type judge struct {
	led     bool
	known   bool
	elected int
	missed  int
	terms   map[string]bool
}

func (j *judge) take(e election.Event) error {
	id := fmt.Sprint(e.CreateIndex, "/", e.Term, "/", e.Session)
	switch e.Type {
	case election.Elected:
		if j.led {
			return fmt.Errorf("two elected events without a vacated event between them")
		}
		if j.terms[id] {
			return fmt.Errorf("term %s was reported twice", id)
		}
		j.led, j.known, j.terms[id] = true, true, true
		if !e.Initial {
			j.elected++
		}
	case election.Vacated:
		if !j.led && j.known {
			return fmt.Errorf("a vacated event while there is no leader")
		}
		j.led, j.known = false, true
	case election.Updated:
		if !j.led {
			return fmt.Errorf("an updated event while there is no leader")
		}
	case election.Missed:
		if e.Count == 0 {
			return fmt.Errorf("a missed event has the count 0")
		}
		j.missed += int(e.Count)
	}
	return nil
}

func TestAnySequenceOfReadsIsFoldedCorrectly(t *testing.T) {
	for seed := range uint64(200) {
		for _, harsh := range []bool{false, true} {
			if err := play(seed, harsh); err != nil {
				t.Fatalf("seed %d harsh %v: %v", seed, harsh, err)
			}
		}
	}
}

func play(seed uint64, harsh bool) error {
	r := rand.New(rand.NewPCG(seed, 7))
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		return err
	}
	tracker, s, j := New(Options{Patterns: ps}), &store{}, &judge{terms: map[string]bool{}}
	at, before := t0, 0
	for read := range 60 {
		for range r.IntN(6) {
			s.step(r, harsh)
		}
		at = at.Add(time.Second)
		for _, e := range tracker.Observe(s.read(at)) {
			if harsh {
				j.terms = map[string]bool{} // after an overwrite, term numbers repeat
			}
			if err := j.take(e); err != nil {
				return fmt.Errorf("read %d: %w", read, err)
			}
		}
		if read == 0 {
			before = s.acquired
		}
		if err := equalsLastRead(tracker.Snapshot(at), s, j); err != nil {
			return fmt.Errorf("read %d: %w", read, err)
		}
	}
	if got := j.elected + j.missed; !harsh && got != s.acquired-before {
		return fmt.Errorf("%d elected and %d missed terms, but %d terms began", j.elected, j.missed, s.acquired-before)
	}
	return nil
}

func equalsLastRead(snapshot *election.Snapshot, s *store, j *judge) error {
	e := snapshot.Find("service/web/leader")
	switch {
	case e == nil && s.exists:
		return fmt.Errorf("the key exists, but is not an election")
	case e == nil:
		return nil
	case e.Exists != s.exists:
		return fmt.Errorf("exists %v, read %v", e.Exists, s.exists)
	case s.exists && !e.Pair.Identical(&s.pair):
		return fmt.Errorf("pair %+v, read %+v", e.Pair, s.pair)
	}
	led := s.exists && s.pair.Held()
	if (e.State(snapshot.At) == election.Led) != led || j.led != led {
		return fmt.Errorf("state %s; held according to the events: %v, according to the last read: %v", e.State(snapshot.At), j.led, led)
	}
	if led && (e.Leader == "" || e.Terms[len(e.Terms)-1].Over()) {
		return fmt.Errorf("the state is led, but there is no leader or no current term")
	}
	return nil
}

// Several reads of parts of the keys must have the same result as one read of all keys.
func TestReadsInPartsEqualOneRead(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		ps, _ := election.ParsePatterns([]string{"k/**"})
		whole, parts := New(Options{Patterns: ps}), New(Options{Patterns: ps})
		for round := range uint64(20) {
			var pairs []election.Pair
			for i := range 30 {
				if r.IntN(3) > 0 {
					pairs = append(pairs, election.Pair{Key: fmt.Sprintf("k/%02d", i), CreateIndex: 1, ModifyIndex: round + 1, LockIndex: round, Session: "s"})
				}
			}
			at := t0.Add(time.Duration(round) * time.Millisecond) // before the deadline of a pending cause
			want := brief(whole.Observe(election.KeysRead{At: at, Range: election.PrefixRange("k/"), Pairs: pairs}))
			var events []election.Event
			cut := fmt.Sprintf("k/%02d", r.IntN(30))
			for _, part := range []election.Range{{From: "k/", To: cut}, {From: cut, To: election.PrefixRange("k/").To}} {
				o := election.KeysRead{At: at, Range: part}
				for _, p := range pairs {
					if part.Contains(p.Key) {
						o.Pairs = append(o.Pairs, p)
					}
				}
				events = append(events, parts.Observe(o)...)
			}
			if got := brief(events); got != want {
				t.Fatalf("seed %d round %d cut %s:\n%s\nwant\n%s", seed, round, cut, got, want)
			}
		}
		if a, b := len(whole.Snapshot(t0).Elections), len(parts.Snapshot(t0).Elections); a != b {
			t.Fatalf("%d elections after one read, %d after reads in parts", a, b)
		}
	}
}
