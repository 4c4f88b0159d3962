package tracker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// LockIndex counts terms only within one CreateIndex, and only while it increases. After Consul lost or restored
// data, terms must not be counted.
func TestMissedTermsAreCountedForwardOnly(t *testing.T) {
	none := election.Pair{}
	held := func(lock, create, modify uint64) election.Pair { return web("a", lock, create, modify, "v") }
	free := func(lock, create, modify uint64) election.Pair { return web("", lock, create, modify, "v") }
	for _, tt := range []struct {
		name  string
		reads []election.Pair // no pairs if the key does not exist
		want  string          // events of the last read
	}{
		{"an older snapshot, then the newer one", []election.Pair{held(118, 40, 13061), held(1, 40, 50), held(118, 40, 13061)}, "vacated(1) elected(118)"},
		{"an older snapshot, then one in between", []election.Pair{held(118, 40, 13061), held(1, 40, 50), held(90, 40, 9000)}, "vacated(1) elected(90)"},
		{
			"an older snapshot, then one in between and a term", []election.Pair{held(118, 40, 13061), held(1, 40, 50), held(91, 40, 13099)},
			"vacated(1) elected(91)",
		},
		{
			"an older snapshot, then the newer one and two terms", []election.Pair{held(118, 40, 13061), free(1, 40, 50), held(120, 40, 13099)},
			"missed(×1) elected(120)",
		},
		{"data lost, then restored", []election.Pair{held(118, 40, 13061), none, held(118, 40, 13061)}, "elected(118)"},
		{"data lost, then restored and a term", []election.Pair{held(118, 40, 13061), none, held(119, 40, 13099)}, "elected(119)"},
		{"data lost, then restored from before", []election.Pair{held(118, 40, 13061), none, held(7, 40, 700)}, "elected(7)"},
		{"data lost and changed, then restored", []election.Pair{held(118, 40, 13061), none, held(1, 15, 16), held(118, 40, 13061)}, "vacated(1) elected(118)"},
		{
			"data lost and changed, then restored and a term", []election.Pair{held(118, 40, 13061), none, held(1, 15, 16), held(119, 40, 13099)},
			"vacated(1) deleted(1) elected(119)",
		},
		{"data lost and changed: terms count again", []election.Pair{held(118, 40, 13061), none, held(1, 15, 16), held(4, 15, 26)}, "vacated(1) missed(×2) elected(4)"},
		{"restored and changed: terms count again", []election.Pair{held(118, 40, 13061), held(1, 40, 50), held(2, 40, 13099), held(5, 40, 13110)}, "vacated(2) missed(×2) elected(5)"},
		{"restored and changed, then the newer one and a term", []election.Pair{held(118, 40, 13061), held(1, 40, 50), held(2, 40, 13099), held(120, 40, 13200)}, "vacated(2) missed(×1) elected(120)"},
		{"restored from before the key was deleted", []election.Pair{held(2, 700, 13061), held(118, 40, 600)}, "vacated(2) elected(118)"},
		{"restored from before the key was deleted, then a term", []election.Pair{held(2, 700, 13061), held(119, 40, 13099)}, "vacated(2) elected(119)"},
		{"LockIndex restarted and terms passed", []election.Pair{held(118, 40, 13061), held(3, 40, 13100)}, "vacated(118) overwritten(3) elected(3)"},
		{"created again and terms passed", []election.Pair{held(118, 40, 13061), none, held(3, 13070, 13100)}, "missed(×2) elected(3)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			var events []election.Event
			for _, p := range tt.reads {
				if p.Key == "" {
					events = s.read()
				} else {
					events = s.read(p)
				}
			}
			events = slices.DeleteFunc(slices.Clone(events), func(e election.Event) bool { return e.Type == election.Explained })
			if got := brief(events); got != tt.want {
				t.Errorf("events %q, want %q", got, tt.want)
			}
		})
	}
}

// history is a Consul server whose data can be lost, saved and restored. As in Consul, Raft indexes continue after a
// restore and restart after a loss.
type history struct {
	store
	saved []store
	// reinstated counts the terms that became current again because of a restore.
	reinstated int
}

func (h *history) save() { h.saved = append(h.saved, h.store) }

