package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

// historyPage is the maximum number of events or terms that one read returns.
const historyPage = 2000

// eventWriter writes events, oldest first.
type eventWriter interface {
	write(events []election.Event) error
	end() error
}

// writeEvents writes the events page by page, so that memory usage does not depend on the number of events.
func (c *historyCommand) writeEvents(ctx context.Context, f history.Source, filter history.Filter) error {
	w, err := c.eventWriter(ctx, f, filter)
	if err != nil {
		return err
	}
	q := history.EventQuery{
		Filter: filter, Types: typed[election.EventType](c.types), Causes: typed[election.Cause](c.causes),
		After: history.CursorAt(filter.Since), Limit: historyPage,
	}
	for {
		page, err := f.Events(ctx, q)
		if err != nil {
			return err
		}
		slices.Reverse(page.Events)
		if err := w.write(page.Events); err != nil {
			return err
		}
		if !page.More {
			return w.end()
		}
		q.After = page.Newer
	}
}

func (c *historyCommand) eventWriter(ctx context.Context, f history.Source, filter history.Filter) (eventWriter, error) {
	if c.output == "json" {
		return jsonEvents{c.d.stdout}, nil
	}
	observed, err := f.Observations(ctx, filter.Range)
	if err != nil {
		return nil, err
	}
	var gaps []history.Range
	if len(c.types)+len(c.causes) == 0 {
		cover := history.NewCoverage(observed, filter.Range)
		if gaps = cover.Gaps(); len(filter.Names) == 1 {
			gaps = cover.GapsOf("", filter.Names[0])
		}
	}
	several, where := severalIn(observed), ""
	if several {
		where = fmt.Sprintf("%-8s  ", "DC")
	}
	_, err = fmt.Fprintf(c.d.stdout, "%-23s  %s%-16s  %-12s  %s\n", "TIME", where, "ELECTION", "EVENT", "DETAIL")
	return &textEvents{c.d.stdout, gaps, several}, err
}

type jsonEvents struct{ w io.Writer }

func (j jsonEvents) write(events []election.Event) error {
	return writeLines(j.w, events, jsonLine)
}

func (jsonEvents) end() error { return nil }

// textEvents writes events in the format of watch, and a line for each period without an observer.
type textEvents struct {
	w    io.Writer
	gaps []history.Range
	// several is set if the events belong to several datacenters.
	several bool
}

// severalIn reports whether several datacenters were observed.
func severalIn(observed []history.Observation) bool {
	return slices.ContainsFunc(observed, func(o history.Observation) bool { return o.Datacenter != observed[0].Datacenter })
}

func (t *textEvents) write(events []election.Event) error {
	return writeLines(t.w, events, func(e election.Event) ([]byte, error) {
		return append(t.gapsBefore(e.Time), eventLine(e, t.several)...), nil
	})
}

func (t *textEvents) end() error {
	if len(t.gaps) == 0 {
		return nil
	}
	_, err := t.w.Write(t.gapsBefore(t.gaps[len(t.gaps)-1].Until))
	return err
}

// gapsBefore formats and removes the gaps that began before a time. A gap that begins at the time of an event follows
// this event, because the event was observed.
func (t *textEvents) gapsBefore(at time.Time) (lines []byte) {
	for len(t.gaps) > 0 && t.gaps[0].Since.Before(at) {
		gap := t.gaps[0]
		t.gaps = t.gaps[1:]
		lines = fmt.Appendf(lines, "%s  %-16s  %-12s  %s\n", gap.Since.Local().Format(eventTime), "-", "unobserved", gapText(gap))
	}
	return lines
}

func gapText(gap history.Range) string {
	return fmt.Sprintf("no observer was running for %s, until %s",
		gap.Until.Sub(gap.Since).Round(time.Second), localTime(gap.Until))
}
