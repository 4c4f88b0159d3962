package feed

import (
	"testing"
	"time"
)

func TestClockJump(t *testing.T) {
	const second, limit = time.Second, 5 * time.Second
	last := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name            string
		wall, monotonic time.Duration
		jumped          bool
		gap             time.Duration
	}{
		{"both advance", second, second, false, second},
		{"slewed", second + 50*time.Millisecond, second, false, second + 50*time.Millisecond},
		{"set back", second - time.Hour, second, true, 0},
		{"suspended, or set forward", 8 * time.Hour, second, true, 8 * time.Hour},
		{"stopped", 22 * second, 22 * second, true, 22 * second},
	} {
		gap, jumped := compareClocks(last, last.Add(tt.wall), tt.wall, tt.monotonic, limit)
		if jumped != tt.jumped || gap.At.Sub(gap.Since) != tt.gap {
			t.Errorf("%s: %t, %v; want %t, %v", tt.name, jumped, gap.At.Sub(gap.Since), tt.jumped, tt.gap)
		}
	}
	now := time.Now()
	if _, jumped := clockJump(now, now.Add(6*second), limit); !jumped {
		t.Error("6 s without an observation are no gap")
	}
}
