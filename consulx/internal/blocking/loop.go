// Package blocking repeats one blocking query. It handles indexes, timeouts and retries.
package blocking

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
)

// Poller sends one query and processes the responses. Only the goroutine of the loop calls these methods.
type Poller interface {
	// Poll sends the query and stores the response.
	Poll(q Query) (*api.QueryMeta, error)
	// Accept processes the response. It returns false if nothing relevant changed.
	Accept(ctx context.Context, a Answer) (changed bool, err error)
	// Failed receives an error and the time of the next attempt. A zero time means that the first retry starts
	// immediately.
	Failed(err error, retryAt time.Time)
}

// Query contains the options for a query.
type Query struct {
	*api.QueryOptions
	// Reserved is true if the loop has reserved a connection of [consulx.Client.Blocking]. Otherwise the query does not
	// wait and uses the connections for short reads.
	Reserved bool
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

// Client creates the options for queries and reserves connections.
type Client interface {
	Read(ctx context.Context) *api.QueryOptions
	Consistent(ctx context.Context) *api.QueryOptions
	// Reserve reserves a connection for blocking queries. It returns false if no connection is free and assigned is
	// false.
	Reserve(assigned bool) bool
	// Release frees a reserved connection after a delay.
	Release(after time.Duration)
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
	// Assigned is true if the first blocking query needs no free connection, because it replaces another query whose
	// connection Consul may still count.
	Assigned bool
	// Rest, if set, returns the pause after a response. It replaces pace.
	Rest func() time.Duration

	backoff  Backoff
	pace     pace
	confirm  bool // the latest response was outdated, so the next read is consistent
	reread   bool // the latest response was dropped because it lacked keys
	retried  bool // the latest failure was retried immediately
	rejected bool // Consul or a proxy rejects blocking queries

	reserved bool      // a connection is reserved
	limited  bool      // Consul refused the latest blocking query because of a limit
	counted  time.Time // time until which Consul may count the connection of the latest query
}

// minWait is the minimum duration of a failed query that proves that blocking queries work. A proxy that rejects
// blocking queries responds earlier.
const minWait = 500 * time.Millisecond

// Run polls until ctx ends. It reports errors to the poller and retries.
func (l *Loop) Run(ctx context.Context) {
	defer l.release()
	at := l.From
	for ctx.Err() == nil {
		epoch, number := l.Epochs.Current()
		epoch, leave := Join(ctx, epoch)
		at = l.reserve(epoch, at.in(number))
		start := time.Now()
		next, err := l.once(epoch, at)
		limited := errors.Is(err, consulx.ErrLimited)
		if err != nil && !limited {
			l.Client.Close() // other connections may be dead too
		}
		// Only a query that was blocked shows that blocking queries work. If a proxy rejects blocking queries, the
		// loop must not read all keys repeatedly without a pause.
		proven := at.Index > 0 && (err == nil || time.Since(start) >= minWait && !Overdue(err))
		switch {
		case epoch.Err() != nil:
			l.backoff.Reset()
			l.release()
		case limited && at.Index > 0: // no change has been missed yet; the next query does not block
			l.limited, next = true, at.dropped()
			l.release()
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

// reserve reserves a connection for a blocking query. If no connection is free, or Consul refused the latest blocking
// query, reserve pauses first. If no connection is free after the pause, the next query does not wait.
func (l *Loop) reserve(ctx context.Context, at Position) Position {
	if at.Index == 0 || l.reserved {
		return at
	}
	if !l.limited && l.Client.Reserve(l.Assigned) {
		l.reserved, l.Assigned = true, false
		return at
	}
	if Sleep(ctx, steadyPause()); ctx.Err() != nil {
		return at
	}
	if l.limited, l.reserved = false, l.Client.Reserve(false); !l.reserved {
		return at.dropped()
	}
	return at
}

// release frees the reserved connection when Consul has stopped counting it. Consul does not end the wait of a
// cancelled query, and counts its connection until the wait ends.
func (l *Loop) release() {
	if l.reserved {
		l.reserved = false
		l.Client.Release(time.Until(l.counted))
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
		pause = min(pause, steadyPause())
	}
	l.Failed(err, time.Now().Add(pause))
	Sleep(ctx, pause)
}

func (l *Loop) once(ctx context.Context, at Position) (next Position, err error) {
	wait := l.Wait - Jitter(l.Wait/8)
	if l.rejected {
		wait = min(wait, minWait)
	}
	deadline := queryDeadline(at.Index, wait)
	qctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	start := time.Now()
	meta, err := l.Poll(Query{l.query(qctx, at.Index, wait), l.reserved})
	if l.counted = (time.Time{}); err != nil && at.Index > 0 && ctx.Err() != nil {
		l.counted = start.Add(deadline)
	}
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
	changed, err := l.Accept(ctx, Answer{meta, at.Gap, next, l.rejected && l.reserved && at.Index == 0})
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

// outdated reports whether a response is older than a previous response. Such a response can come from another server
// (--stale), or from a leader that is still replaying its log. A consistent read then shows whether Consul restored
// older data.
func (l *Loop) outdated(at Position, meta *api.QueryMeta) bool {
	l.confirm = !l.confirm && meta.LastIndex < max(at.Newest, at.Index)
	return l.confirm
}

// query returns the options for the next query.
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

// Overdue reports whether a request failed because a timeout of electop or of the kernel expired.
func Overdue(err error) bool {
	var silent net.Error
	return errors.As(err, &silent) && silent.Timeout()
}
