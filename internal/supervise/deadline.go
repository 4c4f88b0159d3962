package supervise

import "time"

// Deadlines limit how long the program may run. The campaign extends them while it leads.
type Deadlines struct {
	// Term is when the supervisor sends SIGTERM.
	Term time.Time
	// Grace is the time from SIGTERM to SIGKILL.
	Grace time.Duration
	// Kill is when the supervisor sends SIGKILL, even if Grace has not passed.
	Kill time.Time
	// Asked is true if the campaign ends the program, and false if it confirms that it leads until Term.
	Asked bool
}

const (
	// StopGrace is the time from SIGTERM to SIGKILL when the leadership is lost. The session must still protect the key
	// during this time.
	StopGrace = 3 * time.Second
	// SignalGrace is the time from SIGTERM to SIGKILL when a signal ends the campaign. It is longer, because electop
	// still leads.
	SignalGrace = 10 * time.Second
)

// NewDeadlines returns the deadlines of a campaign whose session protects the key for remaining. lost and signalled are
// the times at which the leadership was lost and at which a signal ended the campaign, or zero.
func NewDeadlines(now time.Time, remaining time.Duration, lost, signalled time.Time) Deadlines {
	d := Deadlines{Grace: StopGrace, Kill: now.Add(remaining)}
	switch {
	case !lost.IsZero():
		d.Asked, d.Term = true, lost
		if kill := lost.Add(StopGrace); kill.Before(d.Kill) {
			d.Kill = kill
		}
	case !signalled.IsZero():
		d.Asked, d.Term, d.Grace = true, signalled, SignalGrace
	default:
		d.Term = d.Kill.Add(-StopGrace)
	}
	return d
}

// received returns deadlines that this process received as wall clock times, with a monotonic clock reading. A wall clock
// time remains correct if it arrives late; a duration would become too long.
func (d Deadlines) received(now time.Time) Deadlines {
	d.Term, d.Kill = now.Add(d.Term.Sub(now.Round(0))), now.Add(d.Kill.Sub(now.Round(0)))
	return d
}

// end returns the latest time at which the supervisor kills the program and its child processes.
func (d Deadlines) end() time.Time {
	if end := d.Term.Add(d.Grace); end.Before(d.Kill) {
		return end
	}
	return d.Kill
}

// reached reports whether the monotonic clock or the wall clock has reached t. The monotonic clock stops while the
// machine is suspended, and the wall clock can be set back.
func reached(now, t time.Time) bool {
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}
