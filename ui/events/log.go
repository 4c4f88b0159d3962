package events

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

const (
	// pageSize is the number of events in a page. searchSize is the page size if most events may not match the filter.
	pageSize, searchSize = 200, 1000
	// searchLimit is the maximum number of events that are read after one key press: 50 pages, which take one or two
	// seconds to read from a file. keptLines is the maximum number of recorded lines in memory.
	searchLimit, keptLines = 50_000, 20_000
	// storeDelay is the maximum time until an event is stored. Usually it takes a second; if another process locks the
	// file, the writer repeats the write every ten seconds.
	storeDelay = 30 * time.Second
	// sameWithin is the maximum difference between two observers' times of one event. At a larger difference, the
	// events differ although their indexes are equal, because indexes repeat after a restore of Consul's data.
	sameWithin = time.Minute
)

// stored holds the recorded events from the newest to the oldest one that was read.
type stored struct {
	past  past.Reader
	lines []scene.EventLine // the events that match the filter, newest first
	gaps  []history.Range
	// open contains explanations whose vacated events are older and have not been read yet.
	open  map[scene.TermID]*election.Event
	older history.Cursor
	// newest and oldest are the times of the first and the last event that was read.
	newest, oldest time.Time
	end            bool // the oldest event was read
	// outdated is set if the lines were read for an earlier filter or moment, or if no page has been read.
	outdated bool
	// readAt is the time when the first page was requested. liveFrom is the time of the oldest live event then.
	readAt, liveFrom time.Time

	task     *kit.Task
	got      *past.Read[history.EventPage] // a result that was not applied yet
	searched int
	err      error
}

// restart begins at the newest event again. The lines remain until the first page is read.
func (w *stored) restart() {
	w.task.Cancel()
	w.outdated, w.task, w.got = true, nil, nil
	w.pressed()
}

// pressed permits further reads after a limit or an error. It is called for each input.
func (w *stored) pressed() { w.searched, w.err = 0, nil }

// load returns the command for the next read, or nil if none is needed. It reads the first page, and older events when
// the cursor is near the end or its event has not been read again yet.
func (m *Model) load(s *scene.Scene) tea.Cmd {
	w := &m.stored
	if from := s.LiveSince(); s.Past == nil && !w.outdated && from.After(w.liveFrom) && from.After(w.newest) {
		w.restart() // the snapshot keeps only the latest events, so events after the first page may be missing
		if !m.follow && m.target == nil {
			m.target = m.selected()
		}
	}
	if !m.opened || !w.past.On() || w.task.Running() || w.err != nil || w.searched >= searchLimit {
		return nil
	}
	t, now := translate(m.filter, s.Shown), time.Time{}
	q := t.EventQuery
	if q.Since, q.Limit = m.since, pageSize; t.rest || w.searched >= searchSize { // most events may not match the filter
		q.Limit = searchSize
	}
	unread := m.target != nil && w.oldest.After(m.target.Time)
	switch {
	case t.none: // no stored event can match the filter
		w.outdated, w.lines, w.gaps, w.end = false, nil, nil, true
		return nil
	case w.outdated:
		now, q.Until = s.Now, s.Past.Moment()
		w.readAt, w.liveFrom = now, s.LiveSince()
	case !w.end && len(w.lines) < keptLines && (unread || m.list.Index+2*max(1, m.rect.H) >= len(m.list.Rows)):
		q.Before = w.older
	default:
		if m.target != nil && !unread {
			m.target, m.follow = nil, m.list.Index == 0
		}
		return nil
	}
	var cmd tea.Cmd
	w.task, cmd = w.past.Events(q, now, func(got past.Read[history.EventPage]) { w.got = &got })
	return cmd
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
	if w.outdated {
		w.outdated, w.lines, w.gaps, w.open, w.newest = false, nil, got.Gaps, map[scene.TermID]*election.Event{}, time.Time{}
	}
	alone := len(translate(m.filter, s.Shown).Causes) > 0 // the history then returns only explanations
	events := got.Page.Events
	for i := range events {
		line := scene.EventLine{Ev: &events[i]}
		id := scene.TermOf(line.Ev)
		switch {
		case alone:
		case line.Ev.Type == election.Explained:
			if w.open[id] == nil { // the newest explanation is used
				w.open[id] = line.Ev
			}
			continue
		case line.Ev.Type == election.Vacated:
			line.Why = w.open[id]
			delete(w.open, id)
		}
		if m.keepWatched(line) {
			w.lines = append(w.lines, line)
		}
	}
	w.searched += len(events)
	w.older, w.end = got.Page.Older, !got.Page.More
	if len(events) > 0 {
		if w.newest.IsZero() {
			w.newest = events[0].Time
		}
		w.oldest = events[len(events)-1].Time
	}
	m.refresh(s)
}

