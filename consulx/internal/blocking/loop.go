// Package blocking repeats one blocking query of Consul for ever: which index it
// waits for, when it gives up, and how it retries.
package blocking

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hashicorp/consul/api"
)

// Poller sends one query and handles its responses. Only the goroutine of the
// loop calls its methods.
type Poller interface {
	// Poll sends the query with these options and keeps the response.
	Poll(q *api.QueryOptions) (*api.QueryMeta, error)
	// Accept handles the response. changed is false if nothing of interest changed.
	Accept(ctx context.Context, a Answer) (changed bool, err error)
	// Failed reports an error and when the next attempt is made. Zero means that
	// the first retry is under way.
	Failed(err error, retryAt time.Time)
}

// Answer is what is known of a response besides its body.
type Answer struct {
	*api.QueryMeta
	Gap  bool     // changes since the response before may have been missed
	Next Position // of the next query
}

// Client makes the options of queries.
type Client interface {
	Read(ctx context.Context) *api.QueryOptions
	Consistent(ctx context.Context) *api.QueryOptions
	CloseIdleConnections()
}

// ErrReadAgain says that a response lacks keys that exist and are readable.
var ErrReadAgain = errors.New("the response lacks keys that exist and are readable")

// Loop repeats the query of a poller.
type Loop struct {
	Poller
	Client Client
	Epochs *Epochs
	Wait   time.Duration
	From   Position // of the first query
	// Consistent makes every read consistent.
	Consistent bool
	// Rest, if set, is the pause after a response, instead of pace.
	Rest func() time.Duration

	backoff Backoff
	pace    pace
	newest  uint64 // index of the newest response
	confirm bool   // the next read is consistent, because the latest was outdated
	reread  bool   // the latest response was dropped because it lacked keys
	retried bool   // the latest failure was retried at once
}

// Run polls until ctx ends. It never fails: it reports errors to the poller and
// retries.
func (l *Loop) Run(ctx context.Context) {
	at := l.From
	for ctx.Err() == nil {
		epoch, number := l.Epochs.Current()
		epoch, leave := Join(ctx, epoch)
		at = at.in(number)
		next, err := l.once(epoch, at)
		switch {
		case epoch.Err() != nil:
			l.backoff.Reset()
		case err != nil:
			l.retry(epoch, at, err)
		case at.Index > 0:
			// Only a query that waited proves that waiting works: a proxy that
			// rejects such queries must not cause one full read after another.
			l.backoff.Reset()
			l.retried = false
		}
		at = next
		leave()
	}
}

// retry pauses after a failure. Proxies and firewalls close connections that wait,
// so the first retry is immediate and reports only a response that is overdue: the
// retry may take long, too.
func (l *Loop) retry(ctx context.Context, at Position, err error) {
	if at.Index > 0 && !l.retried {
		l.retried = true
		if Overdue(err) {
			l.Failed(err, time.Time{})
		}
		return
	}
	pause := l.backoff.Next()
	l.Failed(err, time.Now().Add(pause))
	Sleep(ctx, pause)
}

// once polls one time.
func (l *Loop) once(ctx context.Context, at Position) (next Position, err error) {
	wait := l.Wait - Jitter(l.Wait/8)
	qctx, cancel := context.WithTimeout(ctx, queryDeadline(at.Index, wait))
	defer cancel()
	start := time.Now()
	meta, err := l.Poll(l.query(qctx, at.Index, wait))
	if err != nil {
		// Other connections may have died with this one.
		l.Client.CloseIdleConnections()
		return Lost(), err
	}
	took := time.Since(start)
	if l.outdated(at, meta) {
		Sleep(ctx, l.pace.next(false, took))
		return at.dropped(), nil
	}
	next = at.after(meta.LastIndex, took, wait)
	changed, err := l.Accept(ctx, Answer{meta, at.Gap, next})
	switch {
	case errors.Is(err, ErrReadAgain) && !l.reread:
		l.reread = true
		return at.dropped(), nil
	case err != nil:
		return Lost(), err
	}
	l.reread = false
	if l.Rest != nil {
		Sleep(ctx, l.Rest())
	} else {
		Sleep(ctx, l.pace.next(changed, took))
	}
	return next, nil
}

// outdated reports a response that is older than one before: with --stale any server
// may give it, otherwise a leader that still replays its log. It is dropped, and a
// consistent read decides whether the state went back.
func (l *Loop) outdated(at Position, meta *api.QueryMeta) bool {
	l.newest = max(l.newest, at.Index)
	if !l.confirm && meta.LastIndex < l.newest {
		l.confirm = true
		return true
	}
	l.newest, l.confirm = meta.LastIndex, false
	return false
}

// query is the options of the next query.
func (l *Loop) query(ctx context.Context, index uint64, wait time.Duration) *api.QueryOptions {
	q := l.Client.Read(ctx)
	if l.Consistent || l.confirm {
		q = l.Client.Consistent(ctx)
	}
	if index > 0 {
		q.WaitIndex, q.WaitTime = index, wait
	}
	return q
}

// Overdue reports a response that is overdue, by this program's deadline or the
// kernel's.
func Overdue(err error) bool {
	var silent net.Error
	return errors.As(err, &silent) && silent.Timeout()
}
