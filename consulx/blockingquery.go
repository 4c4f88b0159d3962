package consulx

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"
)

// Poller sends one query and processes the responses. Only the goroutine of the loop calls these methods.
type Poller interface {
	// Poll sends the query and stores the response.
	Poll(q *api.QueryOptions) (*api.QueryMeta, error)
	// Accept processes the response. It returns false if nothing relevant changed.
	Accept(ctx context.Context, a Answer) (changed bool, err error)
	// Failed receives an error and the time of the next attempt. A zero time means that the first retry starts
	// immediately.
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

// ErrReadAgain reports that a response lacks keys that exist and are readable.
var ErrReadAgain = errors.New("the response lacks keys that exist and are readable")

// Loop repeats the query of a poller.
type Loop struct {
	Poller
	Client *Client
	Epochs *Epochs
	Wait   time.Duration
	From   Position // position of the first query
	// Assigned is true if the first blocking query needs no free connection, because it replaces another query whose
	// connection Consul may still count.
	Assigned bool

	backoff  Backoff
	pace     loopPace
	confirm  bool                      // the latest response was outdated, so the next read is consistent
	reread   bool                      // the latest response was dropped because it lacked keys
	retried  bool                      // the latest failure was retried immediately
	rejected bool                      // Consul or a proxy rejects blocking queries
	free     func(after time.Duration) // frees the reserved connection; nil if none is reserved
}

// minWait is the minimum duration of a failed query that proves that blocking queries work. A proxy that rejects
// blocking queries responds earlier.
const minWait = 500 * time.Millisecond

// Run polls until ctx ends. It reports errors to the poller and retries.
func (l *Loop) Run(ctx context.Context) {
	defer l.release(0)
	for at := l.From; ctx.Err() == nil; {
		epoch, number := l.Epochs.Current()
		epoch, leave := Join(ctx, epoch)
		at = l.step(epoch, at.in(number))
		leave()
	}
}

// release frees the reserved connection after a delay.
func (l *Loop) release(after time.Duration) {
	if l.free != nil {
		l.free(after)
		l.free = nil
	}
}

// step sends one query. It returns the position of the next one.
func (l *Loop) step(ctx context.Context, at Position) Position {
	if at.Index > 0 && l.free == nil {
		if l.free = l.Client.Reserve(l.Assigned); l.free == nil { // this query does not wait
			if Sleep(ctx, steadyPause()); ctx.Err() != nil {
				return at
			}
			at = at.dropped()
		}
		l.Assigned = false
	}
	wait := l.Wait - Jitter(l.Wait/8)
	if l.rejected {
		wait = min(wait, minWait)
	}
	start, deadline := time.Now(), queryDeadline(at.Index, wait)
	next, err := l.once(ctx, at, wait, deadline)
	limited := errors.Is(err, ErrLimited)
	if err != nil && !limited && ctx.Err() == nil {
		l.Client.Close() // other connections may be dead too
	}
	// Only a query that was blocked shows that blocking queries work. If a proxy rejects blocking queries, the loop must
	// not read all keys repeatedly without a pause.
	proven := at.Index > 0 && (err == nil || time.Since(start) >= minWait && !Overdue(err))
	switch {
	case ctx.Err() != nil:
		l.backoff.Reset()
		if err != nil && at.Index > 0 {
			l.release(time.Until(start.Add(deadline)))
		}
		l.release(0)
	case limited && at.Index > 0: // no change has been missed yet; the next query does not block
		l.release(0)
		Sleep(ctx, steadyPause())
		return at.dropped()
	case proven:
		l.backoff.Reset()
		l.retried, l.rejected = false, false
	case err != nil:
		l.retry(ctx, at, err)
	}
	return next
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
	if !l.Epochs.Lost.Load() {
		pause = min(pause, steadyPause())
	}
	l.Failed(err, time.Now().Add(pause))
	Sleep(ctx, pause)
}

func (l *Loop) once(ctx context.Context, at Position, wait, deadline time.Duration) (next Position, err error) {
	qctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	start := time.Now()
	q := l.Client.Read(qctx)
	if l.confirm {
		q = l.Client.Consistent(qctx)
	}
	if at.Index > 0 {
		q.WaitIndex, q.WaitTime = at.Index, wait
	}
	meta, err := l.Poll(q)
	if err != nil {
		return at.Lost(), err
	}
	took := time.Since(start)
	// An older response can come from another server (--stale), or from a leader that is still replaying its log. A
	// consistent read then shows whether Consul restored older data.
	if l.confirm = !l.confirm && meta.LastIndex < max(at.Newest, at.Index); l.confirm {
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
	Sleep(ctx, l.pace.next(changed, took))
	return next, nil
}

// Overdue reports whether a request failed because a timeout of electop or of the kernel expired.
func Overdue(err error) bool {
	var silent net.Error
	return errors.As(err, &silent) && silent.Timeout()
}

const (
	backoffFirst = 250 * time.Millisecond
	// MaxBackoff is the longest delay of a [Backoff].
	MaxBackoff = 15 * time.Second
	// maxPause is the maximum pause of a loop while the probe succeeds. Together with minWait, it ensures that a loop
	// works again within 2 s after a fault has ended. If the probe fails, the next successful probe restarts the loops.
	maxPause = 1300 * time.Millisecond
)

// Backoff computes the delays of an exponential backoff: 250 ms, doubled after each failure, plus a jitter of at most
// half the delay. A delay including its jitter is at most 15 s.
type Backoff struct{ failures int }

// Next returns the delay after one more failure.
func (b *Backoff) Next() time.Duration {
	base := min(backoffFirst<<min(b.failures, 16), MaxBackoff*2/3)
	b.failures++
	return base + Jitter(base/2)
}

// steadyPause returns a random pause of at most maxPause.
func steadyPause() time.Duration { return maxPause*3/4 + Jitter(maxPause/4) }

// Jitter returns a random duration of at most d. It spreads the retries of simultaneous failures.
func Jitter(d time.Duration) time.Duration {
	return rand.N(d + 1) //nolint:gosec // not a secret
}

// Reset resets the next pause to the shortest one.
func (b *Backoff) Reset() { b.failures = 0 }

const (
	paceFirst = 5 * time.Millisecond
	paceMax   = 80 * time.Millisecond
	paceQuiet = time.Second
)

// loopPace delays the next query after a response without a change, because every write to the store ends a blocking query
// for a prefix without keys. A new key is still read within 100 ms.
type loopPace struct{ pause time.Duration }

// next returns the pause after a response. took is the time between the query and the response.
func (p *loopPace) next(news bool, took time.Duration) time.Duration {
	if news || took >= paceQuiet {
		p.pause = 0
		return 0
	}
	p.pause = min(max(2*p.pause, paceFirst), paceMax)
	return p.pause
}

// Sleep waits until d has passed or ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// Epochs restarts all loops at the same time when a lost connection is restored. Otherwise, blocked queries would wait
// for a response on dead connections, and failed loops would wait for their next retry.
type Epochs struct {
	// Lost is set while the latest probe failed. The prober calls Next when the probe succeeds again.
	Lost   atomic.Bool
	parent context.Context
	mu     sync.Mutex
	number int // number of the current epoch; the first is 1
	ctx    context.Context
	cancel context.CancelFunc
}

// NewEpochs begins the first epoch.
func NewEpochs(parent context.Context) *Epochs {
	e := &Epochs{parent: parent, cancel: func() {}}
	e.Next()
	return e
}

// Next ends this epoch and begins another.
func (e *Epochs) Next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel()
	e.number++
	e.Lost.Store(false)
	e.ctx, e.cancel = context.WithCancel(e.parent)
}

// Current returns the context and the number of the current epoch.
func (e *Epochs) Current() (context.Context, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ctx, e.number
}

// Join returns a context that ends when either of the two contexts ends.
func Join(ctx, other context.Context) (joined context.Context, leave func()) {
	joined, cancel := context.WithCancel(other)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}

// Position is the position at which a loop continues. Only this file computes the index of the next query.
type Position struct {
	Index uint64 // the next query waits for changes after this index; with index 0 the query does not wait
	Gap   bool   // changes before the next response may have been missed
	// Epoch is the epoch in which Index is valid; 0 means any epoch.
	Epoch int
	// Newest is the index of the newest response. If a response has a smaller index, the loop drops it and repeats
	// the read in consistent mode.
	Newest uint64
}

// in returns the start position of a query in an epoch.
func (p Position) in(epoch int) Position {
	if p.Epoch != 0 && p.Epoch != epoch {
		return Position{Gap: true, Epoch: epoch, Newest: p.Newest}
	}
	p.Epoch = epoch
	return p
}

// after returns the position after a response with the index got. A query with that index would block forever if the
// index decreased (data was replaced), or did not change although the wait had not ended (a snapshot was restored).
// In these cases, the next query does not wait.
func (p Position) after(got uint64, took, wait time.Duration) Position {
	next := Position{Index: got, Epoch: p.Epoch, Newest: got}
	if got < p.Index || got == p.Index && took < wait {
		next.Index = 0
	}
	return next
}

// dropped returns the position after a response that was not used.
func (p Position) dropped() Position {
	p.Index = 0
	return p
}

// Lost returns the position after a failure.
func (p Position) Lost() Position { return Position{Gap: true, Newest: p.Newest} }

// Join returns the start position of a query that replaces two other queries and reads all keys. The position has a gap
// if one of the replaced positions has a gap.
func (p Position) Join(other Position) Position {
	joined := Position{Gap: p.Gap || other.Gap, Epoch: p.Epoch, Newest: max(p.Newest, other.Newest)}
	if p.Epoch == 0 || other.Epoch < p.Epoch {
		joined.Epoch = other.Epoch
	}
	return joined
}

// queryDeadline returns the time after which a connection is considered dead. Consul may extend the wait by a
// sixteenth.
func queryDeadline(index uint64, wait time.Duration) time.Duration {
	if index == 0 {
		return FreshDeadline
	}
	return wait + wait/16 + waitGrace
}

const (
	// DefaultWait is the wait time of a blocking query. Even on a dead connection, a change is reported within 30 s:
	// the wait, Consul's extension of a sixteenth, and waitGrace. Proxies with an idle timeout of 30 s keep the
	// connection open.
	DefaultWait = 22 * time.Second
	// FreshDeadline leaves time for a full list over a slow link. The probe reports a lost quorum before this
	// deadline.
	FreshDeadline = 15 * time.Second
	// waitGrace leaves time for the response over a slow link.
	waitGrace = 4 * time.Second
)
