package events

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

const (
	// pageSize is the number of events in a page.
	pageSize = 500
	// searchLimit is the maximum number of events that are read after one key press: 100 pages, which take one or two
	// seconds to read from a file. keptLines is the maximum number of recorded lines in memory.
	searchLimit, keptLines = 50_000, 20_000
	// sameWithin is the maximum difference between two observers' times of one event. At a larger difference, the
	// events differ although their terms are equal, because terms repeat after a restore of Consul's data.
	sameWithin = time.Minute
)

// stored holds the recorded events from the newest to the oldest one that was read.
type stored struct {
	past  past.Reader
	lines []scene.EventLine // the events that match the filter, newest first
	gaps  []history.Range
	// open contains explanations whose vacated events are older and have not been read yet.
	open  map[election.TermID]*election.Event
	older history.Cursor
	// newest and oldest are the times of the first and the last event that was read.
	newest, oldest time.Time
	end            bool // the oldest event was read
	// outdated is set if the lines were read for an earlier filter or moment, or if no page has been read.
	outdated bool
	// liveFrom is the time of the oldest live event when the first page was requested.
	liveFrom time.Time

	task     *kit.Task
	got      *past.Read[history.EventPage] // a result that was not applied yet
	searched int
	err      error
}

// restart begins at the newest event again. The lines remain until the first page is read.
func (w *stored) restart() {
	w.task.Cancel()
	w.outdated, w.task, w.got = true, nil, nil
	w.input()
}

// input permits further reads after a limit or an error. It is called for each input.
func (w *stored) input() { w.searched, w.err = 0, nil }

// load returns the command for the next read, or nil if none is needed. It reads the first page, and older events when
// the cursor is near the end or its event has not been read again yet.
func (m *Model) load(s *scene.Scene) tea.Cmd {
	w := &m.stored
	if from := s.LiveSince(); s.Past == nil && !w.outdated && from.After(w.liveFrom) && from.After(w.newest) {
		w.restart() // the snapshot keeps only the latest events, so events after the first page may be missing
	}
	if !m.opened || !w.past.On() || w.task.Running() || w.err != nil || w.searched >= searchLimit {
		return nil
	}
	unread := m.at != nil && w.oldest.After(m.at.Time)
	if !w.outdated && (w.end || len(w.lines) >= keptLines || !unread && m.Index+2*max(1, m.Rect.H) < len(m.Rows)) {
		return nil
	}
	q, now := history.EventQuery{Page: w.older, Limit: pageSize}, time.Time{}
	if q.Since, q.Names = m.since, m.namesOnly(s.Shown); w.outdated {
		q.Page, q.Until, now = "", s.Past.Moment(), s.Now
		w.liveFrom = s.LiveSince()
	}
	w.task = w.past.Events(q, now, func(got past.Read[history.EventPage]) { w.got = &got })
	return w.task.Start()
}

// namesOnly returns the names and keys to which the filter limits the events. It returns nil if there is no such limit.
// The history distinguishes upper and lower case.
func (m *Model) namesOnly(board *election.Snapshot) (names []string) {
	words := m.Filter.Words
	i := slices.IndexFunc(words, func(w query.Word) bool { return w.Field == "election" && !w.Not })
	if i < 0 {
		return nil
	}
	for _, e := range board.Elections {
		if words[i].Names(e.Name, e.Key()) {
			names = append(names, e.Key())
		}
	}
	if names == nil {
		names = []string{words[i].Value}
	}
	return names
}

// take applies the result of a read.
func (m *Model) take(s *scene.Scene) {
	w := &m.stored
	got := w.got
	if got == nil {
		return
	}
	if w.got, w.err = nil, got.Err; w.err != nil {
		return
	}
	events := got.Page.Items
	if w.outdated {
		w.outdated, w.lines, w.gaps, w.open, w.newest = false, nil, got.Gaps, map[election.TermID]*election.Event{}, time.Time{}
		scene.FoldEvents(s.Shown.Events, w.open, func(scene.EventLine) bool { return false }, -1) // causes that became known after the moment
		if len(events) > 0 {
			w.newest = events[0].Time
		}
	}
	if len(events) > 0 {
		w.oldest = events[len(events)-1].Time
	}
	w.searched += len(events)
	w.older, w.end = got.Page.Next, !got.Page.More
	slices.Reverse(events)
	w.lines = append(w.lines, scene.FoldEvents(events, w.open, m.keepWatched, -1)...)
	m.refresh(s)
}

