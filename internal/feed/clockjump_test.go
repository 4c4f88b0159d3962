package feed

import (
	"testing"
	"time"
)

func TestClockJump(t *testing.T) {
	const second = time.Second
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
		{"stopped", 6 * second, 6 * second, true, 6 * second},
	} {
		gap, jumped := clockJump(last, last.Add(tt.wall), tt.monotonic)
		if jumped != tt.jumped || gap.At.Sub(gap.Since) != tt.gap {
			t.Errorf("%s: %t, %v; want %t, %v", tt.name, jumped, gap.At.Sub(gap.Since), tt.jumped, tt.gap)
		}
	}
}
