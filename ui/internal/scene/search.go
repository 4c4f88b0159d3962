package scene

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/term"
)

// Search looks in the whole KV store for what sessions hold. Its command writes
// the counters while it runs, everything else belongs to the event loop.
type Search struct {
	done, Total atomic.Int64
	cancel      context.CancelFunc
	// At is when it began: what it found is at least as new.
	At time.Time
	// Earlier says that it was carried out before the dialog was opened.
	Earlier bool

	Over, Stopped, Incomplete bool
	Found                     []election.Pair
	Err                       error
}

// Searched is the end of a search.
type Searched struct {
	Of       *Search
	found    []election.Pair
	complete bool
	Err      error
}

// SearchTick has the progress of a search drawn.
type SearchTick struct{ Of *Search }

// searchTick is how often the progress is drawn.
const searchTick = 200 * time.Millisecond

// Searcher makes a search and the command that carries it out.
type Searcher func(sessions []string, now time.Time) (*Search, tea.Cmd)

// holdings is what ui.Options.Holdings is.
type holdings func(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error)

// NewSearcher binds the search to the program's context. It is nil when
// there is nothing to search with.
func NewSearcher(ctx context.Context, look holdings) Searcher {
	if look == nil {
		return nil
	}
	return func(sessions []string, now time.Time) (*Search, tea.Cmd) {
		s := &Search{At: now}
		ctx, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		return s, func() tea.Msg {
			defer cancel()
			found, complete, err := look(ctx, sessions, s.Progress)
			return Searched{Of: s, found: found, complete: complete, Err: err}
		}
	}
}

// Progress may be called from any goroutine.
func (s *Search) Progress(done, total int) {
	s.Total.Store(int64(total))
	s.done.Store(int64(done))
}

// Ticked is the command that has the progress drawn once more, nil after the end.
func (s *Search) Ticked() tea.Cmd {
	if s.Over {
		return nil
	}
	return tea.Tick(searchTick, func(time.Time) tea.Msg { return SearchTick{s} })
}

// Running reports a search whose end is awaited; nil is none.
func (s *Search) Running() bool { return s != nil && !s.Over }

// Stop ends the search before its time.
func (s *Search) Stop() {
	s.Stopped = true
	s.cancel()
}

// Ended takes over what the search found.
func (s *Search) Ended(msg Searched) {
	s.Over, s.Found, s.Err = true, msg.found, msg.Err
	s.Incomplete = !msg.complete && msg.Err == nil
	s.Stopped = s.Stopped && msg.Err != nil // it may have been at its end
}

// Far is how far the search has come: "1,200 of 9,800 keys".
func (s *Search) Far() string {
	return term.Thousands(s.done.Load()) + " of " + term.Thousands(s.Total.Load()) + " keys"
}

// ProgressSpans tell of a search that runs.
func (s *Search) ProgressSpans() []term.Span {
	word := "Scanning: "
	if s.Stopped {
		word = "Stopping: "
	}
	return []term.Span{{term.Accent, word}, {term.Text, s.Far()}, {term.Text, "   "}, {term.Key, "f"}, {term.Quiet, " stops"}}
}
