package tracker

import (
	"fmt"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
)

// These benchmarks measure the time and memory of observations: the first read of all keys, a shard with one change,
// and one session.

func benchKey(i int) string { return fmt.Sprintf("service/svc-%06d/leader", i) }

func benchSession(i int) string { return fmt.Sprintf("695bfbd0-6350-7587-addf-%012d", i) }

func benchPairs(from, to int) []election.Pair {
	pairs := make([]election.Pair, 0, to-from)
	for i := from; i < to; i++ {
		pairs = append(pairs, election.Pair{
			Key: benchKey(i), Value: fmt.Appendf(nil, `{"name":"candidate-%05d","address":"10.0.0.9:9000"}`, i),
			Session: benchSession(i), LockIndex: 1, CreateIndex: 10, ModifyIndex: 10,
		})
	}
	return pairs
}

func benchSessions(n int) []*election.Session {
	sessions := make([]*election.Session, 0, n)
	for i := range n {
		sessions = append(sessions, &election.Session{ID: benchSession(i), Name: "candidate", Node: "node-1", TTL: 15 * time.Second})
	}
	return sessions
}

func newBenchTracker(b *testing.B) *Tracker {
	b.Helper()
	return New(Options{Patterns: consultest.Patterns(b)})
}

func benchTracker(b *testing.B, n int) (*Tracker, []election.Pair) {
	b.Helper()
	pairs := benchPairs(0, n)
	t := newBenchTracker(b)
	t.Observe(election.SessionsRead{At: t0, Sessions: benchSessions(n)})
	if got := len(t.Observe(election.KeysRead{At: t0, Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...)})); got != n {
		b.Fatalf("%d events", got)
	}
	return t, pairs
}

// benchChange reads a shard of known elections repeatedly. As in an observer, the pairs are new but share unchanged
// content. In each read, one key has a new value of another holder.
func benchChange(b *testing.B, shard, known int, moved, snapshot bool) {
	b.Helper()
	t, all := benchTracker(b, known)
	from := (known - shard) / 2
	pairs := append([]election.Pair(nil), all[from:from+shard]...)
	read := election.KeysRead{At: t0, Range: election.Range{From: benchKey(from), To: benchKey(from + shard)}, Pairs: election.Pairs(pairs...)}
	values := [][]byte{[]byte(`{"name":"one","address":"10.0.0.9:9000"}`), []byte(`{"name":"two","address":"10.0.0.9:9000"}`)}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		want := 0
		if moved {
			p := &pairs[n%shard]
			p.Value, want = values[n/shard%2], 1
			p.ModifyIndex++
		}
		if got := len(t.Observe(read)); got != want {
			b.Fatalf("%d events", got)
		}
		if snapshot {
			t.Snapshot(t0)
		}
	}
}

func BenchmarkTrackerChange(b *testing.B) {
	b.Run("changed", func(b *testing.B) { benchChange(b, 1000, 10_000, true, true) })
	b.Run("unchanged", func(b *testing.B) { benchChange(b, 1000, 10_000, false, true) })
}

// BenchmarkTrackerSession reads the session of one new leader among many elections.
func BenchmarkTrackerSession(b *testing.B) {
	t, pairs := benchTracker(b, 10_000)
	p := pairs[5000]
	b.ReportAllocs()
	for n := 10_000; b.Loop(); n++ {
		p.Session, p.LockIndex, p.ModifyIndex = benchSession(n), p.LockIndex+1, p.ModifyIndex+1
		t.Observe(election.KeysRead{At: t0, Range: election.KeyRange(p.Key), Pairs: election.Pairs(p)})
		t.Observe(election.SessionsRead{At: t0, Sessions: []*election.Session{{ID: p.Session, Read: t0}}})
		if t.Find(p.Key).Session == nil {
			b.Fatal("no session")
		}
	}
}
