package tracker

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

// queue returns the pair of the election web of a store with leases: the holders of the keys and their revisions in order
// ("a10 b12"; "-" is a key without a lease), read at a revision of the store.
func queue(keys string, revision uint64) election.Pair {
	p := election.Pair{Key: "election/web", ModifyIndex: revision, Queue: []election.Waiter{}}
	for i, key := range strings.Fields(keys) {
		w := election.Waiter{Session: strings.Trim(key[:1], "-"), Name: "node-" + key[:1]}
		for _, digit := range key[1:] {
			w.Revision = w.Revision*10 + uint64(digit-'0')
		}
		if i == 0 {
			p.Session, p.Value, p.CreateIndex = w.Session, []byte(w.Name), w.Revision
		}
		p.LockIndex = map[bool]uint64{true: p.CreateIndex}[p.Held()]
		if i > 0 || w.Session == "" {
			p.Queue = append(p.Queue, w)
		}
	}
	return p
}

func leases(t *testing.T) *scene {
	s := newScene(t, "**")
	s.configure(Options{Store: election.Store{Name: "etcd", Revisions: true, Leases: true}})
	return s
}

// change reports the state of one key at a revision, or its absence if keys is empty.
func (s *scene) change(keys string, revision uint64) []election.Event {
	s.now = s.now.Add(time.Second)
	o := election.KeysRead{At: s.now, Range: election.KeyRange("election/web")}
	if keys != "" {
		o.Pairs = election.Pairs(queue(keys, revision))
	}
	return s.observe(o)
}

func TestQueues(t *testing.T) {
	for _, tt := range []struct{ name, first, then, want string }{
		{"campaign", "", "a20", "elected(20)"},
		{"a candidate joins", "a10", "a10 b20", ""},
		{"a candidate leaves", "a10 b12", "a10", ""},
		{"the leader leaves, the next one leads", "a10 b12", "b12", "vacated(10) elected(12)"},
		{"the only candidate leaves", "a10", "", "vacated(10)"},
		{"the key has another lease", "a10", "b10", "vacated(10) elected(10)"},
		{"a key without a lease blocks", "a10 -12 b13", "-12 b13", "vacated(10)"},
		{"the blocker is deleted", "-12 b13", "b13", "elected(13)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := leases(t)
			s.readIn(election.Range{})
			if tt.first != "" {
				s.change(tt.first, 19)
			}
			events := s.change(tt.then, 20)
			if got := brief(events); got != tt.want {
				t.Errorf("events %q, want %q", got, tt.want)
			}
			e := s.tracker.Find("election/web")
			if want := queue(tt.then, 20); tt.then != "" && !e.Pair.Identical(&want) {
				t.Errorf("%+v, want %+v", e.Pair, want)
			}
			if tt.first != "" && e.State(s.now) == election.Led != (tt.then != "" && tt.then[0] != '-') {
				t.Errorf("the state is %s", e.State(s.now))
			}
			if len(events) == 2 && (events[1].Vacancy != 0 || !events[1].VacancyKnown || !strings.HasPrefix(events[1].Summary(), "node-b, rev ")) {
				t.Errorf("elected %q after %v", events[1].Summary(), events[1].Vacancy)
			}
		})
	}
}

func TestProclaimUpdatesTheTerm(t *testing.T) {
	s := leases(t)
	s.change("a10", 10)
	p := queue("a10", 12)
	p.Value = []byte("another proposal")
	if got := brief(s.readIn(election.KeyRange(p.Key), p)); got != "updated(10)" {
		t.Error(got)
	}
}

