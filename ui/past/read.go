// Package past creates the commands that read the history for the components. It reads in commands, because a slow
// disk or network must not delay the screen.
package past

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Reader reads the history for the components.
type Reader struct {
	Ctx context.Context //nolint:containedctx // ends the reads with the program
	// Source is nil if there is no history.
	Source history.Source
}

// On reports whether there is a history.
func (r Reader) On() bool { return r.Source != nil }

// Read is the result of a read. Gaps are the gaps in observation, oldest first. They are nil unless they were requested.
type Read[Page any] struct {
	Page Page
	Gaps []history.Range
	Err  error
}

// Events reads a page of events and passes it to then. If now is not zero, it also reads the gaps in observation before
// now.
func (r Reader) Events(q history.EventQuery, now time.Time, then func(Read[history.EventPage])) *kit.Task {
	return read(r, now, func(ctx context.Context) (history.EventPage, error) { return r.Source.Events(ctx, q) }, (*history.Coverage).Any, then)
}

// shownTerms is the maximum number of terms in one read: each key press formats all of them.
const shownTerms = 300

// Terms reads the latest terms of one election that began at or before until, latest first, and the gaps in its
// observation before now, and passes them to then. A zero until means no limit.
func (r Reader) Terms(of *election.Election, until, now time.Time, then func(Read[history.TermPage])) *kit.Task {
	key, datacenter := of.Key(), of.Datacenter
	q := history.TermQuery{Filter: history.Filter{Names: []string{key}, Range: history.Range{Until: until}}, Limit: shownTerms}
	observed := func(c *history.Coverage) history.Periods { return c.Of(datacenter, key) }
	return read(r, now, func(ctx context.Context) (history.TermPage, error) { return r.Source.Terms(ctx, q) }, observed, then)
}

func read[Page any](r Reader, now time.Time, page func(context.Context) (Page, error), of func(*history.Coverage) history.Periods, then func(Read[Page])) *kit.Task {
	return kit.Read(r.Ctx, readTime, func(ctx context.Context) kit.Apply {
		var got Read[Page]
		if got.Page, got.Err = page(ctx); errors.Is(got.Err, history.ErrNoElection) { // nothing was recorded, so an empty result is correct
			got.Err = nil
		}
		if got.Err == nil && !now.IsZero() {
			until := history.Filter{Range: history.Range{Until: now}}
			var observed []history.Observation
			observed, got.Err = r.Source.Observations(ctx, until.Range)
			cover := history.NewCoverage(observed, until)
			got.Gaps = cover.Gaps(of(cover))
		}
		return func() tea.Cmd {
			then(got)
			return nil
		}
	})
}

// Text returns a history error as one line, without the path of the file.
func Text(err error) string {
	text := strings.TrimPrefix(scene.Clean(err.Error()), "history: ")
	if _, reason, found := strings.Cut(text, `": `); found && strings.HasPrefix(text, `history "`) {
		text = reason
	}
	return "history: " + text
}

// Unobserved cuts gaps at live, the time at which the dashboard began to observe, because its newest events may not
// be stored yet. If live is zero, Unobserved changes nothing.
func Unobserved(gaps []history.Range, live time.Time) []history.Range {
	if live.IsZero() {
		return gaps
	}
	var cut []history.Range
	for _, gap := range gaps {
		if gap.Until.After(live) {
			gap.Until = live
		}
		if gap.Since.Before(gap.Until) {
			cut = append(cut, gap)
		}
	}
	return cut
}

// Moment parses the time that the user typed after a command as text. If text is empty, it returns the value of
// otherwise. If text is not a valid time, invalid is the action that shows the error.
func Moment(command, text string, otherwise, now time.Time) (at time.Time, invalid scene.Action) {
	if text == "" {
		return otherwise, nil
	}
	at, err := election.ParseMoment(text, now)
	if err != nil {
		invalid = scene.Refuse(command + ": " + err.Error() + ".")
	}
	return at, invalid
}

const (
	// shownEvents is the number of events in a snapshot of the past. This number suffices for the first screen of the
	// Events view.
	shownEvents = 300
	// shownLosses is the number of losses whose causes are read although they became known after the moment, but within
	// causeWithin.
	shownLosses = 10
	causeWithin = time.Minute
	// stepPage is the number of events in one read while a step searches for the next event of the board.
	stepPage = 100
)

