// Package blocking repeats one blocking query of Consul for ever: which index it
// waits for, when it gives up, and how it retries.
package blocking

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// DefaultWait is how long a blocking query waits for news at most. It keeps a
// change from staying unreported for more than 30 s when its connection is dead
// and nothing says so: the wait, the sixteenth that Consul adds, and waitGrace.
// Proxies that cut connections that are idle for 30 s or more never do so either.
const DefaultWait = 22 * time.Second

// Epochs restarts every loop at once: when the link was broken, queries that
// are still blocked may hang on a connection that no longer leads anywhere, and
// those that wait to try again need not wait any longer.
type Epochs struct {
	parent context.Context
	mu     sync.Mutex
	number int
	ctx    context.Context
	cancel context.CancelFunc
}

// NewEpochs begins the first round.
func NewEpochs(parent context.Context) *Epochs {
	r := &Epochs{parent: parent}
	r.begin()
	return r
}

// begin makes the next round the current one.
func (r *Epochs) begin() {
	r.number++
	r.ctx, r.cancel = context.WithCancel(context.WithValue(r.parent, epochKey{}, r.number))
}

type epochKey struct{}

// epochOf is the number of the round that a context belongs to; none is 0.
func epochOf(ctx context.Context) int {
	n, _ := ctx.Value(epochKey{}).(int)
	return n
}

// Current is the context of this round.
func (r *Epochs) Current() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx
}

// Next ends this round and begins another.
func (r *Epochs) Next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.begin()
}

// Stop ends the last round.
func (r *Epochs) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
}

// Poller is what a loop asks again and again. Only the loop's goroutine calls
// its methods.
type Poller interface {
	// Poll puts the question with these options and keeps the answer.
	Poll(q *api.QueryOptions) (*api.QueryMeta, error)
	// Accept handles the answer kept. news is false when nothing of interest
	// changed.
	Accept(ctx context.Context, a Answer) (news bool, err error)
	// Failed tells why there is no answer and when the next attempt is made. Zero
	// means that the first one is under way.
	Failed(err error, retryAt time.Time)
}

// Answer says what is known of an answer besides its content.
type Answer struct {
	*api.QueryMeta
	Gap  bool     // moves may have been missed since the one before
	Next Position // from where the next question asks
}

// Client makes the options of queries.
type Client interface {
	Read(ctx context.Context) *api.QueryOptions
	Consistent(ctx context.Context) *api.QueryOptions
	Stale() bool
	CloseIdleConnections()
}

// ErrReadAgain says that a response lacks keys that exist and are readable.
var ErrReadAgain = errors.New("the response lacks keys that exist and are readable")

// Loop puts one question as blocking queries, by the rules of nextIndex.
type Loop struct {
	Poller
	Wait   time.Duration
	Client Client
	Epochs *Epochs
	// Consistent asks Consul's leader in any case.
	Consistent bool
	backoff    Backoff
	pace       pace
	// Rest, if set, is how long to pause after an answer, in the place of pace.
	Rest func() time.Duration
	// From is where the first query asks from.
	From Position
	// again says that the latest response was read again because it lacked keys.
	again bool
	// newest is the index of the newest response so far; confirm has the next
	// question answered by Consul's leader.
	newest  uint64
	confirm bool
	retried bool // the latest failure was followed by another attempt at once
}

// outdated reports a response that is older than one before, as any server may
// give with --stale. It is dropped, and Consul's leader decides whether the state
// went back.
func (l *Loop) outdated(at Position, meta *api.QueryMeta) bool {
	l.newest = max(l.newest, at.Index)
	if l.Client.Stale() && !l.confirm && meta.LastIndex < l.newest {
		l.confirm = true
		return true
	}
	l.newest, l.confirm = meta.LastIndex, false
	return false
}

// Position is from where on a loop asks.
type Position struct {
	Index uint64 // what the next question waits beyond
	Gap   bool   // moves may have been missed before it
	// round is the one in which the index was learned: in another one it says
	// nothing. 0 is any round.
	Epoch int
}

// in is the position in a round.
func (p Position) in(epoch int) Position {
	if p.Epoch != 0 && p.Epoch != epoch {
		return Position{Gap: true, Epoch: epoch}
	}
	p.Epoch = epoch
	return p
}

// Run asks until ctx ends. It never fails: what goes wrong is told to the
// question and tried again.
func (l *Loop) Run(ctx context.Context) {
	at := l.From
	for ctx.Err() == nil {
		round, leave := Join(ctx, l.Epochs.Current())
		at = at.in(epochOf(round))
		next, err := l.once(round, at)
		switch {
		case round.Err() != nil:
			l.backoff.Reset()
		case err != nil && at.Index > 0 && !l.retried:
			// Proxies and firewalls cut connections that wait: what was missed is
			// read at once, and only if that fails is the source lost. A response that
			// is overdue makes it stale already: the second read may take long, too.
			l.retried = true
			if Overdue(err) {
				l.Failed(err, time.Time{})
			}
		case err != nil:
			pause := l.backoff.Next()
			l.Failed(err, time.Now().Add(pause))
			Sleep(round, pause)
		case at.Index > 0:
			// Only a query that waited proves that waiting works: a proxy that
			// rejects such queries must not cause one read of all keys after another.
			l.backoff.Reset()
			l.retried = false
		}
		at.Index, at.Gap = next, err != nil
		leave()
	}
}

// Join is a context that ends with either of two.
func Join(ctx, round context.Context) (joined context.Context, leave func()) {
	joined, cancel := context.WithCancel(round)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}

// once asks one time and tells the index to ask with next.
func (l *Loop) once(ctx context.Context, at Position) (next uint64, err error) {
	wait := l.Wait - Jitter(l.Wait/8)
	qctx, cancel := context.WithTimeout(ctx, queryDeadline(at.Index, wait))
	defer cancel()
	start := time.Now()
	meta, err := l.Poll(l.query(qctx, at.Index, wait))
	if err != nil {
		// Other connections may have died with this one's.
		l.Client.CloseIdleConnections()
		return 0, err
	}
	took := time.Since(start)
	if l.outdated(at, meta) {
		Sleep(ctx, l.pace.next(false, took))
		return 0, nil
	}
	next = nextIndex(at.Index, meta.LastIndex, took, wait)
	news, err := l.Accept(ctx, Answer{meta, at.Gap, Position{Index: next, Epoch: epochOf(ctx)}})
	switch {
	case errors.Is(err, ErrReadAgain) && !l.again:
		l.again = true
		return 0, nil
	case err != nil:
		return 0, err
	}
	l.again = false
	if news {
		runtime.Gosched() // whoever was told goes first, then the next question
	}
	if l.Rest != nil {
		Sleep(ctx, l.Rest())
	} else {
		Sleep(ctx, l.pace.next(news, took))
	}
	return next, nil
}

// query are the options of the next question.
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
