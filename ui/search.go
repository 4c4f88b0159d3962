package ui

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// search looks in the whole KV store for what sessions hold. Its command writes
// the counters while it runs, everything else belongs to the event loop.
type search struct {
	done, total atomic.Int64
	cancel      context.CancelFunc
	// at is when it began: what it found is at least as new.
	at time.Time
	// earlier says that it was carried out before the dialog was opened.
	earlier bool

	over, stopped, incomplete bool
	found                     []election.Pair
	err                       error
}

// searchedMsg is the end of a search.
type searchedMsg struct {
	of       *search
	found    []election.Pair
	complete bool
	err      error
}

// searchTickMsg has the progress of a search drawn.
type searchTickMsg struct{ of *search }

// searchTick is how often the progress is drawn.
const searchTick = 200 * time.Millisecond

// searcher makes a search and the command that carries it out.
type searcher func(sessions []string, now time.Time) (*search, tea.Cmd)

// holdings is [Options.Holdings].
type holdings func(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error)

// newSearcher binds the search to the program's context. It is nil when
// there is nothing to search with.
func newSearcher(ctx context.Context, look holdings) searcher {
	if look == nil {
		return nil
	}
	return func(sessions []string, now time.Time) (*search, tea.Cmd) {
		s := &search{at: now}
		ctx, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		return s, func() tea.Msg {
			defer cancel()
			found, complete, err := look(ctx, sessions, s.progress)
			return searchedMsg{of: s, found: found, complete: complete, err: err}
		}
	}
}

// progress may be called from any goroutine.
func (s *search) progress(done, total int) {
	s.total.Store(int64(total))
	s.done.Store(int64(done))
}

func (s *search) ticked() tea.Cmd {
	if s.over {
		return nil
	}
	return tea.Tick(searchTick, func(time.Time) tea.Msg { return searchTickMsg{s} })
}

func (s *search) stop() {
	s.stopped = true
	s.cancel()
}

func (s *search) ended(msg searchedMsg) {
	s.over, s.found, s.err = true, msg.found, msg.err
	s.incomplete = !msg.complete && msg.err == nil
	s.stopped = s.stopped && msg.err != nil // it may have been at its end
}

// searched takes the end of a search, if what it was for is still open.
func (m *Model) searched(msg searchedMsg) {
	switch {
	case m.dialog != nil && m.dialog.search == msg.of:
		msg.of.ended(msg)
		m.checkDialog()
	case m.sessions.scan.run == msg.of:
		msg.of.ended(msg)
		m.sessions.scan.ended()
		m.sessions.refresh(m.shown)
	}
}

// far is how far the search has come: "1,200 of 9,800 keys".
func (s *search) far() string {
	return term.Thousands(s.done.Load()) + " of " + term.Thousands(s.total.Load()) + " keys"
}

// progressSpans tell of a search that runs.
func (s *search) progressSpans() []term.Span {
	word := "Scanning: "
	if s.stopped {
		word = "Stopping: "
	}
	return []term.Span{{term.Accent, word}, {term.Text, s.far()}, {term.Text, "   "}, {term.Key, "f"}, {term.Quiet, " stops"}}
}

// write tells in a dialog how the search ended. listed is how many keys are
// known of.
func (s *search) write(page *term.Page, listed int, now time.Time) {
	when := ", as of " + term.ClockTime(s.at) + s.ageText(now)
	count := term.Plural(listed, "key") + " in all"
	if listed == 0 {
		count = "no key"
	}
	r, text := term.Quiet, ""
	switch {
	case !s.over:
		return
	case s.stopped:
		r, text = term.Delay, "Stopped after "+s.far()+": "+count+" so far"+when+"."
	case s.err != nil:
		r, text = term.Bad, "The scan failed after "+s.far()+": "+scene.Clean(s.err.Error())
	case s.incomplete:
		r, text = term.Delay, "Scanned "+term.Thousands(s.total.Load())+" keys: "+count+when+". This token may not read all keys: there may be more."
	default:
		text = "Scanned all " + term.Thousands(s.total.Load()) + " keys: " + count + when + "."
	}
	page.Indented(2, term.Span{r, text})
}

// ageText tells how old an earlier search is. It changes once a minute at most:
// each change of a dialog's text withholds the action for a moment.
func (s *search) ageText(now time.Time) string {
	age := now.Sub(s.at)
	switch {
	case !s.earlier:
		return ""
	case age < time.Minute:
		return ", <1m ago"
	case age < time.Hour:
		return ", " + strconv.Itoa(int(age/time.Minute)) + "m ago"
	}
	return ", " + term.Duration(age) + " ago"
}
