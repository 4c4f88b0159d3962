package blocking

import (
	"testing"
	"time"
)

func TestPositionAfterAResponse(t *testing.T) {
	const wait = time.Minute
	for _, c := range []struct {
		what       string
		asked, got uint64
		took       time.Duration
		want       uint64
	}{
		{"the first response", 0, 7, 0, 7},
		{"news", 7, 9, time.Second, 9},
		{"a change by one", 7, 8, 0, 8},
		{"the wait ended", 7, 7, wait, 7},
		{"the wait ended after Consul's extension", 7, 7, wait + wait/16, 7},
		{"a restored snapshot: early and unchanged", 7, 7, wait - 1, 0},
		{"a restored snapshot: immediate and unchanged", 7, 7, 0, 0},
		{"the index decreased", 7, 6, time.Second, 0},
		{"the index decreased to 1", 2493, 1, 0, 0},
		{"the index decreased when the wait ended", 7, 3, wait, 0},
		{"a response with the index 0", 7, 0, 0, 0},
		{"the index is 1, and the wait ended", 1, 1, wait, 1},
	} {
		at := Position{Index: c.asked, Gap: true, Epoch: 3}
		if got := at.after(c.got, c.took, wait); got != (Position{Index: c.want, Epoch: 3, Newest: c.got}) {
			t.Errorf("%s: requested with index %d, got %d after %s: next %+v, want %d", c.what, c.asked, c.got, c.took, got, c.want)
		}
	}
}

func TestQueryDeadlineLeavesConsulItsJitter(t *testing.T) {
	if d := queryDeadline(7, 16*time.Minute); d <= 17*time.Minute || d > 18*time.Minute {
		t.Errorf("a wait of 16m has the deadline %s, want 17m to 18m", d)
	}
	if d := queryDeadline(0, 16*time.Minute); d != FreshDeadline {
		t.Errorf("a read without an index has the deadline %s, want FreshDeadline", d)
	}
}

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	for range 200 {
		var b Backoff
		least := backoffFirst
		for i := range 100 {
			d := b.Next()
			if d < least || d > MaxBackoff {
				t.Fatalf("the pause after failure %d is %s, want %s to %s", i+1, d, least, MaxBackoff)
			}
			least = min(2*least, 10*time.Second)
		}
		b.Reset()
		if d := b.Next(); d > backoffFirst*3/2 {
			t.Fatalf("after a success, the pause after the first failure is %s, want at most %s", d, backoffFirst*3/2)
		}
	}
}

func TestPace(t *testing.T) {
	var p pace
	want := []time.Duration{paceFirst, 2 * paceFirst, 4 * paceFirst, 8 * paceFirst, paceMax, paceMax}
	for i, w := range want {
		if got := p.next(false, time.Millisecond); got != w {
			t.Errorf("the pause after response %d without a change is %s, want %s", i+1, got, w)
		}
	}
	if got := p.next(true, time.Millisecond); got != 0 {
		t.Errorf("the pause after a change is %s, want 0", got)
	}
	if got := p.next(false, time.Millisecond); got != paceFirst {
		t.Errorf("the pause after the first response without a change is %s, want the shortest", got)
	}
	if got := p.next(false, paceQuiet); got != 0 {
		t.Errorf("the pause after a long wait is %s, want 0", got)
	}
}

func TestAChangeIsNeverUnreportedFor30Seconds(t *testing.T) {
	if worst := queryDeadline(1, DefaultWait); worst+2*time.Second > 30*time.Second {
		t.Errorf("a dead connection is detected after %s, want at most 28s", worst)
	}
}

func TestPositionWithoutAUsableResponse(t *testing.T) {
	at := Position{Index: 7, Gap: true, Epoch: 2, Newest: 7}
	for _, c := range []struct {
		what      string
		got, want Position
	}{
		{"the same epoch", at.in(2), at},
		{"another epoch", at.in(3), Position{Gap: true, Epoch: 3, Newest: 7}},
		{"a position of any epoch", Position{Index: 7}.in(3), Position{Index: 7, Epoch: 3}},
		{"a dropped response leaves the gap", at.dropped(), Position{Gap: true, Epoch: 2, Newest: 7}},
		{"a failure", at.Lost(), Position{Gap: true, Newest: 7}},
		{"one query replaces two", Position{}.Join(at).Join(Position{Index: 9, Epoch: 1, Newest: 9}), Position{Gap: true, Epoch: 1, Newest: 9}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, c.got, c.want)
		}
	}
}
