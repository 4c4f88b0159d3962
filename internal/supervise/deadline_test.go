package supervise

import (
	"testing"
	"time"
)

func TestDeadlinesDoNotMoveWhenTheyArriveLate(t *testing.T) {
	sent := time.Now()
	d := Deadlines{Term: sent.Add(10 * time.Second), Grace: 3 * time.Second, Kill: sent.Add(13 * time.Second), Asked: true}
	got, err := decode(d.encode(), sent.Add(4*time.Second))
	if err != nil || !got.Term.Equal(d.Term) || got.Grace != d.Grace || !got.Kill.Equal(d.Kill) || !got.Asked {
		t.Errorf("%v %+v, want %+v", err, got, d)
	}
	if _, err := decode("1 2 3\n", sent); err == nil {
		t.Error("decode accepted an incomplete line")
	}
	// While the machine is suspended, only the wall clock advances.
	suspended := sent.Round(0).Add(time.Hour)
	if !reached(suspended, got.Kill) || reached(sent, got.Kill) {
		t.Error("reached does not detect one hour of suspension")
	}
}
