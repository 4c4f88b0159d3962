// Package travel reads the state at moments of the past, and the terms for the lanes, from the history. It reads in
// commands, because a slow disk or network must not delay the screen.
package travel

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// readTime is the timeout of a read. A read of 30 days of a large history takes several seconds.
const readTime = 30 * time.Second

// Traveler reads the moments of the past that the user requests, one at a time. If several requests arrive during a
// read, it carries out only the latest. Only the event loop may use it.
type Traveler struct {
	reader reader
	ctx    context.Context
	// current is the request in progress. next is the latest request that arrived during its read.
	current, next *request
	cancel        context.CancelFunc
	lanes         laneReads
}

// New returns a traveler. Cancelling ctx ends its reads. source is nil if there is no history.
func New(ctx context.Context, source history.Source) *Traveler {
	return &Traveler{ctx: ctx, reader: reader{source: source}}
}

type request struct {
	// step is -1 for the nearest event before at, 1 for the nearest event after at, and 0 for at itself.
	step int
	at   time.Time
	// A step considers only the events of the listed elections, or all events if listed is nil. ids contains the IDs of
	// the listed elections.
	listed []*election.Election
	ids    map[election.ID]bool
	window time.Duration
	now    time.Time
	// Watched selects the keys of the board.
	scene.Watched
	// event is the event to which the user stepped, or nil if there is none.
	event *election.Event
}

// Arrived is the message with the result of a read.
type Arrived struct {
	of   *request
	past *scene.Past // nil if there is no event to step to
	err  error
}

// Step moves to the nearest event before (-1) or after (1) the displayed moment. listed contains the elections that
// match the filter. It is nil without a filter.
func (t *Traveler) Step(step int, s *scene.Scene, listed []*election.Election, window time.Duration) scene.Action {
	switch {
	case listed != nil && len(listed) == 0:
		return say("No election matches the filter, so there is no event to step to.")
	case step > 0 && s.Past == nil && t.current == nil:
		return say("The board shows the present: there is no later event.")
	}
	q := newRequest(s, window)
	q.step, q.at, q.listed, q.ids = step, s.AsOf, listed, make(map[election.ID]bool, len(listed))
	for _, e := range listed {
		q.ids[e.ID()] = true
	}
	return t.ask(q)
}

// Jump moves to the moment that the user typed.
func (t *Traveler) Jump(text string, s *scene.Scene, window time.Duration) scene.Action {
	if text == "now" {
		return t.Leave()
	}
	at, err := parse(text, s.Now)
	if err != nil {
		return say(err.Error() + ".")
	}
	q := newRequest(s, window)
	q.at = at
	return t.ask(q)
}

func newRequest(s *scene.Scene, window time.Duration) *request {
	return &request{window: window, now: s.Now, Watched: s.Watched()}
}

// Leave shows the current state again and cancels the read in progress.
func (t *Traveler) Leave() scene.Action {
	t.Cancel()
	return scene.Visit{}
}

// Cancel aborts the read in progress.
func (t *Traveler) Cancel() {
	if t.cancel != nil {
		t.cancel()
	}
	t.current, t.next, t.cancel = nil, nil, nil
}

// Busy reports whether a read of a moment is in progress.
func (t *Traveler) Busy() bool { return t.current != nil }

func (t *Traveler) ask(q *request) scene.Action {
	switch {
	case t.reader.source == nil:
		return say("Viewing the past requires a history (--history).")
	case t.current != nil:
		t.next = q
		return nil
	}
	return t.start(q)
}

func (t *Traveler) start(q *request) scene.Action {
	ctx, cancel := context.WithTimeout(t.ctx, readTime)
	t.current, t.cancel = q, cancel
	read := t.reader
	return scene.Run{Cmd: func() tea.Msg {
		defer cancel()
		return read.moment(ctx, q)
	}}
}

// Arrived returns the action that shows the moment and starts the pending request.
func (t *Traveler) Arrived(msg Arrived) scene.Action {
	if msg.of != t.current {
		return nil // cancelled
	}
	next := t.next
	t.Cancel()
	var all scene.All
	switch {
	case msg.err != nil:
		all = append(all, scene.Say{Role: kit.Bad, Text: errorText(msg.err)})
	case msg.past == nil:
		all = append(all, say(noEvent(msg.of)))
	default:
		visit := scene.Visit{Past: msg.past}
		if msg.of.step != 0 && msg.past.Event.Key != "" { // events of the connection have no key
			visit.Cursor = string(msg.past.Event.ElectionID())
		}
		all = append(all, visit)
	}
	switch {
	case next == nil:
	case next.step == 0:
		all = append(all, t.start(next))
	case msg.past != nil:
		next.at = msg.past.At
		all = append(all, t.start(next))
	}
	return all
}

func noEvent(q *request) string {
	of := " for this board"
	if q.listed != nil {
		of = " of the elections that the filter shows"
	}
	if q.step < 0 {
		return "The history contains no earlier event" + of + "."
	}
	return "The history contains no later event" + of + ". Press esc to return to now."
}

func errorText(err error) string { return "Reading the history failed: " + scene.Clean(err.Error()) }

func say(text string) scene.Action { return scene.Say{Role: kit.Delay, Text: text} }