// The lease a has a TTL of 10s. It is read after 1s, and its key is gone at a later second.
func TestCausesOfTheEndOfALease(t *testing.T) {
	gone, seconds := election.Evidence{SessionRead: true}, func(n int) time.Duration { return time.Duration(n) * time.Second }
	for _, tt := range []struct {
		name             string
		remaining, after int
		evidence         election.Evidence
		do               func(s *scene)
		want, text       string
		alive            float64 // the last sign of life, in seconds after the read
	}{
		{"resign", 9, 3, election.Evidence{SessionRead: true, SessionExists: true, DeleteIndex: 20}, nil, "released", "still exists; the holder or another client deleted or overwrote its key at revision 20", 3},
		{"revoke", 9, 3, gone, nil, "session_destroyed", "at least 6s of its TTL remained", 3},
		{"expiry", 3, 4, gone, nil, "session_expired", "TTL of 10s", -7},
		{"renewed after the read", 9, 30, gone, nil, "session_expired_or_destroyed", "last read 30s before", 18.5},
		{"read too long ago", 9, 10, gone, nil, "session_expired_or_destroyed", "last read 10s before", -1.5},
		{"unread", 9, 3, election.Evidence{Err: "timeout"}, nil, "unknown", "could not be read: timeout", -8.5},
		{"after a gap", 9, 3, gone, func(s *scene) { s.observe(election.Gap{At: s.now, Since: s.now}) }, "unknown", "interrupted", 0},
		{"read before the clock was set", 9, 3, gone, func(s *scene) {
			s.observe(election.Gap{At: s.now.Add(time.Millisecond), Since: s.now})
			s.observe(election.KeysRead{At: s.now, Asked: s.now.Add(time.Second), Range: election.Range{}, Pairs: election.Pairs(queue("a10", 10))})
		}, "session_expired_or_destroyed", "remaining time is unknown", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := leases(t)
			s.observe(election.KeysRead{At: s.now.Add(-time.Hour), Range: election.Range{}, Pairs: election.Pairs(queue("a10", 10))})
			read := s.now
			lease := &election.Session{ID: "a", TTL: 10 * time.Second, Behavior: election.BehaviorDelete}
			for _, remaining := range []int{10, tt.remaining} { // the latest read counts
				known := *lease
				known.Read, known.Expires = read.Add(-time.Duration(remaining)), read.Add(seconds(remaining))
				s.sessions(&known)
			}
			if e := s.tracker.Find("election/web"); !e.Session.Expires.Equal(read.Add(seconds(tt.remaining))) {
				t.Errorf("the session expires at %v", e.Session.Expires)
			}
			if tt.do != nil {
				tt.do(s)
			}
			s.now = s.now.Add(seconds(tt.after - 1))
			lost := s.change("", 20)
			if tt.name != "after a gap" { // then no evidence can tell the cause
				lost = append(lost, s.explain(lost[0], tt.evidence)...)
			}
			x := lost[len(lost)-1]
			if string(x.Cause) != tt.want || !strings.Contains(x.Evidence, tt.text) || x.Guess {
				t.Errorf("%s: %s", x.Cause, x.Evidence)
			}
			if got := x.AliveUntil.Sub(read).Seconds(); tt.alive != 0 && got != tt.alive {
				t.Errorf("the last sign of life is %vs after the read, want %vs", got, tt.alive)
			}
		})
	}
}

func TestARestoreToAnEarlierRevisionIsNoTerm(t *testing.T) {
	s := leases(t)
	s.change("a10 b12", 27)
	s.observe(election.KeysRead{At: s.now, Range: election.Range{}, AfterGap: true, Pairs: election.Pairs(queue("a10", 12))})
	events := s.observe(election.KeysRead{At: s.now, Range: election.Range{}, AfterGap: true, Pairs: election.Pairs(queue("c6", 7))})
	if got := brief(events); got != "vacated(10) elected(6) explained(10 unknown)" || !events[0].Gap || !events[1].Restored {
		t.Errorf("%s, %+v", got, events)
	}
}

// An observer that is killed before the cause is stored leaves a term without a cause.
func TestTheCauseOfAReplayedEndIsReportedWithIt(t *testing.T) {
	s := leases(t)
	s.configure(Options{Store: s.tracker.Store, Recall: time.Minute})
	read := func(queues ...election.Pair) election.KeysRead {
		return election.KeysRead{At: s.now, Asked: s.now.Add(-1), Range: election.Range{}, Pairs: election.Pairs(queues...)}
	}
	s.observe(read())
	events := s.observe(election.HistoryRead{At: s.now.Add(time.Second), Replayed: []election.Observation{
		election.Gap{At: s.now, Since: t0.Add(-time.Hour)}, read(queue("a10", 10)), read(queue("b12", 12)),
	}})
	if got := brief(events); !strings.HasSuffix(got, "vacated(12) explained(10 unknown) explained(12 unknown)") {
		t.Error(got)
	}
}
