// Package blocking repeats one blocking query: index handling, timeouts and retries.
package blocking

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hashicorp/consul/api"
)

// Poller sends one query and processes the responses. Only the goroutine of the loop calls these methods.
type Poller interface {
	// Poll sends the query with these options and stores the response.
	Poll(q *api.QueryOptions) (*api.QueryMeta, error)
	// Accept processes the response. It returns false if nothing relevant changed.
	Accept(ctx context.Context, a Answer) (changed bool, err error)
	// Failed receives an error and the time of the next attempt. A zero time means that the first retry has already
	// started.
	Failed(err error, retryAt time.Time)
}

// Answer is the metadata of a response.
type Answer struct {
	*api.QueryMeta
	Gap  bool     // changes since the previous response may have been missed
	Next Position // position of the next query
	// Rejected is true while Consul or a proxy rejects blocking queries. The source then still counts as failed,
	// although this query succeeded.
	Rejected bool
}

// Client creates the options of queries.
type Client interface {
	Read(ctx context.Context) *api.QueryOptions
	Consistent(ctx context.Context) *api.QueryOptions
	// Close closes the idle connections of all reads. The client stays usable.
	Close()
}

// ErrReadAgain reports that a response lacks keys that exist and are readable.
var ErrReadAgain = errors.New("the response lacks keys that exist and are readable")

// Loop repeats the query of a poller.
type Loop struct {
	Poller
	Client Client
	Epochs *Epochs
	Wait   time.Duration
	From   Position // position of the first query
	// Consistent makes every read consistent.
	Consistent bool
	// Rest, if set, returns the pause after a response. It replaces pace.
	Rest func() time.Duration

	backoff  Backoff
	pace     pace
	confirm  bool // the latest response was outdated: the next read is consistent
	reread   bool // the latest response was dropped because it lacked keys
	retried  bool // the latest failure was retried immediately
	rejected bool // Consul or a proxy rejects blocking queries
}

// minWait is the minimum duration of a query that proves that blocking queries work. A proxy that rejects blocking
// queries responds earlier.
const minWait = 500 * time.Millisecond

// Run polls until ctx ends. It reports errors to the poller and retries.
func (l *Loop) Run(ctx context.Context) {
	at := l.From
	for ctx.Err() == nil {
		epoch, number := l.Epochs.Current()
		epoch, leave := Join(ctx, epoch)
		at = at.in(number)
		start := time.Now()
		next, err := l.once(epoch, at)
		if err != nil {
			l.Client.Close() // other connections may be dead too
		}
		// Only a query that was blocked shows that blocking queries work. If a proxy rejects blocking queries, the
		// loop must not read all keys repeatedly without a pause.
		proven := at.Index > 0 && (err == nil || time.Since(start) >= minWait && !Overdue(err))
		switch {
		case epoch.Err() != nil:
			l.backoff.Reset()
		case proven:
			l.backoff.Reset()
			l.retried, l.rejected = false, false
		case err != nil:
			l.retry(epoch, at, err)
		}
		at = next
		leave()
	}
}

// retry pauses after a failure. The first retry is immediate, because proxies and firewalls close idle connections.
// The failure is reported only if the retry fails too. A timeout is reported before the retry, because the retry may
// also time out.
func (l *Loop) retry(ctx context.Context, at Position, err error) {
	if at.Index > 0 && !l.retried {
		l.retried = true
		if Overdue(err) {
			l.Failed(err, time.Time{})
		}
		return
	}
	l.rejected = l.rejected || at.Index > 0
	pause := l.backoff.Next()
	if !l.Epochs.isLost() {
		pause = min(pause, maxPause*3/4+Jitter(maxPause/4))
	}
	l.Failed(err, time.Now().Add(pause))
	Sleep(ctx, pause)
}

func (l *Loop) once(ctx context.Context, at Position) (next Position, err error) {
	wait := l.Wait - Jitter(l.Wait/8)
	if l.rejected {
		wait = min(wait, minWait)
	}
	qctx, cancel := context.WithTimeout(ctx, queryDeadline(at.Index, wait))
	defer cancel()
	start := time.Now()
	meta, err := l.Poll(l.query(qctx, at.Index, wait))
	if err != nil {
		return at.Lost(), err
	}
	took := time.Since(start)
	if l.outdated(at, meta) {
		Sleep(ctx, l.pace.next(false, took))
		return at.dropped(), nil
	}
	at.Newest = meta.LastIndex
	next = at.after(meta.LastIndex, took, wait)
	changed, err := l.Accept(ctx, Answer{meta, at.Gap, next, l.rejected && at.Index == 0})
	switch {
	case errors.Is(err, ErrReadAgain) && !l.reread:
		l.reread = true
		return at.dropped(), nil
	case err != nil:
		return at.Lost(), err
	}
	l.reread = false
	if l.Rest != nil {
		Sleep(ctx, l.Rest())
	} else {
		Sleep(ctx, l.pace.next(changed, took))
	}
	return next, nil
}

// outdated reports whether a response is older than a previous one. Such a response can come from another server
// (--stale), or from a leader that is still replaying its log. A consistent read then shows whether Consul restored
// older data.
func (l *Loop) outdated(at Position, meta *api.QueryMeta) bool {
	l.confirm = !l.confirm && meta.LastIndex < max(at.Newest, at.Index)
	return l.confirm
}

// query returns the options of the next query.
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

// Overdue reports whether no response arrived before the deadline of electop or of the kernel.
func Overdue(err error) bool {
	var silent net.Error
	return errors.As(err, &silent) && silent.Timeout()
}
