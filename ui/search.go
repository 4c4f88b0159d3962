package ui

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// search looks in the whole KV store for what sessions hold. Its command writes
// the counters while it runs, everything else belongs to the event loop.
type search struct {
	done, total atomic.Int64
	cancel      context.CancelFunc

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
type searcher func(sessions []string) (*search, tea.Cmd)

// holdings is [Options.Holdings].
type holdings func(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error)

// newSearcher binds the search to the program's context. It is nil when nobody
// can search.
func newSearcher(ctx context.Context, look holdings) searcher {
	if look == nil {
		return nil
	}
	return func(sessions []string) (*search, tea.Cmd) {
		s := &search{}
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

// far is how far the search has come: "1,200 of 9,800 keys".
func (s *search) far() string {
	return thousands(s.done.Load()) + " of " + thousands(s.total.Load()) + " keys"
}

// write adds what the search does or found to the dialog. seen are the keys
// that the dialog lists already.
func (s *search) write(page *doc, d *dialog) {
	if !s.over {
		word := "Searching: "
		if s.stopped {
			word = "Stopping: "
		}
		page.add(span{roleAccent, word}, span{roleText, s.far()}, span{roleText, "   "}, span{roleKey, "f"}, span{roleQuiet, " stops"})
		return
	}
	more := 0
	for _, p := range s.found {
		if !d.listed(p.Key) {
			d.writeFall(page, fall{key: p.Key, session: p.Session})
			more++
		}
	}
	text := "no further key"
	if more > 0 {
		text = plural(more, "further key")
	}
	switch {
	case s.stopped:
		page.para(roleDelay, "Stopped after "+s.far()+": "+text+" so far.")
	case s.err != nil:
		page.para(roleBad, "The search failed after "+s.far()+": "+clean(s.err.Error()))
	case s.incomplete:
		page.para(roleDelay, "Searched "+thousands(s.total.Load())+" keys: "+text+" found. This token may not read all keys: there may be more.")
	default:
		page.para(roleQuiet, "Searched all "+thousands(s.total.Load())+" keys: "+text+".")
	}
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
