package query

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
)

// ChangesWindow is the period in which new leaders are counted.
const ChangesWindow = time.Hour

// Matcher matches elections against a filter as of one point in time.
type Matcher struct {
	words []Word
	at    time.Time
	// advice is nil if no word of the filter needs it. advised is the time at which it was created.
	advice  func(*election.Election) []insight.Finding
	advised time.Time
}

// On returns a Matcher for the filter. all contains all elections. sessions contains all sessions, or is nil if they
// are unknown. The advice on one election depends on all elections and sessions.
func (f Filter) On(all []*election.Election, sessions []*election.Session, facts Facts) Matcher {
	return f.After(Matcher{}, all, sessions, facts)
}

// After is like On, but reuses the advice of an earlier Matcher while it is recent.
func (f Filter) After(earlier Matcher, all []*election.Election, sessions []*election.Session, facts Facts) Matcher {
	m := Matcher{words: f.Words, at: facts.At}
	if f.Has("advice") {
		if m.advice, m.advised = earlier.advice, earlier.advised; m.advice == nil || facts.At.Sub(m.advised).Abs() >= adviceAge {
			m.advice, m.advised = Advice(all, sessions, facts), facts.At
		}
	}
	return m
}

// Match reports whether every word matches the election.
func (m Matcher) Match(e *election.Election) bool {
	for i := range m.words {
		if w := &m.words[i]; m.matches(w, e) == w.Not {
			return false
		}
	}
	return true
}

// Select returns the elections that match.
func (m Matcher) Select(all []*election.Election) []*election.Election {
	return election.Without(all, func(e *election.Election) bool { return !m.Match(e) })
}

func (m Matcher) matches(w *Word, e *election.Election) bool {
	switch w.Field {
	case "state":
		return strings.HasPrefix(stateOf(e, m.at), w.Value)
	case "session":
		return strings.HasPrefix(strings.ToLower(e.Pair.Session), w.Value) || e.Session != nil && w.In(e.Session.Name)
	case "cause":
		last := e.LastTerm()
		return last != nil && strings.HasPrefix(string(last.Cause), w.Value)
	case "for":
		return w.matchesAge(e, m.at)
	case "changes":
		return w.compare.holds(int64(e.Changes(m.at, ChangesWindow)))
	case "advice":
		return slices.ContainsFunc(m.advice(e), func(a insight.Finding) bool {
			return strings.HasPrefix(anyAdvice, w.Value) || a.Urgent && strings.HasPrefix(urgentAdvice, w.Value) || strings.HasPrefix(a.Code, w.Value)
		})
	}
	return w.matchesTexts(e.Name, e.Key(), e.Leader, e.Node(), e.Datacenter)
}

// matchesTexts matches a word whose field is one of these texts. A word without a field matches any of the first four.
func (w *Word) matchesTexts(name, key, leader, node, datacenter string) bool {
	switch w.Field {
	case "node":
		return w.In(node)
	case "leader":
		return w.In(leader)
	case "key":
		return w.In(key)
	case "election":
		return w.Names(name, key)
	case "dc":
		return w.Is(datacenter)
	}
	return w.In(name) || w.In(key) || w.In(leader) || w.In(node)
}

// stateOf returns the displayed state, with underscores.
func stateOf(e *election.Election, at time.Time) string {
	if e.Unreadable {
		return unreadable
	}
	return string(e.State(at))
}

// matchesAge reports whether the age of the current state matches. If the beginning of the state is unknown, the
// observed age is a lower bound.
func (w *Word) matchesAge(e *election.Election, at time.Time) bool {
	since, known := e.Since, e.SinceKnown
	switch state := e.State(at); {
	case e.Unreadable || state == election.OfSemaphore:
		return false
	case state != election.Led:
		since, known = e.VacantSince, e.VacantSinceKnown
	}
	return !since.IsZero() && (known || !strings.HasPrefix(w.compare.operator, "<")) && w.compare.holds(int64(at.Sub(since)))
}

// Names reports whether the value equals the name or the key, ignoring case.
func (w *Word) Names(name, key string) bool {
	return strings.EqualFold(name, w.Value) || strings.EqualFold(key, w.Value)
}

// MatchEvent reports whether every word matches the event or its explanation, which may be nil.
func (f Filter) MatchEvent(ev, why *election.Event) bool {
	for i := range f.Words {
		if w := &f.Words[i]; (w.matchesEvent(ev) || why != nil && w.matchesEvent(why)) == w.Not {
			return false
		}
	}
	return true
}

func (w *Word) matchesEvent(ev *election.Event) bool {
	switch w.Field {
	case "type":
		return strings.HasPrefix(string(ev.Type), w.Value)
	case "session":
		return strings.HasPrefix(strings.ToLower(ev.Session), w.Value)
	case "cause":
		return strings.HasPrefix(string(ev.Cause), w.Value)
	}
	return w.matchesTexts(ev.Election, ev.Key, ev.Leader, ev.Node, ev.Datacenter) ||
		w.Field == "" && slices.ContainsFunc([]string{string(ev.Type), string(ev.Cause), ev.Evidence, ev.Error}, w.In)
}

// Is reports whether text equals the value, ignoring case, or matches the regex.
func (w *Word) Is(text string) bool {
	if w.regex != nil {
		return w.In(text)
	}
	return strings.EqualFold(text, w.Value)
}

// In reports whether text contains the value, ignoring case, or matches the regex.
func (w *Word) In(text string) bool {
	if w.regex != nil {
		return w.regex.MatchString(text)
	}
	return strings.Contains(strings.ToLower(text), w.Value)
}

// adviceAge is the lifetime of the advice on an unchanged election. The advice also depends on other elections, on
// checks and on the time.
const adviceAge = 3 * time.Second

// Advice returns a function that returns the advice on an election. The function remembers its results, because the
// dashboard evaluates its filter for each message; it is not safe for concurrent use. Elections are compared only within
// their datacenter. If there is only one datacenter, all sessions belong to it. See [Filter.On] for the arguments.
func Advice(all []*election.Election, sessions []*election.Session, facts Facts) func(*election.Election) []insight.Finding {
	elections := map[string][]*election.Election{}
	for _, e := range all {
		elections[e.Datacenter] = append(elections[e.Datacenter], e)
	}
	boards, known := make(map[string]*insight.Board, len(elections)), make(map[*election.Election][]insight.Finding, len(all))
	for name, es := range elections {
		own := sessions
		if len(elections) > 1 {
			own = election.Without(sessions, func(s *election.Session) bool { return s.Datacenter != name })
		}
		boards[name] = insight.NewBoard(es, own).WithChecks(facts.checks(es[0]))
	}
	return func(e *election.Election) []insight.Finding {
		advice, found := known[e]
		if !found {
			advice = cmp.Or(boards[e.Datacenter], insight.NewBoard(nil, nil)).Advise(e, nil, facts.At)
			known[e] = advice
		}
		return advice
	}
}

// comparison is an operator and a number.
type comparison struct {
	operator string
	number   int64
}

// holds reports whether the comparison is true for v.
func (c comparison) holds(v int64) bool {
	return strings.Contains(cmp.Or(c.operator, "="), string("<=>"[1+cmp.Compare(v, c.number)]))
}
