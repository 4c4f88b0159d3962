package scene

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
)

// Search is a search of the whole KV store for keys that sessions hold. The command that runs the search writes the
// counters. Only the event loop may use the other fields.
type Search struct {
	done, Total atomic.Int64
	cancel      context.CancelFunc
	// At is the time when the search began. The found keys were read at this time or later.
	At time.Time
	// Earlier is set if the search began before the dialog was opened.
	Earlier bool

	Over, Stopped, Incomplete bool
	Found                     []election.Pair
	Err                       error
}

// Searched is the message with the result of a search.
type Searched struct {
	Of       *Search
	found    []election.Pair
	complete bool
	Err      error
}

// Searcher creates a search and the command that runs it.
type Searcher func(sessions []string, now time.Time) (*Search, tea.Cmd)

// holdings is the type of ui.Options.Holdings, which returns the keys that sessions hold.
type holdings func(ctx context.Context, datacenter string, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error)

// NewSearcher returns a Searcher for a datacenter, or for all datacenters if the name is empty. If look is nil, it
// returns nil. Cancelling ctx ends the searches.
func NewSearcher(ctx context.Context, look holdings, datacenter string) Searcher {
	if look == nil {
		return nil
	}
	return func(sessions []string, now time.Time) (*Search, tea.Cmd) {
		s := &Search{At: now}
		ctx, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		return s, func() tea.Msg {
			defer cancel()
			found, complete, err := look(ctx, datacenter, sessions, s.Progress)
			return Searched{Of: s, found: found, complete: complete, Err: err}
		}
	}
}

// Progress updates the counters; any goroutine may call it.
func (s *Search) Progress(done, total int) {
	s.Total.Store(int64(total))
	s.done.Store(int64(done))
}

// Stop cancels the search.
func (s *Search) Stop() {
	s.Stopped = true
	s.cancel()
}

// Ended stores the result.
func (s *Search) Ended(msg Searched) {
	s.Over, s.Found, s.Err = true, msg.found, msg.Err
	s.Incomplete = !msg.complete && msg.Err == nil
	s.Stopped = s.Stopped && msg.Err != nil // false if the search completed before it was stopped
}

// Far describes the progress: "1,200 of 9,800 keys".
func (s *Search) Far() string {
	return kit.Thousands(s.done.Load()) + " of " + kit.Thousands(s.Total.Load()) + " keys"
}

// ProgressSpans shows the progress of a running search, and the key that stops it.
func (s *Search) ProgressSpans(stop string) []kit.Span {
	word := "Scanning: "
	if s.Stopped {
		word = "Stopping: "
	}
	return []kit.Span{{kit.Accent, word}, {kit.Text, s.Far()}, {kit.Text, "   "}, {kit.Key, stop}, {kit.Quiet, " stops"}}
}
