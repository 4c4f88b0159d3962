package ui

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/scene"
)

// BenchmarkFrame draws one frame of 10,000 elections in a large window, as each key press does.
func BenchmarkFrame(b *testing.B) {
	d := drive(b, uitest.Crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		if d.m.View().Content == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// BenchmarkSnapshot handles a snapshot of 10,000 elections in which only the latency has changed.
func BenchmarkSnapshot(b *testing.B) {
	snap := uitest.Crowd(10_000)
	d := drive(b, snap, 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.send(snapshotMsg{snap})
	}
}

// BenchmarkBoard computes counts, columns and order, as each changed snapshot does.
func BenchmarkBoard(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, key := range []string{"election", "state", "leader", "node", "for", "term", "checks", "changes"} {
			b.Run(fmt.Sprintf("%d/%s", n, key), func(b *testing.B) {
				d := drive(b, uitest.Crowd(n), 200, 50)
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
			s := uitest.Crowd(n)
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

// BenchmarkCursor moves the cursor down a long table. Each step computes the assessment of another election.
func BenchmarkCursor(b *testing.B) {
	d := drive(b, uitest.Crowd(10_000), 120, 36)
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
	d := drive(b, uitest.Crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.now = d.now.Add(time.Second)
		d.send(tickMsg(d.now))
	}
}
