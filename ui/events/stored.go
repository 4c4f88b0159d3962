package events

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/past"
	"electop/ui/scene"
)

const (
	// pageSize is the number of events in a page. searchSize is the page size if most events may not match the filter.
	pageSize, searchSize = 200, 1000
	// searchLimit is the maximum number of events that are read after one key press: 50 pages, which take one or two
	// seconds to read from a file.
	searchLimit = 50_000
	// keptLines is the maximum number of recorded lines in memory.
	keptLines = 4000
	// keptOpen is the maximum number of explanations whose vacated event has not been read yet.
	keptOpen = 64
	// storeDelay is the maximum time until an event is stored. Usually it takes a second; if another process locks the
	// file, the writer repeats the write every ten seconds.
	storeDelay = 30 * time.Second
)

// stored is a contiguous part of the history, in pages, newest first.
type stored struct {
	past  past.Reader
	pages []page
	gaps  []history.Range
	open  []*election.Event

	// outdated is set if the pages were read for an earlier filter or moment, or if no page has been read.
	outdated bool
	// joined is set if no event between the live events and the first page is missing. end is set if the last page
	// contains the oldest event.
	joined, end bool

	req *past.Request
	// newer is set if the request is for newer events. slow is set if this or an earlier request took longer than
	// usual.
	newer, slow bool
	searched    int
	err         error
	// retry is set when the user presses a key after an error.
	retry bool

	// since is the time of the oldest event to list. from is the time at which the list begins. It is zero if the list
	// begins at the newest event.
	since, from time.Time
	// readAt is when the first page was requested. liveFrom is the time of the oldest live event at the latest
	// request for the newest page. asked and oldestLive are the corresponding values of the request in progress.
	readAt, liveFrom, asked, oldestLive time.Time
}

// page is one page of the list.
type page struct {
	lines          []scene.EventLine // the events that match the filter
	newer, older   history.Cursor
	newest, oldest time.Time
}

// restart begins the list again at a time, which is zero for the newest event. The old pages remain until the next
// page is read.
func (w *stored) restart(from time.Time) {
	if w.req != nil {
		w.req.Cancel()
	}
	w.outdated, w.from, w.err, w.slow = true, from, nil, false
	w.pressed()
}

// pressed resets the number of searched events and permits a retry. It is called for each input and each restart.
func (w *stored) pressed() { w.searched, w.retry = 0, true }

func (w *stored) narrow(keep func(scene.EventLine) bool) {
	pages := make([]page, 0, len(w.pages))
	for _, p := range w.pages {
		p.lines = slices.DeleteFunc(slices.Clone(p.lines), func(l scene.EventLine) bool { return !keep(l) })
		pages = append(pages, p)
	}
	w.pages = pages
}

func (w *stored) lines() []scene.EventLine {
	var lines []scene.EventLine
	for i := range w.pages {
		lines = append(lines, w.pages[i].lines...)
	}
	return lines
}

// within returns the time range of the pages.
func (w *stored) within() history.Range {
	r := history.Range{Since: w.since}
	if n := len(w.pages); n > 0 && !w.end {
		r.Since = w.pages[n-1].oldest
	}
	if len(w.pages) > 0 && !w.joined {
		r.Until = w.pages[0].newest
	}
	return r
}

// read starts a read. now is zero except for the first page.
func (w *stored) read(q history.EventQuery, now time.Time) tea.Cmd {
	var cmd tea.Cmd
	w.retry = false
	w.req, cmd = w.past.Events(q, now)
	return cmd
}

// add adds a page at the beginning or the end of the list. alone has the same meaning as in sift.
func (w *stored) add(msg past.EventsRead, keep func(scene.EventLine) bool, alone bool) {
	first := w.outdated
	if first {
		w.outdated, w.pages, w.open, w.gaps = false, nil, nil, msg.Gaps
		w.end, w.joined = false, w.from.IsZero()
	}
	w.searched += len(msg.Page.Events)
	p := page{newer: msg.Page.Newer, older: msg.Page.Older, lines: w.sift(msg.Page.Events, keep, alone)}
	if n := len(msg.Page.Events); n > 0 {
		p.newest, p.oldest = msg.Page.Events[0].Time, msg.Page.Events[n-1].Time
	}
	switch {
	case w.newer && !first:
		w.joined = !msg.Page.More
		w.attach()
		w.pages = append([]page{p}, w.pages...)
	default:
		w.end = !msg.Page.More
		w.pages = append(w.pages, p)
	}
	w.pages = compact(w.pages)
	w.trim()
}

// compact removes pages without lines. It moves their cursors and times to a neighbouring page.
func compact(pages []page) []page {
	var kept []page
	for _, p := range pages {
		n := len(kept) - 1
		switch {
		case p.newest.IsZero() && len(pages) > 1:
		case n >= 0 && len(p.lines) == 0:
			kept[n].older, kept[n].oldest = p.older, p.oldest
		case n >= 0 && len(kept[n].lines) == 0:
			p.newer, p.newest = kept[n].newer, kept[n].newest
			kept[n] = p
		default:
			kept = append(kept, p)
		}
	}
	return kept
}

// trim drops pages at the end that is opposite to the page just read, until at most keptLines lines remain.
func (w *stored) trim() {
	n := 0
	for i := range w.pages {
		n += len(w.pages[i].lines)
	}
	for n > keptLines {
		last := len(w.pages) - 1
		if w.newer {
			n -= len(w.pages[last].lines)
			w.pages, w.end, w.open = w.pages[:last:last], false, nil
			continue
		}
		n -= len(w.pages[0].lines)
		w.pages, w.joined = w.pages[1:], false
	}
}

// sift returns the matching lines of a page. It joins an explanation with its vacated event, which is older and may
// be on the next page. If alone is set, explanations are separate lines.
func (w *stored) sift(events []election.Event, keep func(scene.EventLine) bool, alone bool) []scene.EventLine {
	var lines []scene.EventLine
	for i := range events {
		line := scene.EventLine{Ev: &events[i]}
		switch {
		case alone:
		case line.Ev.Type == election.Explained:
			why := events[i]
			w.open = append(w.open[max(0, len(w.open)-keptOpen+1):], &why)
			continue
		case line.Ev.Type == election.Vacated:
			line.Why = w.explanation(line.Ev)
		}
		if keep(line) {
			own := events[i] // a copy, so that the page can be freed
			line.Ev = &own
			lines = append(lines, line)
		}
	}
	return lines
}

// explanation returns the explanation of an event and removes it from w.open.
func (w *stored) explanation(ev *election.Event) (why *election.Event) {
	id := scene.TermOf(ev)
	open := w.open[:0]
	for _, x := range w.open {
		switch {
		case scene.TermOf(x) != id:
			open = append(open, x)
		case why == nil: // the newest explanation is used
			why = x
		}
	}
	w.open = open
	return why
}

// attach adds the explanations of a newer page to the events of the first page.
func (w *stored) attach() {
	if len(w.pages) == 0 {
		return
	}
	for i, l := range w.pages[0].lines {
		if l.Ev.Type == election.Vacated && l.Why == nil {
			w.pages[0].lines[i].Why = w.explanation(l.Ev)
		}
	}
}
