package scene

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/query"
	"electop/internal/history"
	"electop/ui/kit"
)

// Watched selects the keys of the board: a history may contain keys of other datacenters and patterns, and a snapshot
// has events of keys that were watched earlier.
type Watched struct {
	// Datacenters contains the names of the board's datacenters. It is nil if they are unknown. Texts contains the
	// patterns before parsing.
	Datacenters, Texts []string
	Patterns           election.Patterns
}

// Watched returns the selection of the board's keys.
func (s *Scene) Watched() Watched {
	w := Watched{Texts: s.Patterns}
	w.Patterns, _ = election.ParsePatterns(s.Patterns) // no error: the program has already parsed these patterns
	w.Patterns = w.Patterns.Rooted()
	for _, part := range s.Live.Datacenters() {
		if part.Datacenter != "" {
			w.Datacenters = append(w.Datacenters, part.Datacenter)
		}
	}
	return w
}

// Equal reports whether w and other select the same keys.
func (w Watched) Equal(other Watched) bool {
	return slices.Equal(w.Datacenters, other.Datacenters) && slices.Equal(w.Texts, other.Texts)
}

// Covers reports whether the board shows a datacenter.
func (w Watched) Covers(datacenter string) bool {
	return w.Datacenters == nil || slices.Contains(w.Datacenters, datacenter)
}

// Shows reports whether the board shows a key. The empty key of the connection's events matches every pattern.
func (w Watched) Shows(datacenter, key string) bool {
	if datacenter != "" && !w.Covers(datacenter) {
		return false
	}
	_, ok := w.Patterns.Match(key)
	return ok || key == "" || len(w.Patterns) == 0
}

// ShowsEvent reports whether the board shows the election of an event.
func (w Watched) ShowsEvent(ev *election.Event) bool { return w.Shows(ev.Datacenter, ev.Key) }

// EventLine is a displayed event; a vacated event includes its later explanation.
type EventLine struct {
	Ev  *election.Event
	Why *election.Event
}

