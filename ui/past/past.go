// Package past creates the commands that read the history for the components. It reads in commands, because a slow
// disk or network must not delay the screen.
package past

import (
	"context"
	"errors"
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
	return read(r, now, func(ctx context.Context) (history.EventPage, error) { return r.Source.Events(ctx, q) }, (*history.Coverage).Gaps, then)
}

// Terms reads the latest terms of one election that began at or before until, latest first, and the gaps in its
// observation before now, and passes them to then. A zero until means no limit.
func (r Reader) Terms(of *election.Election, until time.Time, limit int, now time.Time, then func(Read[history.TermPage])) *kit.Task {
	key, datacenter := of.Key(), of.Datacenter
	q := history.TermQuery{Filter: history.Filter{Names: []string{key}, Range: history.Range{Until: until}}, Limit: limit}
	gaps := func(c *history.Coverage) []history.Range { return c.GapsOf(datacenter, key) }
	return read(r, now, func(ctx context.Context) (history.TermPage, error) { return r.Source.Terms(ctx, q) }, gaps, then)
}

func read[Page any](r Reader, now time.Time, page func(context.Context) (Page, error), gaps func(*history.Coverage) []history.Range, then func(Read[Page])) *kit.Task {
	return kit.Read(r.Ctx, readTime, func(ctx context.Context) (got Read[Page], _ error) {
		got.Page, got.Err = page(ctx)
		if errors.Is(got.Err, history.ErrNoElection) { // nothing was recorded, so an empty result is correct
			got.Err = nil
		}
		if got.Err == nil && !now.IsZero() {
			until := history.Filter{Range: history.Range{Until: now}}
			var observed []history.Observation
			observed, got.Err = r.Source.Observations(ctx, until.Range)
			got.Gaps = gaps(history.NewCoverage(observed, until))
		}
		return got, nil
	}, func(got Read[Page], _ error) tea.Cmd {
		then(got)
		return nil
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
	at, err := history.ParseMoment(text, now)
	if err != nil {
		invalid = scene.Refuse(command + ": " + err.Error() + ".")
	}
	return at, invalid
}
