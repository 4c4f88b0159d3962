package consulx

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
