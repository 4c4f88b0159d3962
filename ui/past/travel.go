package past

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Traveler shows the moments of the past that the user requests, and reads the terms for the lanes. It reads in
// commands, because a slow disk or network must not delay the screen. Only the event loop may use it.
type Traveler struct {
	Reader
	// Do shows what was read.
	Do func(scene.Action) tea.Cmd
	// visit is the read of a moment, and lanes is the read of the lanes of the present.
	visit, lanes *kit.Task
	// failed is the error of the latest read of lanes, or empty. retry is the time before which a read that the user did
	// not request is not repeated.
	failed string
	retry  time.Time
}

type request struct {
	// step is -1 for the nearest event before at, 1 for the nearest event after at, and 0 for at itself.
	step int
	at   time.Time
	// A step considers only the events of the listed elections, or all events if listed is nil. It contains their keys.
	listed map[election.ID]string
	now    time.Time
	// Watched selects the keys of the board.
	scene.Watched
	// event is the event to which the user stepped, or nil if there is none.
	event *election.Event
}

func newRequest(s *scene.Scene, at time.Time) *request {
	return &request{at: at, now: s.Now, Watched: s.Watched()}
}

// Step moves to the nearest event before (-1) or after (1) the displayed moment. listed contains the elections that
// match the filter. It is nil without a filter. During a read, Step does nothing.
func (t *Traveler) Step(step int, s *scene.Scene, listed []*election.Election) tea.Cmd {
	switch {
	case t.Busy():
		return nil
	case listed != nil && len(listed) == 0:
		return t.say("No election matches the filter, so there is no event to step to.")
	case step > 0 && s.Past == nil:
		return t.say("The board shows the present: there is no later event.")
	}
	q := newRequest(s, cmp.Or(s.Past.Moment(), s.AsOf))
	q.step = step
	for _, e := range listed {
		if q.listed == nil {
			q.listed = map[election.ID]string{}
		}
		q.listed[e.ID()] = e.Key()
	}
	return t.read(q)
}

// StepTo moves to the time of an event.
func (t *Traveler) StepTo(ev *election.Event, s *scene.Scene) tea.Cmd {
	if t.Busy() {
		return nil
	}
	q := newRequest(s, ev.Time)
	q.event = ev
	return t.read(q)
}

// Jump moves to the moment that the user typed.
func (t *Traveler) Jump(text string, s *scene.Scene) tea.Cmd {
	if text == "now" {
		return t.Leave()
	}
	at, err := election.ParseMoment(strings.TrimPrefix(text, "-"), s.Now)
	switch {
	case text == "":
		return t.say(usage)
	case err != nil:
		return t.say("Invalid time: " + scene.Short(text) + ". " + usage)
	case at.After(s.Now):
		return t.say(at.Format(time.DateTime) + " is in the future.")
	}
	return t.read(newRequest(s, at))
}

// Leave shows the current state again and cancels the read in progress.
func (t *Traveler) Leave() tea.Cmd {
	t.Cancel()
	return t.Do(scene.Visit{})
}

// Cancel aborts the read of a moment.
func (t *Traveler) Cancel() { t.visit.Cancel() }

// Busy reports whether a read of a moment is in progress.
func (t *Traveler) Busy() bool { return t.visit.Running() }

// readTime is the timeout of a read.
const readTime = 30 * time.Second

// read reads a moment and shows it. It replaces a read in progress.
func (t *Traveler) read(q *request) tea.Cmd {
	if t.Source == nil {
		return t.say("Viewing the past requires a history (--history).")
	}
	t.Cancel()
	t.visit = kit.Read(t.Ctx, readTime, func(ctx context.Context) kit.Apply {
		past, err := t.moment(ctx, q)
		return func() tea.Cmd {
			switch {
			case err != nil:
				t.retry = q.now.Add(retryAfter)
				return t.Do(scene.Say{Role: kit.Bad, Text: errorText(err)})
			case past == nil:
				of, event, back := " for this board", "later", " Press esc to return to now."
				if q.listed != nil {
					of = " of the elections that the filter shows"
				}
				if q.step < 0 {
					event, back = "earlier", ""
				}
				return t.say("The history contains no " + event + " event" + of + "." + back)
			}
			visit := scene.Visit{Past: past}
			if past.Event != nil && past.Event.Key != "" { // events of the connection have no key
				visit.Cursor = string(past.Event.ElectionID())
			}
			return t.Do(visit)
		}
	})
	return t.visit.Start()
}

func errorText(err error) string { return "Reading the history failed: " + scene.Clean(err.Error()) }

func (t *Traveler) say(text string) tea.Cmd { return t.Do(scene.Refuse(text)) }

// usage lists the times that :at accepts.
const usage = ":at requires a time of day (03:12), a date and time (2026-11-20T03:12), a duration before now (-2h, -3d) or now."

// gapWithin is the period before a moment in which the read of a moment searches for gaps in observation.
const gapWithin = time.Hour

// observe finds the gap in observation around a moment: of all datacenters, or of one of them. last is the end of the
// latest observation before the moment.
func (r Reader) observe(ctx context.Context, q *request, p *scene.Past, last time.Time) error {
	since := p.At.Add(-gapWithin)
	if !last.IsZero() && last.Before(since) {
		since = last
	}
	observed, err := r.observations(ctx, q, history.Range{Since: since})
	p.Gap, p.Observed = gapAt(observed, since, p.At, q.now)
	of := ""
	if p.Event != nil && p.Event.Key != "" { // it was observed, although its observation may begin a moment later
		of, p.Observed = p.Event.Datacenter, true
	}
	for _, name := range q.Datacenters {
		if p.Observed && len(q.Datacenters) > 1 && name != of {
			p.Blind = name
			own := election.Without(observed, func(o history.Observation) bool { return o.Datacenter != name })
			p.Gap, p.Observed = gapAt(own, since, p.At, q.now)
		}
	}
	return err
}

// gapAt returns the gap in observation around a moment. wasObserved is true if there is no gap.
func gapAt(observed []history.Observation, since, at, now time.Time) (gap history.Range, wasObserved bool) {
	if len(observed) == 0 {
		return gap, false
	}
	cover := history.NewCoverage(observed, history.Filter{Range: history.Range{Since: since, Until: now}})
	for _, gap := range cover.Gaps(cover.Any()) {
		if at.Before(gap.Since) || !at.Before(gap.Until) {
			continue
		}
		if gap.Since.Equal(since) && !slices.ContainsFunc(observed, func(o history.Observation) bool { return !o.To.After(at) }) {
			gap.Since = time.Time{} // nothing was observed before
		}
		if gap.Until.Equal(now) {
			gap.Until = time.Time{}
		}
		return gap, false
	}
	return history.Range{}, true
}
