package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestRecordingShortensPausesAndSkipsEqualScreens(t *testing.T) {
	start := time.Date(2026, 11, 22, 3, 12, 0, 0, time.UTC)
	var r recording
	r.see("one", "", start)
	r.see("one", "", start.Add(time.Second))
	r.see("two", "", start.Add(200*time.Millisecond))
	r.see("three", "", start.Add(time.Minute))
	r.hold(4 * time.Second)
	r.see("four", "", start.Add(2*time.Minute))
	r.hold(time.Second)
	want := []shot{{0, "one", ""}, {200 * time.Millisecond, "two", ""}, {1200 * time.Millisecond, "three", ""}, {5200 * time.Millisecond, "four", ""}}
	if len(r.shots) != len(want) {
		t.Fatalf("got %v", r.shots)
	}
	for i, s := range r.shots {
		if s != want[i] {
			t.Errorf("got %v, want %v", s, want[i])
		}
	}
	if r.end != 6200*time.Millisecond {
		t.Errorf("the recording ends at %v, want 6.2s", r.end)
	}
}

func TestCastIsAsciinemaVersion2(t *testing.T) {
	r := recording{shots: []shot{{0, "a ⏎\nb", ""}, {time.Second, "c", "n   the next problem"}}, end: 3 * time.Second}
	rows := strings.Split(strings.TrimSpace(string(r.cast(themes()[0]))), "\n")
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal([]byte(rows[0]), &header); err != nil || header.Version != 2 || header.Width != columns+1 || header.Height != lines+2 {
		t.Errorf("header %s: %v", rows[0], err)
	}
	var times []float64
	for _, row := range rows[1:] {
		var event []any
		if err := json.Unmarshal([]byte(row), &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("event %s: %v", row, err)
		}
		times = append(times, event[0].(float64))
	}
	if len(times) != 3 || times[0] != 1 || times[1] != 2 || times[2] != 4 {
		t.Errorf("the events are at %v s, want 1, 2 and 4 s", times)
	}
	if strings.Contains(rows[1], returnSign) || !strings.Contains(rows[2], "the next problem") {
		t.Errorf("the return sign is not replaced or the caption is missing:\n%s\n%s", rows[1], rows[2])
	}
}
