package election

import (
	"fmt"
	"testing"
)

// What a read of keys costs the tracker: once it has seen 10,000 elections, a
// shard of a hundred with one change and all of them with one change; and the
// first read of 100,000.

func benchKey(i int) string { return fmt.Sprintf("service/svc-%06d/leader", i) }

func benchPairs(from, to int) []Pair {
	pairs := make([]Pair, 0, to-from)
	for i := from; i < to; i++ {
		pairs = append(pairs, Pair{
			Key: benchKey(i), Value: fmt.Appendf(nil, `{"name":"candidate-%05d","address":"10.0.0.9:9000"}`, i),
			Session: fmt.Sprintf("695bfbd0-6350-7587-addf-%012d", i), LockIndex: 1, CreateIndex: 10, ModifyIndex: 10,
		})
	}
	return pairs
}

func benchTracker(b *testing.B, n int) (*Tracker, []Pair) {
	b.Helper()
	ps, err := ParsePatterns(nil)
	if err != nil {
		b.Fatal(err)
	}
	pairs := benchPairs(0, n)
	t := NewTracker(Options{Patterns: ps})
	if got := len(t.Observe(KeysRead{At: t0, Range: PrefixRange("service/"), Pairs: pairs})); got != n {
		b.Fatalf("%d events", got)
	}
	return t, pairs
}

// benchReads reads a part of 10,000 elections again and again. In each read
// moved elections have another value; a snapshot is taken after each, as a
// screen does.
func benchReads(b *testing.B, from, to, moved int) {
	b.Helper()
	t, all := benchTracker(b, 10_000)
	pairs := append([]Pair(nil), all[from:to]...)
	read := KeysRead{At: t0, Range: Range{From: benchKey(from), To: benchKey(to)}, Pairs: pairs}
	values := [][]byte{[]byte(`{"name":"one"}`), []byte(`{"name":"two"}`)}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range moved {
			pairs[i].Value = values[n%2]
			pairs[i].ModifyIndex++
		}
		if got := len(t.Observe(read)); got != moved {
			b.Fatalf("%d events", got)
		}
		t.Snapshot(t0)
	}
}

func BenchmarkTrackerRead(b *testing.B) {
	b.Run("100of10000", func(b *testing.B) { benchReads(b, 5000, 5100, 1) })
	b.Run("100of10000unchanged", func(b *testing.B) { benchReads(b, 5000, 5100, 0) })
	b.Run("10000", func(b *testing.B) { benchReads(b, 0, 10_000, 1) })
}

func BenchmarkTrackerFirstRead(b *testing.B) {
	ps, err := ParsePatterns(nil)
	if err != nil {
		b.Fatal(err)
	}
	read := KeysRead{At: t0, Range: PrefixRange("service/"), Pairs: benchPairs(0, 100_000)}
	b.ReportAllocs()
	for b.Loop() {
		t := NewTracker(Options{Patterns: ps})
		if got := len(t.Observe(read)); got != 100_000 {
			b.Fatalf("%d events", got)
		}
	}
}
