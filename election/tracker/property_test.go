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
		o.Pairs = election.Pairs(s.pair)
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
			if err := play(seed, harsh, false); err != nil {
				t.Fatalf("seed %d harsh %v: %v", seed, harsh, err)
			}
		}
	}
}

// A restored snapshot may make one earlier leader lead again. It must not look like terms that nobody observed, or like
// a write without the lock.
func TestRestoresCauseNoFalseTerms(t *testing.T) {
	for seed := range uint64(200) {
		if err := play(seed, false, true); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func play(seed uint64, harsh, restores bool) error {
	r := rand.New(rand.NewPCG(seed, 7))
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		return err
	}
	tracker, s, j := New(Options{Patterns: ps}), &store{}, &judge{terms: map[string]bool{}}
	at, before, image := t0, 0, *s
	for read := range 60 {
		for range r.IntN(6) {
			s.step(r, harsh)
		}
		switch n := r.IntN(8); {
		case n == 0:
			image = *s
		case n == 1 && restores:
			image.index, image.acquired = s.index, s.acquired+1
			*s = image
		}
		at = at.Add(time.Second)
		for _, e := range tracker.Observe(s.read(at)) {
			if harsh || restores {
				j.terms = map[string]bool{} // term numbers repeat
			}
			if !harsh && e.Type == election.Overwritten {
				return fmt.Errorf("read %d: an overwrite was reported", read)
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
	if got := j.elected + j.missed; !harsh && !restores && got != s.acquired-before || restores && got > s.acquired-before {
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
