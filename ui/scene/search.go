package scene

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
)

// Search is a search of the whole KV store for keys that sessions hold. Only the event loop may use it.
type Search struct {
	*kit.Task
	// At is the time when the search began. The found keys were read at this time or later.
	At time.Time
	// Scanned is the number of keys in the store.
	Scanned    int64
	Found      []election.Pair
	Over       bool // the fields above and below are set
	Incomplete bool // the token cannot read all keys
	Err        error
}

// Searcher starts a search. It calls then after the result was stored.
type Searcher func(sessions []string, now time.Time, then func()) (*Search, tea.Cmd)

// holdings is the type of ui.Backend.Holdings, which returns the keys that sessions hold.
type holdings func(ctx context.Context, datacenter string, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error)

// NewSearcher returns a Searcher for a datacenter, or for all datacenters if the name is empty. Cancelling ctx ends the
// searches.
func NewSearcher(ctx context.Context, look holdings, datacenter string) Searcher {
	return func(sessions []string, now time.Time, then func()) (s *Search, cmd tea.Cmd) {
		s = &Search{At: now}
		complete := false
		s.Task, cmd = kit.Read(ctx, 0, func(ctx context.Context, progress func(int, int)) (found []election.Pair, err error) {
			found, complete, err = look(ctx, datacenter, sessions, progress)
			return found, err
		}, func(found []election.Pair, err error) tea.Cmd {
			s.Found, s.Err, s.Incomplete, s.Scanned, s.Over = found, err, !complete && err == nil, s.Total(), true
			then()
			return nil
		})
		return s, cmd
	}
}

// Running reports whether the search is in progress. It returns false for a nil search.
func (s *Search) Running() bool { return s != nil && s.Task.Running() }

// WasStopped reports whether the user stopped the search before it was complete.
func (s *Search) WasStopped() bool { return s.Stopped() && s.Err != nil }

// ProgressSpans shows the progress of a running search, and the key that stops it.
func (s *Search) ProgressSpans(stop string) []kit.Span {
	word := "Scanning: "
	if s.Stopped() {
		word = "Stopping: "
	}
	return []kit.Span{{kit.Accent, word}, {kit.Text, s.Far()}, {kit.Text, "   "}, {kit.Key, stop}, {kit.Quiet, " stops"}}
}
