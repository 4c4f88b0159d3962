package ui

import (
	"testing"

	"electop/ui/internal/uitest"
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
		d.send(snap)
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
