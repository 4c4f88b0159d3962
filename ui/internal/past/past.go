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
	// slowAfter is the duration after which the screen shows that a read is in progress. A shorter read would show
	// the text only for a moment.
	slowAfter = 200 * time.Millisecond
)

// Reader creates the commands that read a history.
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
	// Cancelled is set if the receiver must ignore the result.
	Cancelled bool
}

// Cancel aborts the read. The message with its result is still sent.
func (r *Request) Cancel() {
	r.Cancelled = true
	r.cancel()
}

// Slow is the message that a read has lasted for slowAfter. It is also sent after the end of a shorter read.
type Slow struct{ Of *Request }

// EventsRead is the message with the result of a read of events.
type EventsRead struct {
	Of   *Request
	Page history.EventPage
	// Gaps are the gaps in observation, oldest first. They are read only if requested.
	Gaps []history.Range
	Err  error
}

// TermsRead is the message with the result of a read of the terms of one election.
type TermsRead struct {
	Of   *Request
	Page history.TermPage
	// Gaps are the gaps in the observation of the election, oldest first. They are read only if requested.
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

// Terms reads a page of the terms of one election that began before until; zero is no limit. If now is not zero, it
// also reads the gaps in the observation of the election before now.
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

// exceptUnknown removes the error for an election without recorded events. The result is empty then.
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

// read returns a request, and the command that sends the result of the read and [Slow].
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

// Text is an error of the history in one line. It omits the path of the file.
func Text(err error) string {
	text := strings.TrimPrefix(scene.Clean(err.Error()), "history: ")
	if _, reason, found := strings.Cut(text, `": `); found && strings.HasPrefix(text, `history "`) {
		text = reason
	}
	return "history: " + text
}

// Unobserved ends gaps at live, the time at which the dashboard began to observe: its newest events may not be stored
// yet. A zero live changes nothing.
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
