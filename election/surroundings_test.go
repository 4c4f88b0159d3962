package election

import "testing"

func TestParent(t *testing.T) {
	for key, want := range map[string]string{
		"service/web/leader": "service/web/", "leader": "", "": "", "a/": "a/", "/x": "/", "a//b": "a//",
	} {
		if got := Parent(key); got != want {
			t.Errorf("Parent(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestTheLatestSurroundingsAreKept(t *testing.T) {
	s := newScene(t)
	if s.tracker.Snapshot(s.now).Surroundings != nil {
		t.Fatal("surroundings before they were read")
	}
	for _, key := range []string{"service/web/leader", "service/mail/leader"} {
		if events := s.observe(SurroundingsRead{Surroundings: Surroundings{At: t0, Key: key}}); len(events) != 0 {
			t.Errorf("%v", events)
		}
		if got := s.tracker.Snapshot(s.now).Surroundings; got == nil || got.Key != key {
			t.Errorf("%+v", got)
		}
	}
}
