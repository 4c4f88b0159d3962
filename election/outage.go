package election

import (
	"slices"
	"strings"
	"time"
)

// Outage bounds the time from the last sign of life of a leader to the next term. It can be longer than the vacancy: a
// holder that has died keeps its key until Consul ends its session.
type Outage struct {
	// Min and Max are in milliseconds. Min is the vacancy, or 0 if its beginning was not observed. Max is nil if unknown.
	Min int64  `json:"outage_min_ms"`
	Max *int64 `json:"outage_max_ms,omitempty"`
	// alive is the last certain sign of life.
	alive time.Time
}

// NewOutage returns the outage that began between alive, which may be unknown, and lost, and ended at next.
func NewOutage(alive, lost, next time.Time) *Outage {
	o := &Outage{Min: max(0, next.Sub(lost)).Milliseconds(), alive: alive}
	if !alive.IsZero() {
		o.Max = new(max(o.Min, next.Sub(alive).Milliseconds()))
	}
	return o
}

// LastSign returns the last sign of life of the latest leader, or zero if it is unknown or another leader may have followed.
func (e *Election) LastSign() time.Time {
	if last := e.LastTerm(); last != nil && last.End.Equal(e.VacantSince) && e.MissedTerms() == 0 {
		return last.AliveUntil
	}
	return time.Time{}
}

// Outage returns the outage so far of an election without a leader, or nil if unknown.
func (e *Election) Outage(now time.Time) *Outage {
	alive, last := e.LastSign(), e.LastTerm()
	if alive.IsZero() && (last == nil || last.Cause == "" || !last.End.Equal(e.VacantSince)) {
		return nil
	}
	return NewOutage(alive, e.VacantSince, now)
}

// Outage returns the outage between an ended term and the next one.
func (t *Term) Outage(next *Term) *Outage {
	free := next.Start // no session held the key until then
	switch {
	case t.MissedUntil(next) > 0:
		free = t.End
	case !next.StartKnown:
		free = next.NotBefore
	}
	o := NewOutage(t.AliveUntil, t.End, free)
	if o.Max != nil {
		o.Max = new(max(o.Min, next.Start.Sub(t.AliveUntil).Milliseconds()))
	}
	return o
}

// Extend adds an earlier outage, or nothing if it is nil.
func (o *Outage) Extend(earlier *Outage) {
	if earlier == nil {
		return
	}
	if o.Min += earlier.Min; o.Max == nil || earlier.Max == nil {
		o.Max = nil
		return
	}
	*o.Max += *earlier.Max
}

// String formats the bounds: "2 to 22s".
func (o *Outage) String() string {
	least := time.Duration(o.Min) * time.Millisecond
	if o.Max == nil {
		return "at least " + FormatDuration(least)
	}
	most := time.Duration(*o.Max) * time.Millisecond
	if *o.Max-o.Min < 1000 {
		return FormatDuration(most)
	}
	most = (most + time.Second - 1).Truncate(time.Second)
	first := FormatDuration(least)
	switch {
	case o.Min == 0:
		return "at most " + AtMost(most)
	case least >= time.Second && most < time.Minute:
		first = strings.TrimSuffix(first, "s")
	}
	return first + " to " + AtMost(most)
}

// Beside returns the text that follows a vacancy: ", outage 2 to 22s", or "" if the outage is the vacancy: two
// processes measure times that differ by some ms. If at is not nil, it formats the last sign of life.
func (o *Outage) Beside(at func(time.Time) string) string {
	if o == nil || o.Max == nil && o.Min == 0 || o.Max != nil && *o.Max-o.Min < 1000 {
		return ""
	}
	text := ", outage " + o.String()
	if at != nil && o.Max != nil {
		text += " (the holder's last sign of life was after " + at(o.alive) + ")"
	}
	return text
}

const (
	// sessionExpiry is the time from the last renewal of a session until Consul ends it, in TTLs. A lease ends after one TTL.
	sessionExpiry = 2
	// sessionDelay is added to it, because Consul under load ends sessions late (docs/endings.md).
	sessionDelay = 500 * time.Millisecond
)

// LastSign returns the last certain sign of life of the holder of an ended term, or zero if unknown. s is its session, or nil
// if it was not read. A client that releases a lock, or destroys its session, worked until then. Otherwise, the
// session's last renewal is the last sign, or the acquire.
func (t *Term) LastSign(s *Session) time.Time {
	end := t.LastSeen()
	switch {
	case slices.Contains([]Cause{Released, OperatorRelease, KeyDeleted, SessionDestroyed}, t.Cause) && !strings.Contains(t.Evidence, ", "+FixOf): // of a leader that had failed
		return end
	case s == nil || s.TTL == 0:
		return time.Time{}
	}
	switch {
	case t.Cause == SessionExpired:
		end = s.Expires.Round(0).Add(-s.TTL)
	case !s.Expires.IsZero():
		end = end.Add(-s.TTL - leaseDelay)
	default:
		end = end.Add(-sessionExpiry*s.TTL - sessionDelay)
	}
	if t.StartKnown && end.Before(t.Start) {
		return t.Start
	}
	return end
}
