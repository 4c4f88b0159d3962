package cli

import (
	"fmt"
	"time"
)

// order tells a supervisor until when its program may run.
type order struct {
	term  time.Time     // send SIGTERM
	grace time.Duration // send SIGKILL this long after SIGTERM
	kill  time.Time     // send SIGKILL, also when SIGTERM was sent a moment ago
}

// line is the order for a pipe. Times are of the wall clock, so that an order
// that is written or read late does not move its deadline.
func (o order) line() string {
	return fmt.Sprintf("%d %d %d\n", o.term.UnixNano(), o.grace, o.kill.UnixNano())
}

// readOrder is the opposite of line. Its times have a monotonic reading.
func readOrder(line string, now time.Time) (order, error) {
	var term, kill int64
	var o order
	if _, err := fmt.Sscanf(line, "%d %d %d", &term, &o.grace, &kill); err != nil {
		return o, fmt.Errorf("order to the supervisor: %w", err)
	}
	at := func(wall int64) time.Time { return now.Add(time.Duration(wall - now.UnixNano())) }
	o.term, o.kill = at(term), at(kill)
	return o, nil
}

// end is when no process of the program is left running.
func (o order) end() time.Time { return earlier(o.term.Add(o.grace), o.kill) }

func earlier(t, u time.Time) time.Time {
	if u.Before(t) {
		return u
	}
	return t
}

// reached reports whether either clock has reached t: the monotonic clock stops
// while the machine is suspended, the wall clock can be set back.
func reached(now, t time.Time) bool {
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}
