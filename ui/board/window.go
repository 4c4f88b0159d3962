package board

import (
	"strconv"
	"time"

	"electop/ui/kit"
	"electop/ui/scene"
)

// laneWindow returns the default period of the lanes: 15 minutes. While electop has observed for less time, the period
// is shorter, so that the lanes are never mostly empty.
func laneWindow(seen time.Duration) time.Duration {
	switch {
	case seen <= time.Minute:
		return time.Minute
	case seen <= 5*time.Minute:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

const day = 24 * time.Hour

// windows returns the periods that the user can select, shortest first.
func windows() []time.Duration {
	return []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, day, 7 * day, 30 * day}
}

// Window returns the period that the lanes show.
func (m Model) Window() time.Duration {
	if m.zoom > 0 {
		return m.zoom
	}
	return m.window
}

// zoomLanes selects the next shorter or longer period.
func (m *Model) zoomLanes(longer bool) scene.Action {
	all, now := windows(), m.Window()
	if longer {
		for _, w := range all {
			if w > now {
				m.zoom = w
				return nil
			}
		}
		return scene.Say{Role: kit.Quiet, Text: "The longest lane shows 30 days."}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] < now {
			m.zoom = all[i]
			return nil
		}
	}
	return scene.Say{Role: kit.Quiet, Text: "The shortest lane shows " + strconv.Itoa(int(now/time.Minute)) + " min."}
}

// windowText formats a period in minutes, hours or days: 15 MIN, 24 H, 7 D.
func windowText(w time.Duration) string {
	switch {
	case w >= 2*day:
		return strconv.Itoa(int(w/day)) + " D"
	case w >= time.Hour:
		return strconv.Itoa(int(w/time.Hour)) + " H"
	}
	return strconv.Itoa(max(1, int(w/time.Minute))) + " MIN"
}
