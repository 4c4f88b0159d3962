package supervise

import (
	"testing"
	"time"
)

func TestDeadlinesDoNotMoveWhenTheyArriveLate(t *testing.T) {
	sent := time.Now()
	d := Deadlines{Term: sent.Add(10 * time.Second), Grace: 3 * time.Second, Kill: sent.Add(13 * time.Second), Asked: true}
	got := Deadlines{Term: d.Term.Round(0), Grace: d.Grace, Kill: d.Kill.Round(0), Asked: true}.received(sent.Add(4 * time.Second))
	if !got.Term.Equal(d.Term) || got.Grace != d.Grace || !got.Kill.Equal(d.Kill) || !got.Asked {
		t.Errorf("%+v, want %+v", got, d)
	}
	// While the machine is suspended, only the wall clock advances.
	suspended := sent.Round(0).Add(time.Hour)
	if !reached(suspended, got.Kill) || reached(sent, got.Kill) {
		t.Error("reached does not detect one hour of suspension")
	}
}

func TestDeadlinesStopTheProgramInTime(t *testing.T) {
	now, remaining, never := time.Now(), 13*time.Second, time.Time{}
	for _, c := range []struct {
		lost, signalled, term time.Time
		grace, kill           time.Duration
	}{
		{never, never, now.Add(remaining - StopGrace), StopGrace, remaining},
		{never, now, now, SignalGrace, remaining},
		{now, now, now, StopGrace, StopGrace},
		{now, never, now, StopGrace, StopGrace},
	} {
		d := NewDeadlines(now, remaining, c.lost, c.signalled)
		if !d.Term.Equal(c.term) || d.Grace != c.grace || !d.Kill.Equal(now.Add(c.kill)) || d.Asked != d.Term.Equal(now) {
			t.Errorf("%+v: %+v", c, d)
		}
	}
	if d := NewDeadlines(now, time.Second, now, never); !d.Kill.Equal(now.Add(time.Second)) {
		t.Errorf("the program may run %s longer than the session protects the key", d.Kill.Sub(now)-time.Second)
	}
}
