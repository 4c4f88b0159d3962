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
	"electop/ui/scene"
)

const (
	// slowAfter is the duration after which the screen shows that a read is in progress. A note about a shorter read
	// would be visible only briefly.
	slowAfter = 200 * time.Millisecond
)

// Reader creates the commands that read a history.
type Reader struct {
	ctx    context.Context
	source history.Source
}

// NewReader returns a Reader. Cancelling ctx ends its reads. source is nil if there is no history.
func NewReader(ctx context.Context, source history.Source) Reader { return Reader{ctx, source} }

// On reports whether there is a history.
func (r Reader) On() bool { return r.source != nil }

// Request is one read. Only the event loop may use it.
type Request struct {
	cancel context.CancelFunc
	// Cancelled is set if the receiver must ignore the result.
	Cancelled bool
}

// Cancel aborts the read. The receiver still gets the message with the result.
func (r *Request) Cancel() {
	r.Cancelled = true
	r.cancel()
}

// Slow is the message that slowAfter has passed since a read began. It is sent even if the read has already ended.
type Slow struct{ Of *Request }

// EventsRead is the message with the result of a read of events.
type EventsRead struct {
	Of   *Request
	Page history.EventPage
	// Gaps are the gaps in observation, oldest first. They are nil unless they were requested.
	Gaps []history.Range
	Err  error
}

// TermsRead is the message with the result of a read of the terms of one election.
type TermsRead struct {
	Of   *Request
	Page history.TermPage
	// Gaps are the gaps in the observation of the election, oldest first. They are nil unless they were requested.
	Gaps []history.Range
	Err  error
}

// Events reads a page of events. If now is not zero, it also reads the gaps in observation before now.
func (r Reader) Events(q history.EventQuery, now time.Time) (*Request, tea.Cmd) {
	return r.read(func(ctx context.Context, of *Request) tea.Msg {
		msg := EventsRead{Of: of}
		msg.Page, msg.Err = r.source.Events(ctx, q)
		if msg.Err = exceptUnknown(msg.Err); msg.Err == nil && !now.IsZero() {
			var c *history.Coverage
			if c, msg.Err = r.coverage(ctx, now); msg.Err == nil {
				msg.Gaps = c.Gaps()
			}
		}
		return msg
	})
}

// Terms reads a page of one election's terms that began at or before until. A zero until means no limit. If now is not
// zero, it also reads the gaps in the observation of the election before now.
func (r Reader) Terms(of *election.Election, until time.Time, before history.Cursor, limit int, now time.Time) (*Request, tea.Cmd) {
	key, datacenter := of.Key(), of.Datacenter
	q := history.TermQuery{Filter: history.Filter{Names: []string{key}, Range: history.Range{Until: until}}, Before: before, Limit: limit}
	return r.read(func(ctx context.Context, of *Request) tea.Msg {
		msg := TermsRead{Of: of}
		msg.Page, msg.Err = r.source.Terms(ctx, q)
		if msg.Err = exceptUnknown(msg.Err); msg.Err == nil && !now.IsZero() {
			var c *history.Coverage
			if c, msg.Err = r.coverage(ctx, now); msg.Err == nil {
				msg.Gaps = c.GapsOf(datacenter, key)
			}
		}
		return msg
	})
}

// exceptUnknown returns nil for the error about an election without recorded events, because an empty result is
// correct then.
func exceptUnknown(err error) error {
	if errors.Is(err, history.ErrNoElection) {
		return nil
	}
	return err
}

func (r Reader) coverage(ctx context.Context, now time.Time) (*history.Coverage, error) {
	until := history.Range{Until: now}
	observed, err := r.source.Observations(ctx, until)
	return history.NewCoverage(observed, until), err
}

// read returns a request and its command. The command sends the result of the read, and [Slow].
func (r Reader) read(read func(context.Context, *Request) tea.Msg) (*Request, tea.Cmd) {
	ctx, cancel := context.WithTimeout(r.ctx, readTime)
	of := &Request{cancel: cancel}
	return of, tea.Batch(
		func() tea.Msg {
			defer cancel()
			return read(ctx, of)
		},
		tea.Tick(slowAfter, func(time.Time) tea.Msg { return Slow{of} }),
	)
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