// status describes a slow or failed read of the history, or why the list ends. Otherwise, it returns nil.
func (m *Model) status(s *scene.Scene) []kit.Span {
	w, more := &m.stored, "   "+m.keys.Bottom.Help().Key
	reached := ""
	if !w.outdated && !w.oldest.IsZero() {
		reached = ", back to " + kit.Dated(w.oldest, s.Now, true)
	}
	switch {
	case !w.past.On():
		return nil
	case w.err != nil:
		return []kit.Span{{kit.Delay, past.Text(w.err)}, {kit.Quiet, more + " retries"}}
	case w.task.Slow() && m.filter.Empty():
		return []kit.Span{{kit.Quiet, "loading" + s.Sym.Ellipsis}}
	case w.task.Slow():
		return []kit.Span{{kit.Quiet, "searching" + s.Sym.Ellipsis + reached}}
	case !w.task.Running() && w.searched >= searchLimit && !w.end:
		return []kit.Span{{kit.Text, "Searched " + kit.Thousands(int64(w.searched)) + " events" + reached}, {kit.Quiet, more + " continues"}}
	case len(m.list.Rows) == 0 || w.outdated || m.list.Index+1 < len(m.list.Rows):
		return nil
	case len(w.lines) >= keptLines:
		return []kit.Span{{kit.Quiet, "The list ends here: :at TIME shows an earlier moment."}}
	case !w.end:
		return nil
	case !m.since.IsZero():
		return []kit.Span{{kit.Quiet, "Limited to events since " + kit.Dated(m.since, s.Now, true) + "; :since all shows older events."}}
	case !m.filter.Empty():
		return []kit.Span{{kit.Quiet, "No older event matches."}}
	}
	return []kit.Span{{kit.Quiet, "The history begins here."}}
}

// join returns the live events, recorded events, actions and gaps in observation, newest first.
func (m *Model) join(s *scene.Scene) []scene.EventLine {
	w, lines := &m.stored, m.stored.lines
	if s.Past == nil {
		known := map[identity]bool{}
		for _, l := range lines {
			known[identify(l.Ev)] = true
		}
		live := scene.FoldEvents(s.Shown.Events, func(l scene.EventLine) bool {
			// An initial event repeats what the history contains.
			repeated := l.Ev.Initial && (l.Ev.Time.Before(w.readAt.Add(-storeDelay)) || known[identify(l.Ev)])
			return !repeated && m.keepWatched(l)
		}, -1)
		actions := slices.DeleteFunc(slices.Clone(s.Actions), func(l scene.EventLine) bool { return !m.keep(l) })
		slices.Reverse(actions)
		lines = merge(actions, merge(live, without(lines, live)))
	}
	if m.filter.Has("type", "cause") || w.outdated && len(w.lines) == 0 {
		return lines
	}
	var gaps []scene.EventLine
	for _, gap := range slices.Backward(past.Unobserved(w.gaps, s.LiveSince())) {
		if !gap.Since.Before(m.since) && (w.end || !gap.Since.Before(w.oldest)) {
			gaps = append(gaps, scene.Unobserved(gap.Since, gap.Until, s.Now))
		}
	}
	return merge(gaps, lines)
}

// merge joins two lists, newest first. Events of a precede events of b that have the same time.
func merge(a, b []scene.EventLine) []scene.EventLine {
	if len(a) == 0 {
		return b
	}
	all := make([]scene.EventLine, 0, len(a)+len(b))
	for _, line := range a {
		for len(b) > 0 && b[0].Ev.Time.After(line.Ev.Time) {
			all, b = append(all, b[0]), b[1:]
		}
		all = append(all, line)
	}
	return append(all, b...)
}

// identity holds the fields that are equal if two observers report the same event.
type identity struct {
	scene.TermID
	kind  election.EventType
	index uint64
}

func identify(ev *election.Event) identity {
	id := identity{TermID: scene.TermOf(ev), kind: ev.Type}
	switch ev.Type {
	case election.Explained: // an explanation is on the same line as its vacated event
		id.kind = election.Vacated
	case election.Updated, election.Overwritten, election.Missed, election.Entered, election.Left:
		id.index = ev.ModifyIndex
	case election.ConnectionLost, election.ConnectionRestored: // each observer has its own connection
		id.index = uint64(ev.Time.UnixNano())
	default:
	}
	return id
}

// without returns the stored events that are not live events.
func without(stored, live []scene.EventLine) []scene.EventLine {
	times := make(map[identity][]time.Time, len(live))
	for _, l := range live {
		id := identify(l.Ev)
		times[id] = append(times[id], l.Ev.Time)
	}
	return slices.DeleteFunc(slices.Clone(stored), func(l scene.EventLine) bool {
		return slices.ContainsFunc(times[identify(l.Ev)], func(at time.Time) bool { return at.Sub(l.Ev.Time).Abs() <= sameWithin })
	})
}
