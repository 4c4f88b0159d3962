package scene

import (
	"slices"
	"time"

	"electop/election"
	"electop/election/query"
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
// all lines if limit is negative.
func FoldEvents(events []election.Event, keep func(EventLine) bool, limit int) []EventLine {
	var lines []EventLine
	explained := map[TermID]*election.Event{}
	for i := len(events) - 1; i >= 0 && len(lines) != limit; i-- {
		ev := &events[i]
		if ev.Type == election.Explained {
			if id := TermOf(ev); explained[id] == nil { // the newest explanation is used
				explained[id] = ev
			}
			continue
		}
		line := EventLine{Ev: ev}
		if ev.Type == election.Vacated {
			line.Why = explained[TermOf(ev)]
		}
		if keep(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TermID identifies the term of an event.
type TermID struct {
	Datacenter, Key, Session string
	Term, CreateIndex        uint64
}

// TermOf returns the term of an event.
func TermOf(ev *election.Event) TermID {
	return TermID{Datacenter: ev.Datacenter, Key: ev.Key, Session: ev.Session, Term: ev.Term, CreateIndex: ev.CreateIndex}
}

// EventWordWidth is the width of the event type column, in cells.
const EventWordWidth = 13

// EventWord returns the displayed type of an event.
func EventWord(ev *election.Event) string {
	if ev.Type == ActionEvent {
		return "operator"
	}
	if ev.Type == election.ConnectionLost || ev.Type == election.ConnectionRestored {
		return "connection"
	}
	return string(ev.Type)
}

// EventRole returns the colour role of an event.
func EventRole(ev *election.Event) kit.Role {
	switch ev.Type {
	case election.Vacated, election.Deleted:
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

// EventSpans describes an event. The description omits the time, the election and the type, which have their own
// columns.
func EventSpans(sym *kit.Symbols, ev *election.Event, now time.Time) []kit.Span {
	return LineSpans(sym, EventLine{Ev: ev}, false, now)
}

// LineSpans describes an event with its cause. The cause precedes the length of the term, because a narrow window
// cuts the end of the line. A brief description omits the number of the term.
func LineSpans(sym *kit.Symbols, el EventLine, brief bool, now time.Time) []kit.Span {
	who := leaderSpans(el.Ev)
	if brief {
		who = who[:min(1, len(who))]
	}
	spans := describe(sym, el, who)
	if between := el.Ev.Between(now); between != "" {
		spans = append(spans, kit.Span{kit.Quiet, " " + sym.Dot + " " + between})
	}
	return spans
}

func describe(sym *kit.Symbols, el EventLine, who []kit.Span) []kit.Span {
	switch ev := el.Ev; ev.Type {
	case election.ConnectionLost:
		return []kit.Span{{kit.Text, "lost"}, {kit.Quiet, ": " + Clean(ev.Error)}}
	case election.ConnectionRestored:
		return []kit.Span{{kit.Text, "restored"}}
	case ActionEvent, UnobservedEvent:
		return []kit.Span{{kit.Text, Clean(ev.Evidence)}}
	case election.Missed:
		return []kit.Span{{kit.Text, kit.Plural(int(min(ev.Count, 1<<31)), "term") + " not observed"}}
	case election.Deleted:
		return []kit.Span{{kit.Text, "the key was deleted"}}
	case election.Elected:
		return electedSpans(sym, ev, who)
	case election.Vacated:
		return vacatedSpans(sym, el, who)
	case election.Updated:
		return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " the leader changed the value"})
	case election.Overwritten:
		return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " the key was written without the lock"})
	case election.Explained:
		return append(who, whySpans(sym, ev)...)
	case election.Entered, election.Left, election.Unreadable, election.Readable:
		return []kit.Span{{kit.Text, ev.Summary()}}
	default:
		return who
	}
}

func leaderSpans(ev *election.Event) []kit.Span {
	if ev.Leader == "" {
		return nil
	}
	return []kit.Span{{kit.Text, Clean(ev.Leader)}, {kit.Quiet, ", term " + TermNumber(ev.Term)}}
}

func electedSpans(sym *kit.Symbols, ev *election.Event, who []kit.Span) []kit.Span {
	switch {
	case ev.Initial:
		return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " led when electop started"})
	case ev.VacancyKnown && ev.Vacancy < time.Millisecond:
		return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " without a vacancy"})
	case ev.VacancyKnown:
		return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " after " + kit.Precise(ev.Vacancy) + " without a leader"})
	}
	return who
}

func vacatedSpans(sym *kit.Symbols, el EventLine, who []kit.Span) []kit.Span {
	end := "led for " + Held(sym, el.Ev.Held, el.Ev.HeldKnown)
	if el.Ev.Initial {
		who, end = []kit.Span{{kit.Text, "no leader"}}, "when electop started"
	}
	if el.Why != nil {
		who = append(who, whySpans(sym, el.Why)...)
	}
	return append(who, kit.Span{kit.Quiet, " " + sym.Dot + " " + end})
}

// whySpans describes the cause in an explanation.
func whySpans(sym *kit.Symbols, ev *election.Event) []kit.Span {
	spans := []kit.Span{{kit.Quiet, " " + sym.Dot + " "}, {kit.Text, CauseLabel(ev.Cause)}}
	switch by := Operator(ev.Cause, ev.Evidence); {
	case by != "":
		spans = append(spans, kit.Span{kit.Quiet, " (" + by + ")"})
	case ev.Evidence != "" && !ByOperator(ev.Cause):
		spans = append(spans, kit.Span{kit.Quiet, ": " + OneLine(ev.Evidence, 240)})
	}
	return spans
}

// SameTerm reports whether two observations are of the same term. Terms of one session on one key never overlap. A
// number of 0 is unknown.
func SameTerm(a, b *election.Term) bool {
	precedes := func(a, b *election.Term) bool { return a.Over() && a.End.Before(b.Start) }
	return a.Session == b.Session && a.CreateIndex == b.CreateIndex && (a.Number == b.Number || a.Number == 0 || b.Number == 0) && !precedes(a, b) && !precedes(b, a)
}

// SameEvent reports whether events of two snapshots are the same event.
func SameEvent(a, b *election.Event) bool {
	return a.Time.Equal(b.Time) && a.Type == b.Type && a.Datacenter == b.Datacenter && a.Key == b.Key && a.Term == b.Term && a.Session == b.Session
}

// Additional types of lines in the Events view: an action of an operator, and a gap in observation.
const (
	ActionEvent                        = query.OperatorAction
	UnobservedEvent election.EventType = "unobserved"
)

// Unobserved returns the line about a gap in observation.
func Unobserved(from, to, now time.Time) EventLine {
	text := "no observer for " + kit.Duration(to.Sub(from)) + ", until " + kit.Dated(to, now, true)
	return EventLine{Ev: &election.Event{Time: from, Type: UnobservedEvent, Evidence: text}}
}
