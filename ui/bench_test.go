package ui

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
	"electop/ui/scene"
)

// BenchmarkFrame draws one frame of 10,000 elections in a large window, as each key press does.
func BenchmarkFrame(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		if d.m.View().Content == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// BenchmarkFrameWithHistory draws lanes of 30 days with 200 terms for each election.
func BenchmarkFrameWithHistory(b *testing.B) {
	snap := crowd(10_000)
	d := drive(b, snap, 200, 50)
	lanes := &scene.Lanes{At: testNow(), Window: 30 * 24 * time.Hour, Terms: map[election.ID][]history.Term{}, Observed: map[election.ID]history.Periods{}}
	observed := history.Periods{{Since: ago(20 * 24 * time.Hour), Until: ago(9 * 24 * time.Hour)}, {Since: ago(8 * 24 * time.Hour), Until: testNow()}}
	for _, e := range snap.Elections {
		terms := make([]history.Term, 200)
		for i := range terms {
			start := ago(time.Duration(200-i) * 3 * time.Hour)
			terms[i].Term = election.Term{Number: uint64(i), Session: sessionID(i), Start: start, StartKnown: true, End: start.Add(2 * time.Hour)}
		}
		lanes.Terms[e.ID()], lanes.Observed[e.ID()] = terms, observed
	}
	d.m.do(scene.ShowLanes{Lanes: lanes})
	d.keys("-", "-", "-", "-", "-")
	b.ReportAllocs()
	for b.Loop() {
		if d.m.View().Content == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// BenchmarkSnapshot handles a snapshot of 10,000 elections in which only the latency has changed.
func BenchmarkSnapshot(b *testing.B) {
	snap := crowd(10_000)
	d := drive(b, snap, 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.send(snapshotMsg{snap})
	}
}

// BenchmarkSnapshotWithOneChange handles a snapshot in which one of many elections has a new leader.
func BenchmarkSnapshotWithOneChange(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, key := range []string{"election", "state"} {
			b.Run(fmt.Sprintf("%d/%s", n, key), func(b *testing.B) {
				oneChange(b, n, key)
			})
		}
	}
}

func oneChange(b *testing.B, n int, key string) {
	b.Helper()
	snap := crowd(n)
	d := drive(b, snap, 200, 50)
	d.keys(":", "'sort "+key, "enter")
	h := uitest.NewHistory(1, 2)
	next := [2]*election.Snapshot{}
	for i := range next {
		s := *snap
		s.Elections = slices.Clone(snap.Elections)
		s.Elections[n/2] = h.Moved(snap.Elections[n/2])
		next[i] = &s
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		d.send(snapshotMsg{next[i%2]})
		i++
	}
}

// BenchmarkBoard computes counts, columns and order, as each changed snapshot does.
func BenchmarkBoard(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, key := range []string{"election", "state", "leader", "node", "for", "term", "checks", "changes"} {
			b.Run(fmt.Sprintf("%d/%s", n, key), func(b *testing.B) {
				d := drive(b, crowd(n), 200, 50)
				d.keys(":", "'sort "+key, "enter")
				connecting := &scene.Scene{Shown: &election.Snapshot{}}
				for b.Loop() { // a changed connection invalidates all derived data
					d.m.send(d.m.board, scene.Changed{Before: connecting})
				}
			})
		}
	}
}

func BenchmarkInsight(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := crowd(n)
			e := s.Elections[n/2]
			s.Surroundings = &election.Surroundings{Key: e.Key(), Sessions: uitest.AllSessions(s)}
			in := uitest.Scene(s, testNow())
			b.ReportAllocs()
			for b.Loop() {
				var c scene.InsightCache
				c.Look(e, in)
			}
		})
	}
}

func BenchmarkFirstSnapshot(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			snap, nothing := crowd(n), &election.Snapshot{}
			d := drive(b, snap, 200, 50)
			b.ReportAllocs()
			for b.Loop() {
				d.send(snapshotMsg{nothing})
				d.send(snapshotMsg{snap})
			}
		})
	}
}

// BenchmarkCursor moves the cursor down a long table. Each step computes the assessment of another election.
func BenchmarkCursor(b *testing.B) {
	d := drive(b, crowd(10_000), 120, 36)
	b.ReportAllocs()
	for b.Loop() {
		d.keys("j")
		if d.m.View().Content == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// BenchmarkTick handles the clock tick, which occurs once a second on an idle board.
func BenchmarkTick(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.now = d.now.Add(time.Second)
		d.send(tickMsg(d.now))
	}
}

func BenchmarkFilter(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.filter("node-2 !svc-000")
		d.filter("")
	}
}
