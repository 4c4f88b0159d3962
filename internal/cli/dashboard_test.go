package cli

import (
	"runtime/debug"
	"testing"
)

// garbage tells how much garbage may pile up now.
func garbage() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

func TestBoardSparesMemoryUntilItEnds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(170))
	for _, c := range []struct {
		env  string
		want int
	}{{"", boardGarbage}, {"170", 170}} {
		t.Setenv("GOGC", c.env)
		restore := spareMemory()
		if got := garbage(); got != c.want {
			t.Errorf("GOGC=%q: %d %%, want %d", c.env, got, c.want)
		}
		if restore(); garbage() != 170 {
			t.Errorf("GOGC=%q: not restored", c.env)
		}
	}
}
