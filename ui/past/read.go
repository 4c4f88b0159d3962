package past

import (
	"context"
	"errors"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/ui/scene"
)

const (
	// shownEvents is the number of events in a snapshot of the past. This number suffices for the first screen of the
	// Events view.
	shownEvents = 300
	// stepPage is the number of events in one read while a step searches for the next event of the board.
	stepPage = 100
	// maxNames is the maximum number of names in a query. Above this number, this package filters the events itself.
	maxNames = 1000
)

// reader reads the history of the elections on the board.
type reader struct{ source history.Source }

// moment reads the state at the moment of the request or, for a step, at the nearest event.
func (r reader) moment(ctx context.Context, q *request) (*scene.Past, error) {
	at, ev := q.at, q.event
	if q.step != 0 {
		var err error
		if ev, err = r.neighbour(ctx, q); err != nil || ev == nil {
			return nil, err
		}
		at = ev.Time
	}
	return r.read(ctx, q, at, ev)
}

// neighbour finds the nearest event before or after the moment. It returns nil if there is none. A step skips the other
// events with the same time.
func (r reader) neighbour(ctx context.Context, q *request) (*election.Event, error) {
	query := q.query()
	for {
		page, err := r.source.Events(ctx, query)
		if errors.Is(err, history.ErrNoElection) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if q.step > 0 {
			slices.Reverse(page.Events)
		}
		i := slices.IndexFunc(page.Events, func(ev election.Event) bool { return q.ShowsEvent(&ev) && q.matches(&ev) })
		switch {
		case i >= 0:
			return &page.Events[i], nil
		case !page.More:
			return nil, nil
		}
		if query.Before, query.After = page.Older, ""; q.step > 0 {
			query.Before, query.After = "", page.Newer
		}
	}
}

func (q *request) query() history.EventQuery {
	query := history.EventQuery{Limit: stepPage}
	if q.step < 0 {
		query.Until = q.at.Add(-1)
	} else {
		query.After = history.CursorAt(q.at.Add(1))
	}
	if len(q.listed) <= maxNames {
		for _, e := range q.listed {
			query.Names = append(query.Names, e.Key())
		}
	}
	return query
}

// matches reports whether the filter shows the election of an event.
func (q *request) matches(ev *election.Event) bool {
	return q.listed == nil || q.ids[ev.ElectionID()]
}

// name returns the name of the only datacenter, or "" if there are several.
func (q *request) name() string {
	if len(q.Datacenters) != 1 {
		return ""
	}
	return q.Datacenters[0]
}

// read reads the state at a moment. ev is the event to which the user stepped, or nil if there is none.
func (r reader) read(ctx context.Context, q *request, at time.Time, ev *election.Event) (*scene.Past, error) {
	st, err := r.state(ctx, q, at)
	if err != nil {
		return nil, err
	}
	events, err := r.events(ctx, q, at)
	if err != nil {
		return nil, err
	}
	past := &scene.Past{
		At: at.In(q.now.Location()), Event: ev, Observed: st.observed, Gap: st.gap, Blind: st.blind, Patterns: q.Texts,
		Snapshot: &election.Snapshot{
			At: at, Datacenter: q.name(), Elections: st.elections, Events: events, Loaded: true,
			Connection: election.Connection{State: election.Live, Since: at, LastContact: at},
		},
	}
	for i := len(events) - 1; i >= 0 && ev != nil && events[i].Time.Equal(at); i-- {
		past.More = len(events) - 1 - i
	}
	if len(st.elections) == 0 {
		past.Begins, err = r.begins(ctx)
	}
	return past, err
}

// events returns the latest events of the board up to a moment, oldest first.
func (r reader) events(ctx context.Context, q *request, at time.Time) ([]election.Event, error) {
	page, err := r.source.Events(ctx, history.EventQuery{Filter: history.Filter{Range: history.Range{Until: at}}, Limit: shownEvents})
	slices.Reverse(page.Events)
	return slices.DeleteFunc(page.Events, func(ev election.Event) bool { return !q.ShowsEvent(&ev) }), err
}

// begins returns the time of the oldest stored event, or zero if there is none.
func (r reader) begins(ctx context.Context) (time.Time, error) {
	page, err := r.source.Events(ctx, history.EventQuery{After: history.CursorAt(time.Time{}), Limit: 1})
	if err != nil || len(page.Events) == 0 {
		return time.Time{}, err
	}
	return page.Events[0].Time, nil
}

// state is the recorded state of the elections of the board at a moment.
type state struct {
	elections []*election.Election
	observed  bool
	gap       history.Range
	blind     map[string]history.Range
}

// gapWithin is the period before a moment in which the read of a moment searches for gaps in observation.
const gapWithin = time.Hour