// status describes a slow or failed read of the history, or why the list ends. Otherwise, it returns nil.
func (m *Model) status(s *scene.Scene) []kit.Span {
	w, more := &m.stored, "   "+m.Keys.Bottom.Help().Key
	reached := ""
	if !w.outdated && !w.oldest.IsZero() {
		reached = ", back to " + s.Clock(w.oldest)
	}
	quiet := kit.Quiet.Spans
	switch {
	case !w.past.On():
		return nil
	case w.err != nil:
		return []kit.Span{{kit.Delay, past.Text(w.err)}, {kit.Quiet, more + " retries"}}
	case w.task.Slow():
		return quiet("loading" + s.Sym.Ellipsis + reached)
	case !w.task.Running() && w.searched >= searchLimit && !w.end:
		return []kit.Span{{kit.Text, "Searched " + kit.Plural(w.searched, "event") + reached}, {kit.Quiet, more + " continues"}}
	case len(m.Rows) == 0 || w.outdated || m.Index+1 < len(m.Rows):
		return nil
	case len(w.lines) >= keptLines:
		return quiet("The list ends here: :at TIME shows an earlier moment.")
	case !w.end:
		return nil
	case !m.since.IsZero():
		return quiet("Limited to events since " + s.Clock(m.since) + "; :since all shows older events.")
	case !m.Filter.Empty():
		return quiet("No older event matches.")
	}
	return quiet("The history begins here.")
}

// join returns the gaps in observation, actions, live events and recorded events, newest first.
func (m *Model) join(s *scene.Scene) (lines []scene.EventLine) {
	w, recorded := &m.stored, m.stored.lines
	if !m.Filter.Has("type", "cause") && (!w.outdated || len(w.lines) > 0) {
		for _, gap := range past.Unobserved(w.gaps, s.LiveSince()) {
			if !gap.Since.Before(m.since) && (w.end || !gap.Since.Before(w.oldest)) {
				lines = append(lines, scene.Unobserved(gap.Since, gap.Until, s.Now))
			}
		}
	}
	if s.Past == nil {
		for _, l := range slices.Backward(s.Actions) {
			if m.keep(l) {
				lines = append(lines, l)
			}
		}
		known := eventsOf(recorded)
		live := scene.FoldEvents(s.Shown.Events, nil, m.keepWatched, -1)
		for i, l := range live {
			if stored := known.find(l); stored != nil && l.Ev.Type == election.Elected {
				ev := *stored // the recorded vacancy is that of all reports; this process may have measured another one
				ev.Time, live[i].Ev = l.Ev.Time, &ev
			}
		}
		lines = append(lines, live...)
		shown := eventsOf(live)
		recorded = election.Without(recorded, func(l scene.EventLine) bool { return shown.find(l) != nil })
	}
	lines = append(lines, recorded...)
	slices.SortStableFunc(lines, func(a, b scene.EventLine) int { return b.Ev.Time.Compare(a.Ev.Time) })
	return lines
}

// events holds events by their terms.
type events map[election.TermID][]*election.Event

// find returns the same event, which another observer may have reported, or nil.
func (e events) find(l scene.EventLine) *election.Event {
	for _, ev := range e[l.Ev.TermID()] {
		if ev.Type == l.Ev.Type && ev.Time.Sub(l.Ev.Time).Abs() <= sameWithin {
			return ev
		}
	}
	return nil
}

func eventsOf(lines []scene.EventLine) events {
	all := make(events, len(lines))
	for _, l := range lines {
		id := l.Ev.TermID()
		all[id] = append(all[id], l.Ev)
	}
	return all
}
