package past

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// retryAfter is the delay before a failed read is retried.
const retryAfter = 10 * time.Second

// Lanes returns the command that reads the lanes, or nil if no read is due. A read is due if the lane of a visible
// election was not read for the window and the moment or, in the present, after refreshEvery. It reads the elections
// near the visible ones too. If the patterns of a past moment have changed, the command reads the moment again. There
// is no read before the first response from Consul, because it would delay the first complete table.
func (t *Traveler) Lanes(s *scene.Scene, window time.Duration, visible, near []*election.Election) tea.Cmd {
	switch l := s.Lanes; {
	case t.Source == nil, t.Busy(), t.lanes.Running(), s.Now.Before(t.retry):
		return nil
	case s.Past != nil && !slices.Equal(s.Past.Patterns, s.Patterns):
		q := newRequest(s, s.Past.At)
		q.event = s.Past.Event
		return t.read(q)
	case len(visible) == 0, s.Past == nil && s.Live.Connection.State == election.Connecting:
		return nil
	case l != nil && l.Window == window && (s.Past != nil || s.Now.Sub(l.At) < max(time.Minute, min(window/15, 10*time.Minute))) &&
		!slices.ContainsFunc(visible, func(e *election.Election) bool { _, _, known := l.Of(e); return !known }):
		return nil
	}
	q := newRequest(s, s.Past.Moment())
	t.lanes = kit.Read(t.Ctx, readTime, func(ctx context.Context) kit.Apply {
		l, err := t.Reader.lanes(ctx, q, window, near)
		return func() tea.Cmd {
			before := t.failed
			if t.failed = ""; err == nil {
				return t.Do(l)
			}
			t.retry, t.failed = q.now.Add(retryAfter), errorText(err)
			if t.failed == before {
				return nil
			}
			return t.say("The lanes may be incomplete. " + t.failed)
		}
	})
	return t.lanes.Start()
}

// laneTerms is the maximum number of terms in one read of the lanes. Earlier terms are shown as not observed.
const laneTerms = 10_000

// lanes reads the terms of some elections in the window before a moment, or before now.
func (r Reader) lanes(ctx context.Context, q *request, window time.Duration, near []*election.Election) (*scene.Lanes, error) {
	l := &scene.Lanes{At: q.at, Moment: q.at, Window: window, Terms: map[election.ID][]history.Term{}, Observed: map[election.ID]history.Periods{}}
	if q.at.IsZero() {
		l.At = q.now
	}
	f := history.Filter{Range: history.Range{Since: l.At.Add(-window), Until: l.At}}
	observed, err := r.observations(ctx, q, f.Range)
	if err != nil {
		return nil, err
	}
	for _, e := range near {
		f.Names = append(f.Names, e.Key())
	}
	page, err := r.Source.Terms(ctx, history.TermQuery{Filter: f, Limit: laneTerms})
	if err != nil && !errors.Is(err, history.ErrNoElection) {
		return nil, err
	}
	if n := len(page.Items); page.More {
		f.Since = page.Items[n-1].Start
	}
	coverage := history.NewCoverage(observed, f)
	for _, e := range near {
		l.Observed[e.ID()] = coverage.Of(e.Datacenter, e.Key())
	}
	for _, t := range slices.Backward(page.Items) {
		if t.End.After(l.At) {
			t.End, t.SeenUntil = time.Time{}, time.Time{}
		}
		id := election.Target{Datacenter: t.Datacenter, Key: t.Key}.ID()
		l.Terms[id] = append(l.Terms[id], t)
	}
	return l, nil
}
