package supervise

import (
	"fmt"
	"time"
)

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

// encode returns the deadlines as one line of wall clock times. A time remains correct if the line arrives late; a
// duration would become too long.
func (d Deadlines) encode() string {
	return fmt.Sprintf("%d %d %d %t\n", d.Term.UnixNano(), d.Grace, d.Kill.UnixNano(), d.Asked)
}

// decode parses the output of encode. The resulting times have a monotonic clock reading.
func decode(line string, now time.Time) (Deadlines, error) {
	var term, kill int64
	var d Deadlines
	if _, err := fmt.Sscanf(line, "%d %d %d %t", &term, &d.Grace, &kill, &d.Asked); err != nil {
		return d, fmt.Errorf("cannot parse the deadlines of the program: %w", err)
	}
	at := func(wall int64) time.Time { return now.Add(time.Duration(wall - now.UnixNano())) }
	d.Term, d.Kill = at(term), at(kill)
	return d, nil
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
