package election

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
		set             time.Duration
		gap             time.Duration // from the latest observation to now, on the new clock
	}{
		{"both advance", second, second, 0, 0},
		{"slewed", second + 50*time.Millisecond, second, 0, 0},
		{"set back", second - time.Hour, second, -time.Hour, 0},
		{"suspended, or set forward", 8 * time.Hour, second, 0, 8 * time.Hour},
		{"stopped", 22 * second, 22 * second, 0, 22 * second},
		{"suspended and set back", 22*second - time.Hour, 22 * second, -time.Hour, 22 * second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := last.Add(tt.wall)
			var set, gap time.Duration
			for _, o := range clockJump(last, now, tt.wall, tt.monotonic, limit) {
				switch o := o.(type) {
				case ClockSet:
					set = o.By
				case Gap:
					gap = o.At.Sub(o.Since)
				}
			}
			if set != tt.set || gap != tt.gap {
				t.Errorf("set by %v, gap %v; want %v, %v", set, gap, tt.set, tt.gap)
			}
		})
	}
	now := time.Now()
	if all := ClockJump(now, now.Add(second), limit); all != nil {
		t.Errorf("%+v", all)
	}
	if all := ClockJump(now, now.Add(6*second), limit); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}
