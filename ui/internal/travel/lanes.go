package travel

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// laneReads limits the reads of lanes to one at a time.
type laneReads struct {
	reading bool
	// tried is when the latest read began, window its period.
	tried  time.Time
	window time.Duration
	// failed is the latest error, empty if there was none.
	failed string
}

// LanesRead is the message with the result of a read of lanes.
type LanesRead struct {
	lanes *scene.Lanes
	err   error
}

// refreshEvery is the interval between reads of the lanes. Between reads, the lanes show the live terms, of which
// this process keeps only the latest. A read of 10,000 elections takes about 100 ms.
func refreshEvery(window time.Duration) time.Duration {
	return max(time.Minute, min(window/15, 10*time.Minute))
}

// retryAfter is the pause after a failed read of the same window.
const retryAfter = 10 * time.Second

// Lanes returns the command that reads the lanes, nil if none is due. A read is due if the window has changed or, in
// the present, after refreshEvery.
func (t *Traveler) Lanes(s *scene.Scene, window time.Duration) tea.Cmd {
	l := &t.lanes
	age := s.Now.Sub(l.tried)
	current := s.Lanes != nil && s.Lanes.Window == window && (s.Past != nil || s.Now.Sub(s.Lanes.At) < refreshEvery(window))
	if current || t.reader.source == nil || len(s.Live.Elections) == 0 || l.window == window && age >= 0 && age < retryAfter {
		return nil
	}
	if s.Past != nil {
		l.tried, l.window = s.Now, window
		return t.widen(s, window)
	}
	if l.reading {
		return nil
	}
	l.reading, l.tried, l.window = true, s.Now, window
	q, read, parent := newRequest(s, window), t.reader, t.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, readTime)
		defer cancel()
		st, err := read.state(ctx, q, q.now)
		return LanesRead{st.lanes, err}
	}
}

// widen reads the displayed moment again with another window.
func (t *Traveler) widen(s *scene.Scene, window time.Duration) tea.Cmd {
	q := newRequest(s, window)
	q.at, q.event = s.Past.At, s.Past.Event
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
	return scene.Say{Role: term.Delay, Text: "The lanes show only the time since electop started: " + text}
}
