// Package past reads the history for the components, in commands: a slow disk or network
// must not delay the screen.
package past

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/scene"
)

const (
	// readTime is the timeout of a read.
	readTime = 30 * time.Second
	// slowAfter is how long a read lasts before the screen shows that it does: a text
	// that appears only briefly distracts.
	slowAfter = 200 * time.Millisecond
)

// Reader makes the commands that read a history.
type Reader struct {
	ctx    context.Context
	source history.Source
}

// NewReader binds reads to the program's context. The source may be nil.
func NewReader(ctx context.Context, source history.Source) Reader { return Reader{ctx, source} }

// On reports whether there is a history.
func (r Reader) On() bool { return r.source != nil }

// Request is one read. Only the event loop may use it.
type Request struct {
	cancel context.CancelFunc
	// Cancelled is set if the result is no longer wanted.
	Cancelled bool
}

// Cancel ends the read early. Its message still comes.
func (r *Request) Cancel() {
	r.Cancelled = true
	r.cancel()
}

// Slow is the message that a read lasts longer than usual.
type Slow struct{ Of *Request }

// EventsRead is the message that ends a read of events.
type EventsRead struct {
	Of   *Request
	Page history.EventPage
	// Gaps are the times without an observer, oldest first, if they were requested.
	Gaps []history.Range
	Err  error
}

// TermsRead is the message that ends a read of the terms of one election.
type TermsRead struct {
	Of   *Request
	Page history.TermPage
	// Gaps are the times in which no observer watched the election, oldest first, if they
	// were requested.
	Gaps []history.Range
	Err  error
}

// Events reads a page of events. If now is not zero, it also reads the gaps in
// observation until then.
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

// Terms reads a page of the terms of one election that began until a moment, zero for all.
// If now is not zero, it also reads the gaps in its observation until then.
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

// exceptUnknown removes the error of an election that the history does not have: it has no
// events.
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

// read returns the request of a command and the command, with a tick for [Slow].
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

// Text is an error of the history as one line, without the path of its file.
func Text(err error) string {
	text := strings.TrimPrefix(scene.Clean(err.Error()), "history: ")
	if _, reason, found := strings.Cut(text, `": `); found && strings.HasPrefix(text, `history "`) {
		text = reason
	}
	return "history: " + text
}

// Unobserved cuts gaps in the history where the dashboard itself began to observe: events
// take a moment to be stored. live is zero if it has observed nothing.
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
