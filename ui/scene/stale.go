package scene

import (
	"strconv"
	"time"

	"electop/election"
	"electop/ui/kit"
)

// Of returns the scene for drawing an election. If the election is stale or from the history, AsOf is the time when
// its data was last current.
func (s *Scene) Of(e *election.Election) *Scene {
	if e == nil || s.Past != nil {
		return s
	}
	live, since := s.Live.In(e.Datacenter), e.RecordedUntil
	if !e.Recorded() {
		var stale bool
		if since, stale = live.StaleSince(e.Key()); !stale || s.Stale {
			return s
		}
	}
	part := *s
	if !s.Stale {
		part.StaleSince = since
	}
	part.Unreachable = live.Connection.State == election.Lost
	if since.Before(s.AsOf) {
		part.AsOf = since
	}
	return &part
}

// PartStale reports whether the drawn election is stale and other elections are not.
func (s *Scene) PartStale() bool { return !s.StaleSince.IsZero() }

// StaleText explains that no action is possible without a connection.
func (s *Scene) StaleText() string {
	return "Unavailable while " + s.Store() + outage(s.Live.Connection) + ": this data is stale."
}

// Store returns the name of the store.
func (s *Scene) Store() string { return s.Live.Store.String() }

// outage says after the name of a store why the connection is lost.
func outage(c election.Connection) string {
	if c.Refused {
		return " denies access"
	}
	return " is unreachable"
}

// Problem is a part of the data that is not current.
type Problem struct {
	// Where is the name of the datacenter. It is empty if the board shows only one datacenter or all have the problem.
	Where string
	// Kind is the kind of data that is stale: PartWhole if the connection is lost.
	Kind election.PartKind
	// Since is the time at which the data was last known to be current, or zero if there is no data. Retry is the time of
	// the next attempt, or zero while an attempt is in progress.
	Since, Retry time.Time
	// Word describes the data in the header: "20 stale". Text is a sentence, and Error the reason.
	Word, Text, Error string
}

// Problems lists what is not current on the board, the most important first within each datacenter. A moment of the
// past has none.
func (s *Scene) Problems() (all []Problem) {
	switch {
	case s.Past != nil:
		return nil
	case s.Live.Connection.State == election.Lost:
		return []Problem{s.lost(s.Live, "")}
	}
	for _, part := range s.Live.Datacenters() {
		name := ""
		if s.Several() {
			name = part.Datacenter
		}
		if part.Connection.State == election.Lost {
			all = append(all, s.lost(part, name))
			continue
		}
		for _, kind := range []election.PartKind{election.PartKeys, election.PartNames, election.PartSessions, election.PartChecks} {
			if p, stale := s.stale(part, kind); stale {
				p.Where = name
				all = append(all, p)
			}
		}
	}
	return all
}

// lost describes a lost connection to the named datacenter, or to Consul.
func (s *Scene) lost(part *election.Snapshot, name string) Problem {
	c, who, what := part.Connection, part.Store.String(), "The board is "
	if name != "" {
		who, what = Short(name), "Its elections are "
	}
	p := Problem{Where: name, Since: c.LastContact, Retry: c.RetryAt, Error: c.Error, Text: who + outage(c) + "."}
	switch {
	case !c.LastContact.IsZero() && len(part.Elections) > 0:
		p.Text += " " + what + s.Ago(c.LastContact) + " old."
	case !part.RecordedUntil.IsZero():
		p.Text = s.Recorded(part) + " " + p.Text
	}
	return p
}

// Recorded describes data from the history.
func (s *Scene) Recorded(part *election.Snapshot) string {
	return "History until " + s.Clock(part.RecordedUntil) + " (" + s.Ago(part.RecordedUntil) + " ago)."
}

// stale describes the stale parts of one kind.
func (s *Scene) stale(part *election.Snapshot, kind election.PartKind) (p Problem, found bool) {
	var ranges, last string
	for _, one := range part.Connection.Stale {
		name := Short(one.Range.From) // a key, or a prefix with an ellipsis
		if one.Range != election.KeyRange(one.Range.From) {
			name += s.Sym.Ellipsis
		}
		switch {
		case one.Kind != kind:
			continue
		case !found:
			p, ranges, found = Problem{Kind: kind, Word: string(kind) + " stale", Since: one.Since, Retry: one.RetryAt, Error: one.Error}, name, true
		case name != ranges:
			last = " to " + name
		}
		p.Since = Earlier(p.Since, one.Since)
	}
	if !found {
		return p, false // every frame asks, and counting 10,000 elections would cost more than the frame
	}
	age := "stale for " + s.Ago(p.Since)
	switch n := part.CountStale(); {
	case kind == election.PartNames:
		p.Word, p.Text = "list stale", "List of keys "+age+": new keys are not detected"
	case n > 0:
		p.Word, p.Text = strconv.Itoa(n)+" stale", strconv.Itoa(n)+" of "+kit.Plural(len(part.Elections), "election")+" "+age
	case kind == election.PartKeys:
		p.Word, p.Text = "part stale", "Keys "+age
	}
	p.Text += " (" + ranges + last + ")"
	return p, true
}

// GapText describes the gap in observation around the displayed moment of the past.
func (s *Scene) GapText() string {
	gap, where := s.Past.Gap, ""
	if s.Past.Blind != "" {
		where = " in " + Short(s.Past.Blind)
	}
	clock := func(t time.Time) string { return kit.Dated(t.In(s.Now.Location()), s.Past.At, true) }
	text, state := "No observer"+where, "; last known state."
	if gap.Since.IsZero() {
		state = "; the state is unknown."
	}
	switch {
	case gap.Since.IsZero() && gap.Until.IsZero():
		text += " was running at any time"
	case gap.Since.IsZero():
		text += " before " + clock(gap.Until)
	case gap.Until.IsZero():
		text += " since " + clock(gap.Since)
	default:
		text += " from " + clock(gap.Since) + " to " + clock(gap.Until)
	}
	return text + state
}
