package ui

import (
	"testing"
	"time"
)

// One frame of 10,000 elections in a large window: what each key press costs.
func BenchmarkFrame(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		if d.m.View().Content == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// A new snapshot of 10,000 elections: sorting, filtering, measuring.
func BenchmarkSnapshot(b *testing.B) {
	snap := crowd(10_000)
	d := drive(b, snap, 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.send(snapshotMsg{snap})
	}
}

// The clock's tick, once a second while nothing happens.
func BenchmarkTick(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.now = d.now.Add(time.Second)
		d.send(tickMsg(d.now))
	}
}

// Typing a letter into the filter.
func BenchmarkFilter(b *testing.B) {
	d := drive(b, crowd(10_000), 200, 50)
	b.ReportAllocs()
	for b.Loop() {
		d.m.setFilter("node-2 !svc-000")
		d.m.setFilter("")
	}
}
