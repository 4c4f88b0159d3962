package election

import (
	"testing"
	"time"
)

func TestParent(t *testing.T) {
	for key, want := range map[string]string{
		"service/web/leader": "service/web/", "leader": "", "": "", "a/": "a/", "/x": "/", "a//b": "a//",
	} {
		if got := Parent(key); got != want {
			t.Errorf("Parent(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestSessionListRemembersSinceWhen(t *testing.T) {
	s := newScene(t)
	at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
	list := func() *SessionList { return s.tracker.Snapshot(s.now).SessionList }
	if list() != nil {
		t.Fatal("a list before anybody looked")
	}
	s.observe(SessionListRead{At: at(0), Err: "denied"})
	if l := list(); l.Err != "denied" || !l.Began.IsZero() {
		t.Errorf("%+v", l)
	}
	a, b := &Session{ID: "a"}, &Session{ID: "b"}
	s.observe(SessionListRead{At: at(1), Sessions: []*Session{a}})
	first := list()
	s.observe(SessionListRead{At: at(2), Sessions: []*Session{a, b}})
	if l := list(); !l.Began.Equal(at(1)) || !l.FirstSeen["a"].Equal(at(1)) || !l.FirstSeen["b"].Equal(at(2)) || l.Err != "" {
		t.Errorf("%+v", l)
	}
	if len(first.Sessions) != 1 || len(first.FirstSeen) != 1 {
		t.Errorf("a snapshot was changed: %+v", first)
	}
	s.observe(SessionListRead{At: at(3), Err: "lost"})
	if l := list(); l.Err != "lost" || !l.At.Equal(at(2)) || len(l.Sessions) != 2 || len(l.FirstSeen) != 2 {
		t.Errorf("what is known stays, and says how old it is: %+v", l)
	}
	s.observe(SessionListRead{At: at(4), Sessions: []*Session{b}})
	if l := list(); l.Err != "" || len(l.FirstSeen) != 1 || !l.FirstSeen["b"].Equal(at(2)) {
		t.Errorf("what is gone is forgotten: %+v", l)
	}
}

func TestTheLatestSurroundingsAreKept(t *testing.T) {
	s := newScene(t)
	if s.tracker.Snapshot(s.now).Surroundings != nil {
		t.Fatal("surroundings before they were read")
	}
	for _, key := range []string{"service/web/leader", "service/mail/leader"} {
		if events := s.observe(SurroundingsRead{Surroundings{At: t0, Key: key}}); len(events) != 0 {
			t.Errorf("%v", events)
		}
		if got := s.tracker.Snapshot(s.now).Surroundings; got == nil || got.Key != key {
			t.Errorf("%+v", got)
		}
	}
}
