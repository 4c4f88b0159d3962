package travel

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// laneReads limits the reads of lanes to one at a time.
type laneReads struct {
	reading bool
	// latest is the latest request, or nil before the first request.
	latest *request
	// failed is the error of the latest read, or empty if there was no error.
	failed string
}

// LanesRead is the message with the result of a read of lanes.
type LanesRead struct {
	lanes *scene.Lanes
	err   error
}

// refreshEvery returns the interval between reads of the lanes. Between reads, the lanes show new terms from the
// snapshot, which contains only the latest terms. A read of 10,000 elections takes about 100 ms.
func refreshEvery(window time.Duration) time.Duration {
	return max(time.Minute, min(window/15, 10*time.Minute))
}

// retryAfter is the delay before a failed read of the same lanes is retried.
const retryAfter = 10 * time.Second

// Lanes returns the command that reads the lanes, or nil if no read is due. A read is due if the window or the patterns
// have changed or, in the present, after refreshEvery. In the past, the command reads the displayed moment again.
// There is no read before the first response from Consul, because it would delay the first complete table.
func (t *Traveler) Lanes(s *scene.Scene, window time.Duration) tea.Cmd {
	l := &t.lanes
	if t.reader.source == nil || isCurrent(s, window) || l.isRecent(s, window) {
		return nil
	}
	if s.Past != nil {
		return t.readAgain(s, window)
	}
	if l.reading || len(s.Live.Elections) == 0 || s.Live.Connection.State == election.Connecting {
		return nil
	}
	q, read, parent := newRequest(s, window), t.reader, t.ctx
	l.reading, l.latest = true, q
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, readTime)
		defer cancel()
		st, err := read.state(ctx, q, q.now)
		return LanesRead{st.lanes, err}
	}
}

// isCurrent reports whether the lanes are up to date.
func isCurrent(s *scene.Scene, window time.Duration) bool {
	l := s.Lanes
	return l != nil && l.Window == window && slices.Equal(l.Patterns, s.Patterns) &&
		(s.Past != nil || s.Now.Sub(l.At) < refreshEvery(window))
}

// isRecent reports whether the latest request was for the same lanes and less than retryAfter ago.
func (l *laneReads) isRecent(s *scene.Scene, window time.Duration) bool {
	q := l.latest
	if q == nil || q.window != window || !q.at.Equal(s.Past.Moment()) || !slices.Equal(q.Texts, s.Patterns) {
		return false
	}
	age := s.Now.Sub(q.now)
	return age >= 0 && age < retryAfter
}

// readAgain reads the displayed moment again. During another read it returns nil, because that read may show another
// moment.
func (t *Traveler) readAgain(s *scene.Scene, window time.Duration) tea.Cmd {
	if t.Busy() {
		return nil
	}
	q := newRequest(s, window)
	q.at, q.event = s.Past.At, s.Past.Event
	t.lanes.latest = q
	if run, ok := t.ask(q).(scene.Run); ok {
		return run.Cmd
	}
	return nil
}

// LanesArrived returns the action that shows the lanes.
func (t *Traveler) LanesArrived(msg LanesRead) scene.Action {
	l := &t.lanes
	l.reading = false
	if msg.err == nil {
		l.failed = ""
		return scene.ShowLanes{Lanes: msg.lanes}
	}
	text := scene.Clean(msg.err.Error())
	if text == l.failed {
		return nil
	}
	l.failed = text
	return scene.Say{Role: kit.Delay, Text: "The lanes may be incomplete. " + errorText(msg.err)}
}
