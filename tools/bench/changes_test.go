package main

import "testing"

func TestChangesAreSpreadOverTheKeys(t *testing.T) {
	const n, flaps = 100, 4
	c := &changes{flaps: flaps, keys: make([]lockedKey, n)}
	hits := make([]int, n)
	for change := range n * flaps {
		hits[c.keyOf(change)]++
	}
	for i, got := range hits {
		if got != flaps {
			t.Fatalf("key %d has %d changes, want %d", i, got, flaps)
		}
	}
	if c.keyOf(4) != c.keyOf(7) || c.keyOf(7) == c.keyOf(8) {
		t.Error("each group of 4 consecutive changes must have the same key, and the next group another one")
	}
}