func (h *history) restore(r *rand.Rand) {
	if len(h.saved) == 0 {
		return
	}
	from := h.saved[r.IntN(len(h.saved))]
	acquired, index := h.acquired, max(h.index, from.index)+1
	h.store = from
	h.acquired, h.index = acquired, index
	if h.exists && h.pair.Held() {
		h.reinstated++
	}
}

func (h *history) lose() { h.exists, h.index = false, 1 }

// After any sequence of losses and restores, the tracker must report only terms that began. An observer reads after
// each restore.
func TestRestoresCauseNoFalseTerms(t *testing.T) {
	for seed := range uint64(200) {
		if err := playRestores(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func playRestores(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 13))
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		return err
	}
	tracker, h, at := New(Options{Patterns: ps}), &history{}, t0
	told, j := 0, &judge{terms: map[string]bool{}}
	look := func() error {
		at = at.Add(time.Second)
		for _, e := range tracker.Observe(h.read(at)) {
			j.terms = map[string]bool{}
			if err := j.take(e); err != nil {
				return err
			}
		}
		if told = j.elected + j.missed; told > h.acquired+h.reinstated {
			return fmt.Errorf("%d elected and %d missed terms, but only %d terms began", j.elected, j.missed, h.acquired+h.reinstated)
		}
		return equalsLastRead(tracker.Snapshot(at), &h.store, j)
	}
	for read := range 80 {
		for range r.IntN(6) {
			h.step(r, true)
		}
		switch r.IntN(8) {
		case 0:
			h.save()
		case 1:
			h.restore(r)
		case 2:
			if r.IntN(3) == 0 {
				h.lose()
			}
		}
		if err := look(); err != nil {
			return fmt.Errorf("read %d: %w", read, err)
		}
	}
	return nil
}

// The list of names may find a key after other keys with later changes were read. The terms of this key must still be
// counted.
func TestTermsOfAKeyThatIsReadLateAreCounted(t *testing.T) {
	s := newScene(t)
	all := election.PrefixRange("service/")
	early := election.Pair{Key: "service/a/leader", CreateIndex: 10, ModifyIndex: 10, LockIndex: 1, Session: "s1"}
	s.observe(election.KeysRead{At: t0, Range: all, Pairs: []election.Pair{early}})
	later := early
	later.ModifyIndex, later.LockIndex, later.Session = 40, 2, "s2"
	s.observe(election.KeysRead{At: t0.Add(time.Second), Range: election.KeyRange(early.Key), Pairs: []election.Pair{later}})
	found := election.Pair{Key: "service/b/leader", CreateIndex: 20, ModifyIndex: 30, LockIndex: 3, Session: "s3"}
	events := s.observe(election.KeysRead{At: t0.Add(2 * time.Second), Range: all, Pairs: []election.Pair{later, found}})
	if len(events) < 2 || events[0].Type != election.Missed || events[0].Count != 2 || events[1].Type != election.Elected {
		t.Errorf("%+v", events)
	}
}

// A write without the lock resets LockIndex. The latest known term keeps its number, whether or not it has ended.
func TestAnOverwrittenTermKeepsItsNumber(t *testing.T) {
	wants := func(s *scene, term uint64) {
		t.Helper()
		e := s.web()
		if last := e.Terms[len(e.Terms)-1]; e.Term != term || last.Number != term {
			t.Errorf("the election has term %d, its latest term has number %d, want %d", e.Term, last.Number, term)
		}
	}
	s := newScene(t)
	s.read(web("a", 44, 1, 10, "a"))
	s.read(web("a", 0, 1, 11, "b"))
	wants(s, 44)
	s.read(web("", 0, 1, 12, "b"))
	wants(s, 44)
	s.read(web("a", 1, 1, 13, "a"))
	wants(s, 1)
	s.read(web("", 1, 1, 14, "a"))
	s.read(web("", 0, 1, 15, "c"))
	wants(s, 1)
}

func TestNoOverwriteIsClaimedAcrossAGap(t *testing.T) {
	for _, gap := range []bool{false, true} {
		s := newScene(t)
		s.read(web("a", 9, 10, 20, "v"))
		events := s.observe(election.KeysRead{
			At: s.now.Add(time.Minute), Range: election.PrefixRange("service/"), AfterGap: gap, Pairs: []election.Pair{web("b", 2, 10, 30, "v")},
		})
		if got := strings.Contains(brief(events), "overwritten"); got == gap {
			t.Errorf("gap %v: %s", gap, brief(events))
		}
	}
}
