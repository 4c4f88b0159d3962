package main

import (
	"testing"
	"time"

	"electop/tools/bench/internal/watch"
)

func TestTimelineMeasuresTheFirstLine(t *testing.T) {
	l := newTimeline()
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	for change, wrote := range map[int]time.Time{1: at(0), 2: at(10), 3: at(20), 9: at(0)} {
		l.recordWrite(change, wrote)
	}
	l.recordLine(watch.Line{Change: 1}, at(5))
	l.recordLine(watch.Line{Change: 1}, at(50)) // of several lines about a change, only the first is used
	l.recordLine(watch.Line{Change: 3, At: at(21)}, at(30))
	l.recordLine(watch.Line{Change: 77}, at(1)) // a change of an earlier run
	want := spread{made: 3, seen: 2, p50: time.Millisecond, p99: 5 * time.Millisecond, max: 5 * time.Millisecond}
	if got := l.spread(1, 3); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