// FoldEvents merges explanations into the events that they explain. It returns at most limit lines, newest first, or
// all lines if limit is negative. explained contains the explanations in later events; it may be nil.
func FoldEvents(events []election.Event, explained map[election.TermID]*election.Event, keep func(EventLine) bool, limit int) (lines []EventLine) {
	if explained == nil {
		explained = map[election.TermID]*election.Event{}
	}
	for i := len(events) - 1; i >= 0 && len(lines) != limit; i-- {
		ev := &events[i]
		if ev.Type == election.Explained {
			if id := ev.TermID(); explained[id] == nil { // the newest explanation is used
				explained[id] = ev
			}
			continue
		}
		line := EventLine{Ev: ev}
		if ev.Type == election.Vacated {
			line.Why = explained[ev.TermID()]
		}
		if keep(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// EventWord returns the displayed type of an event.
func EventWord(ev *election.Event) string {
	switch ev.Type {
	case ActionEvent:
		return "operator"
	case election.ConnectionLost, election.ConnectionRestored:
		return "connection"
	default:
		return string(ev.Type)
	}
}

// Role returns the colour role of an event. A loss that an operator caused is no problem.
func (el EventLine) Role() kit.Role {
	switch el.Ev.Type {
	case election.Vacated, election.Deleted:
		if el.Why != nil && el.Why.Cause.ByOperator() {
			return kit.Quiet
		}
		return kit.Vacant
	case election.Elected, election.ConnectionRestored, election.Entered:
		return kit.Led
	case ActionEvent:
		return kit.Accent
	case election.Overwritten, election.Missed, election.Unreadable, UnobservedEvent:
		return kit.Delay
	case election.ConnectionLost:
		return kit.Bad
	default:
		return kit.Quiet
	}
}

// EventSpans describes an event with its cause. The description omits the time, the election and the type, which have
// their own columns. If room is not 0, the description omits the number of the term, the evidence, and what does not fit
// into this width; it keeps the cause.
func EventSpans(sym *kit.Symbols, el EventLine, room int, now time.Time) []kit.Span {
	ev := el.Ev
	parts, cause, brief := ev.Parts(now), -1, room > 0
	switch ev.Type {
	case election.ConnectionLost:
		parts[0] = "lost: " + parts[0]
	case election.ConnectionRestored:
		parts = []string{"restored"}
	case ActionEvent, UnobservedEvent:
		parts = strings.Split(Clean(ev.Evidence), " · ")
	case election.Explained:
		cause = min(1, len(parts)-1)
	default:
	}
	if el.Why != nil && len(parts) > 0 {
		cause = 1
		why := el.Why.Parts(now)[1:]
		if brief {
			why = []string{strings.TrimPrefix(why[0], "session_")}
		}
		parts = append(slices.Insert(parts, 1, why[0]), why[1:]...) // the evidence is the longest part
	}
	if brief && ev.Leader != "" && len(parts) > 0 {
		parts[0], _, _ = strings.Cut(parts[0], ", term ")
	}
	for i := len(parts) - 1; brief && i > 0 && kit.Width(strings.Join(parts, " · ")) > room; i-- {
		if short := strings.Replace(parts[i], " without a leader", "", 1); short != parts[i] {
			parts[i] = short
			i++
			continue
		}
		if i == cause {
			i, cause = 0, 0
		}
		parts = slices.Delete(parts, i, i+1)
	}
	var spans []kit.Span
	for i, part := range parts {
		role := kit.Quiet
		if i == 0 || i == cause {
			role = kit.Text
		}
		if dot := " " + sym.Dot + " "; i > 0 && role == kit.Quiet {
			part = dot + part // one span: a cut never ends with the dot
		} else if i > 0 {
			spans = append(spans, kit.Quiet.Span(dot))
		}
		spans = append(spans, role.Span(part))
	}
	return spans
}

// JoinTerms joins the recorded and the live terms of one election, oldest first. The history adds the operator and the
// cause to a live term that has ended, and the start to a live term whose start was not
// observed. The vacancy between two live terms is known if both its ends were observed.
func JoinTerms(stored []history.Term, live []election.Term) []history.Term {
	stored = slices.Clone(stored)
	joined := make([]history.Term, 0, len(stored)+len(live))
	for i := range live {
		t := history.Term{Term: live[i]}
		if n := slices.IndexFunc(stored, func(old history.Term) bool {
			// Two observations are of the same term. Terms of one session on one key never overlap. A number of 0 is unknown.
			a, b := &old.Term, &live[i]
			precedes := func(a, b *election.Term) bool { return a.Over() && a.End.Before(b.Start) }
			return a.Session == b.Session && a.CreateIndex == b.CreateIndex && (a.Number == b.Number || a.Number == 0 || b.Number == 0) && !precedes(a, b) && !precedes(b, a)
		}); n >= 0 {
			old := stored[n]
			stored = slices.Delete(stored, n, n+1)
			if !t.StartKnown && old.Start.Before(t.Start) {
				t.Start, t.StartKnown = old.Start, old.StartKnown
			}
			if t.Over() {
				t.Vacancy, t.By = old.Vacancy, cmp.Or(t.By, old.By)
				if t.AliveUntil.IsZero() {
					t.AliveUntil = old.AliveUntil
				}
				if t.Cause == "" {
					t.Cause, t.Evidence, t.Guess = old.Cause, old.Evidence, old.Guess
				}
			}
		}
		if i+1 < len(live) && live[i+1].StartKnown && t.Vacancy == nil && t.SeenUntil.IsZero() && t.MissedUntil(&live[i+1]) == 0 {
			t.Vacancy = new(history.Seconds(live[i+1].Start.Sub(t.End)))
		}
		joined = append(joined, t)
	}
	joined = append(joined, stored...)
	slices.SortStableFunc(joined, func(a, b history.Term) int { return a.Start.Compare(b.Start) })
	return joined
}

// SameEvent reports whether events of two snapshots are the same event.
func SameEvent(a, b *election.Event) bool {
	return a.Time.Equal(b.Time) && a.Type == b.Type && a.TermID() == b.TermID()
}

// Additional types of lines in the Events view: an action of an operator, and a gap in observation.
const (
	ActionEvent                        = query.OperatorAction
	UnobservedEvent election.EventType = "unobserved"
)

// Unobserved returns the line about a gap in observation.
func Unobserved(from, to, now time.Time) EventLine {
	text := "no observer for " + election.BriefDuration(to.Sub(from)) + " · until " + kit.Dated(to, now, true)
	return EventLine{Ev: &election.Event{Time: from, Type: UnobservedEvent, Evidence: text}}
}