// moment reads the state at the moment of the request or, for a step, at the nearest event.
func (r Reader) moment(ctx context.Context, q *request) (*scene.Past, error) {
	at, ev := q.at, q.event
	if q.step != 0 {
		var err error
		if ev, err = r.neighbour(ctx, q); err != nil || ev == nil {
			return nil, err
		}
		at = ev.Time
	}
	stored, err := r.Source.State(ctx, at)
	if err != nil {
		return nil, err
	}
	latest, err := r.Source.Events(ctx, history.EventQuery{Filter: history.Filter{Range: history.Range{Until: at}}, Limit: shownEvents})
	if err != nil {
		return nil, err
	}
	slices.Reverse(latest.Items)
	events := slices.DeleteFunc(latest.Items, func(ev election.Event) bool { return !q.ShowsEvent(&ev) })
	past := &scene.Past{
		At: at.In(q.now.Location()), Event: ev, Patterns: q.Texts,
		Snapshot: &election.Snapshot{
			At: at, Elections: q.shown(stored.Elections), Events: events, Loaded: true,
			Connection: election.Connection{State: election.Live, Since: at, LastContact: at},
		},
	}
	if len(q.Datacenters) == 1 {
		past.Snapshot.Datacenter = q.Datacenters[0]
	}
	for i := len(events) - 1; i >= 0 && ev != nil && events[i].Time.Equal(at); i-- {
		past.More = len(events) - 1 - i
	}
	lost := history.EventQuery{Filter: history.Filter{Range: history.Range{Since: at, Until: at.Add(causeWithin)}}, Types: []election.EventType{election.Explained}, Page: history.Oldest, Limit: stepPage}
	for _, ev := range slices.Backward(events) {
		if ev.Type == election.Vacated && len(lost.Names) < shownLosses {
			lost.Names = append(lost.Names, ev.Key)
		}
	}
	if lost.Names != nil { // what is known about a loss belongs to its state
		causes, err := r.Source.Events(ctx, lost)
		if err != nil {
			return nil, err
		}
		all := slices.Concat(events, causes.Items)
		scene.FoldEvents(all, nil, func(l scene.EventLine) bool {
			if e := past.Snapshot.Find(l.Ev.ElectionID()); e != nil && l.Why != nil {
				history.Explain(e, l.Why)
			}
			if ev != nil && scene.SameEvent(ev, l.Ev) {
				past.Why = l.Why
			}
			return false
		}, -1)
		past.Snapshot.Events = all
	}
	return past, r.observe(ctx, q, past, stored.LastObserved)
}

// neighbour finds the nearest event before or after the moment. It returns nil if there is none. A step skips the other
// events with the same time, and explanations: what they say is shown with the loss.
func (r Reader) neighbour(ctx context.Context, q *request) (*election.Event, error) {
	query := history.EventQuery{Limit: stepPage}
	if query.Names = slices.Collect(maps.Values(q.listed)); q.step < 0 {
		query.Until = q.at.Add(-1)
	} else {
		query.Since, query.Page = q.at.Add(1), history.Oldest
	}
	for {
		page, err := r.Source.Events(ctx, query)
		if errors.Is(err, history.ErrNoElection) {
			return nil, nil
		}
		if err != nil && len(query.Names) > 0 { // they may be too many for a request to a recorder
			query.Names = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(page.Items, func(ev election.Event) bool {
			_, listed := q.listed[ev.ElectionID()]
			return ev.Type != election.Explained && q.ShowsEvent(&ev) && (listed || q.listed == nil)
		})
		switch {
		case i >= 0:
			return &page.Items[i], nil
		case !page.More:
			return nil, nil
		}
		query.Page = page.Next
	}
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
		e.Session, e.LastSession = nil, nil // they are only as old as the latest checkpoint
		e.Leader = election.Label(e.Leader) // the text is from a file or another host
		for i := range e.Terms {
			e.Terms[i].Leader = election.Label(e.Terms[i].Leader)
		}
		elections = append(elections, e)
	}
	slices.SortFunc(elections, election.Compare)
	return elections
}

// observations returns the observations of the board's datacenters.
func (r Reader) observations(ctx context.Context, q *request, all history.Range) ([]history.Observation, error) {
	observed, err := r.Source.Observations(ctx, all)
	observed = slices.DeleteFunc(observed, func(o history.Observation) bool { return !q.Covers(o.Datacenter) })
	for i := range observed {
		if observed[i].Lasting { // the latest heartbeat may be several seconds old
			observed[i].To = q.now
		}
	}
	return observed, err
}
