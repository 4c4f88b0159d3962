package events

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// load returns the command for the next read, or nil if none is needed. It reads the first page, older events when
// the cursor is near the end, and newer events when the cursor is near the beginning.
func (m *Model) load(s *scene.Scene) tea.Cmd {
	w := &m.stored
	if !m.opened || !w.past.On() || w.req != nil || w.err != nil && !w.retry || w.searched >= searchLimit {
		return nil
	}
	t := translate(m.filter, s.Shown)
	q, near := t.EventQuery, 2*max(1, m.rect.H)
	q.Since, q.Limit = w.since, pageSize
	if t.rest || w.searched >= searchSize { // most events may not match the filter
		q.Limit = searchSize
	}
	w.newer = false
	switch {
	case t.none:
		w.nothing()
	case w.outdated:
		q.Until = w.from
		w.asked, w.oldestLive = s.Now, s.LiveSince()
		return w.read(q, s.Now)
	case !w.end && m.at.Index+near >= len(m.lines):
		q.Before = w.pages[len(w.pages)-1].older
		return w.read(q, time.Time{})
	case !w.joined && m.at.Index < near && s.Past == nil, w.slid(s):
		return m.loadNewer(q, s)
	}
	return nil
}

// loadNewer reads the page before the first one.
func (m *Model) loadNewer(q history.EventQuery, s *scene.Scene) tea.Cmd {
	w := &m.stored
	if len(w.pages) == 0 || w.pages[0].newer == "" {
		w.restart(s.Past.Moment())
		return m.load(s)
	}
	q.After, w.newer, w.oldestLive = w.pages[0].newer, true, s.LiveSince()
	return w.read(q, time.Time{})
}

// slid reports whether events may be missing between the snapshot and the first page, because the snapshot keeps only
// the latest events.
func (w *stored) slid(s *scene.Scene) bool {
	from := s.LiveSince()
	return w.joined && from.After(w.liveFrom) && (len(w.pages) == 0 || from.After(w.pages[0].newest))
}

// nothing marks the list as complete, because no stored event can match the filter.
func (w *stored) nothing() {
	w.outdated, w.pages, w.gaps, w.end, w.joined = false, nil, nil, true, true
}

func (m *Model) read(msg past.EventsRead, s *scene.Scene) {
	w := &m.stored
	if msg.Of != w.req {
		return
	}
	w.req = nil
	if msg.Of.Cancelled {
		return
	}
	if w.err = msg.Err; w.err != nil {
		w.slow = false
		return
	}
	if w.outdated {
		w.readAt = w.asked
	}
	if w.add(msg, m.keepWatched, len(translate(m.filter, s.Shown).Causes) > 0); w.joined {
		w.liveFrom = w.oldestLive
	}
	m.refresh(s)
}

// rows returns the number of lines that fit.
func (m Model) rows(s *scene.Scene) int {
	n := m.rect.H - 1
	if n > 1 && len(m.status(s)) > 0 {
		n--
	}
	return n
}

// status describes a slow or failed read of the history, or why the list ends. Otherwise, it returns nil.
func (m Model) status(s *scene.Scene) []kit.Span {
	w := &m.stored
	atEnd := m.at.Index+1 >= len(m.lines)
	switch {
	case !w.past.On():
		return nil
	case w.err != nil:
		return []kit.Span{{kit.Delay, past.Text(w.err)}, {kit.Quiet, "   " + m.keys.Bottom.Help().Key + " retries"}}
	case w.slow && m.filter.Empty():
		return []kit.Span{{kit.Quiet, "loading" + s.Sym.Ellipsis}}
	case w.slow:
		return []kit.Span{{kit.Quiet, "searching" + s.Sym.Ellipsis + m.reached(s)}}
	case w.req == nil && w.searched >= searchLimit && !m.complete():
		return []kit.Span{{kit.Text, "Searched " + kit.Thousands(int64(w.searched)) + " events" + m.reached(s)}, {kit.Quiet, "   " + m.keys.Bottom.Help().Key + " continues"}}
	case w.end && !w.outdated && atEnd && len(m.lines) > 0:
		return []kit.Span{{kit.Quiet, m.beginning(s)}}
	}
	return nil
}

// reached formats the time of the oldest event that was read.
func (m Model) reached(s *scene.Scene) string {
	n := len(m.stored.pages)
	if m.stored.outdated || n == 0 || m.stored.pages[n-1].oldest.IsZero() {
		return ""
	}
	return ", back to " + kit.Dated(m.stored.pages[n-1].oldest, s.Now, true)
}

func (m Model) beginning(s *scene.Scene) string {
	if at := m.stored.since; !at.IsZero() {
		return "Limited to events since " + kit.Dated(at, s.Now, true) + "; :since all shows older events."
	}
	if !m.filter.Empty() {
		return "No older event matches."
	}
	return "The history begins here."
}

// reportLimit is the maximum number of elections in one report.
const reportLimit = 20

// report requests a report about the elections of the listed events. text is the start time that the user
// typed. If text is empty, the report begins at the time of :since or, if none is set, at the oldest listed event.
func (m *Model) report(text string, s *scene.Scene) scene.Action {
	var of []scene.Subject
	since, invalid := past.ReportSince(text, m.stored.since, s.Now)
	if invalid != nil {
		return invalid
	}
	limited := !since.IsZero()
	for _, l := range m.lines {
		if l.Ev.Key == "" {
			continue
		}
		if one := (scene.Subject{Datacenter: l.Ev.Datacenter, Key: l.Ev.Key}); !slices.Contains(of, one) {
			of = append(of, one)
		}
		if !limited {
			since = scene.Earlier(since, l.Ev.Time)
		}
	}
	switch n := len(of); {
	case n == 0:
		return scene.Say{Role: kit.Delay, Text: "No election is listed: there is nothing to report."}
	case n > reportLimit:
		return scene.Say{Role: kit.Delay, Text: "A report covers at most " + kit.Plural(reportLimit, "election") +
			", but " + kit.Plural(n, "election") + " are listed: filter them first (/)."}
	}
	slices.SortFunc(of, func(a, b scene.Subject) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Datacenter, b.Datacenter))
	})
	return scene.WriteReport{Of: of, Since: since}
}