func (r reader) state(ctx context.Context, q *request, at time.Time) (state, error) {
	stored, err := r.source.State(ctx, history.StateQuery{At: at})
	if err != nil {
		return state{}, err
	}
	all := history.Range{Since: at.Add(-gapWithin)}
	if last := stored.LastObserved; !last.IsZero() && last.Before(all.Since) {
		all.Since = last
	}
	observed, err := r.observations(ctx, q, all)
	if err != nil {
		return state{}, err
	}
	st := state{elections: q.shown(stored.Elections)}
	if st.gap, st.observed = gapAt(observed, all.Since, at, q.now); st.observed && len(q.Datacenters) > 1 {
		st.blind = blindAt(observed, all.Since, at, q)
	}
	return st, nil
}

// blindAt returns the gap in observation around a moment for each datacenter that was not observed at this moment.
func blindAt(observed []history.Observation, since, at time.Time, q *request) map[string]history.Range {
	blind := map[string]history.Range{}
	for _, name := range q.Datacenters {
		own := slices.DeleteFunc(slices.Clone(observed), func(o history.Observation) bool { return o.Datacenter != name })
		if gap, seen := gapAt(own, since, at, q.now); !seen {
			blind[name] = gap
		}
	}
	return blind
}

// shown returns the elections of the board. It sets their names according to the patterns of the board.
func (q *request) shown(stored []*election.Election) []*election.Election {
	elections := make([]*election.Election, 0, len(stored))
	for _, e := range stored {
		if !q.Shows(e.Datacenter, e.Key()) {
			continue
		}
		if name, ok := q.Patterns.Match(e.Key()); ok {
			e.Name = name
		}
		e.Session, e.LastSession = nil, nil                      // they are only as old as the latest checkpoint
		e.Leader = sanitize.Line(e.Leader, election.LabelLength) // the text is from a file or another host
		for i := range e.Terms {
			e.Terms[i].Leader = sanitize.Line(e.Terms[i].Leader, election.LabelLength)
		}
		elections = append(elections, e)
	}
	slices.SortFunc(elections, election.Compare)
	return elections
}

// observations returns the observations of the board's datacenters.
func (r reader) observations(ctx context.Context, q *request, all history.Range) ([]history.Observation, error) {
	observed, err := r.source.Observations(ctx, all)
	observed = slices.DeleteFunc(observed, func(o history.Observation) bool { return !q.Covers(o.Datacenter) })
	for i := range observed {
		if observed[i].Lasting { // the latest heartbeat may be several seconds old
			observed[i].To = q.now
		}
	}
	return observed, err
}

// gapAt returns the gap in observation around a moment. wasObserved is true if there is no gap. If an observer was
// killed, the time of its end is known only to within [history.AliveWithin].
func gapAt(observed []history.Observation, since, at, now time.Time) (gap history.Range, wasObserved bool) {
	if len(observed) == 0 {
		return gap, false
	}
	for _, gap := range history.NewCoverage(observed, history.Range{Since: since, Until: now}).Gaps() {
		if at.Before(gap.Since) || !at.Before(gap.Until) {
			continue
		}
		if gap.Since.Equal(since) && !slices.ContainsFunc(observed, func(o history.Observation) bool { return !o.To.After(at) }) {
			gap.Since = time.Time{} // nothing was observed before
		} else if at.Sub(gap.Since) < history.AliveWithin {
			return history.Range{}, true
		}
		if gap.Until.Equal(now) {
			gap.Until = time.Time{}
		}
		return gap, false
	}
	return history.Range{}, true
}

// laneTerms is the maximum number of terms in one read of the lanes. Earlier terms are shown as not observed.
const laneTerms = 10_000

// lanes reads the terms of some elections in the window before a moment, or before now.
func (r reader) lanes(ctx context.Context, q *request) (*scene.Lanes, error) {
	l := &scene.Lanes{At: q.at, Moment: q.at, Window: q.window, Terms: map[election.ID][]election.Term{}, Observed: map[election.ID]history.Periods{}}
	if q.at.IsZero() {
		l.At = q.now
	}
	period := history.Range{Since: l.At.Add(-q.window), Until: l.At}
	observed, err := r.observations(ctx, q, period)
	if err != nil {
		return nil, err
	}
	type place struct{ datacenter, key string }
	ids, keys := make(map[place]election.ID, len(q.lanes)), make([]string, len(q.lanes))
	for i, e := range q.lanes {
		ids[place{e.Datacenter, e.Key()}], keys[i] = e.ID(), e.Key()
	}
	page, err := r.source.Terms(ctx, history.TermQuery{Filter: history.Filter{Range: period, Names: keys}, Limit: laneTerms})
	if err != nil && !errors.Is(err, history.ErrNoElection) {
		return nil, err
	}
	if n := len(page.Terms); page.More {
		period.Since = page.Terms[n-1].Start
	}
	coverage := history.NewCoverage(observed, period)
	for at, id := range ids {
		l.Observed[id] = coverage.Of(at.datacenter, at.key)
	}
	for _, t := range slices.Backward(page.Terms) {
		if t.End.After(l.At) {
			t.End, t.SeenUntil = time.Time{}, time.Time{}
		}
		if id, asked := ids[place{t.Datacenter, t.Key}]; asked {
			l.Terms[id] = append(l.Terms[id], t.Term)
		}
	}
	return l, nil
}
