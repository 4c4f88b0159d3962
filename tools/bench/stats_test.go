package main

import (
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100-i) * time.Millisecond
	}
	const msec = time.Millisecond
	for _, c := range []struct {
		name string
		made int
		seen []time.Duration
		want spread
	}{
		{"none made", 0, nil, spread{}},
		{"none seen", 3, nil, spread{made: 3}},
		{"one", 1, []time.Duration{7}, spread{made: 1, seen: 1, p50: 7, p99: 7, max: 7}},
		{"two", 2, []time.Duration{9, 1}, spread{made: 2, seen: 2, p50: 1, p99: 9, max: 9}},
		{"a hundred", 120, hundred, spread{made: 120, seen: 100, p50: 50 * msec, p99: 99 * msec, max: 100 * msec}},
		{"faster than the write's return", 1, []time.Duration{-5}, spread{made: 1, seen: 1, p50: -5, p99: -5, max: -5}},
	} {
		if got := spreadOf(c.made, c.seen); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]time.Duration{5, 1, 9, 2, 4}); got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestPerChange(t *testing.T) {
	got := perChange(cpu{client: 10, server: 100}, cpu{client: 30, server: 400}, 10)
	if want := (cpu{client: 2, server: 30}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
