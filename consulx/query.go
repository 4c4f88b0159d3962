package consulx

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// defaultWait is how long a blocking query waits for news at most. It keeps a
// change from staying unreported for more than 30 s when its connection is dead
// and nothing says so: the wait, the sixteenth that Consul adds, and waitGrace.
// Proxies that cut connections that are idle for 30 s or more never do so either.
const defaultWait = 22 * time.Second

// rounds restarts every loop at once: when the link was broken, queries that
// are still blocked may hang on a connection that no longer leads anywhere, and
// those that wait to try again need not wait any longer.
type rounds struct {
	parent context.Context
	mu     sync.Mutex
	number int
	ctx    context.Context
	cancel context.CancelFunc
}

func newRounds(parent context.Context) *rounds {
	r := &rounds{parent: parent}
	r.begin()
	return r
}

// begin makes the next round the current one.
func (r *rounds) begin() {
	r.number++
	r.ctx, r.cancel = context.WithCancel(context.WithValue(r.parent, roundKey{}, r.number))
}

type roundKey struct{}

// roundOf is the number of the round that a context belongs to; none is 0.
func roundOf(ctx context.Context) int {
	n, _ := ctx.Value(roundKey{}).(int)
	return n
}

// current is the context of this round.
func (r *rounds) current() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx
}

// next ends this round and begins another.
func (r *rounds) next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.begin()
}

func (r *rounds) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
}

// question is what a loop asks again and again. Only the loop's goroutine calls
// its methods.
type question interface {
	// ask puts the question with these options and keeps the answer.
	ask(q *api.QueryOptions) (*api.QueryMeta, error)
	// take handles the answer kept. news is false when nothing of interest
	// changed.
	take(ctx context.Context, a answered) (news bool, err error)
	// failed tells why there is no answer and when the next attempt is made. Zero
	// means that the first one is under way.
	failed(err error, retryAt time.Time)
}

// answered says what is known of an answer besides its content.
type answered struct {
	*api.QueryMeta
	gap  bool     // moves may have been missed since the one before
	next position // from where the next question asks
}

// loop puts one question as blocking queries, by the rules of nextIndex.
type loop struct {
	question
	wait   time.Duration
	client *Client
	rounds *rounds
	// consistent asks Consul's leader in any case.
	consistent bool
	backoff    backoff
	pace       pace
	// rest, if set, is how long to pause after an answer, in the place of pace.
	rest func() time.Duration
	from position
	// again says that the latest response was read again because it lacked keys.
	again bool
	// newest is the index of the newest response so far; confirm has the next
	// question answered by Consul's leader.
	newest  uint64
	confirm bool
	retried bool // the latest failure was followed by another attempt at once
}

// outdated reports a response that is older than one before: with --stale any server
// may give it, otherwise a leader that still replays its log. It is dropped, and a
// consistent read decides whether the state went back.
func (l *loop) outdated(at position, meta *api.QueryMeta) bool {
	l.newest = max(l.newest, at.index)
	if !l.confirm && meta.LastIndex < l.newest {
		l.confirm = true
		return true
	}
	l.newest, l.confirm = meta.LastIndex, false
	return false
}

// position is from where on a loop asks.
type position struct {
	index uint64 // what the next question waits beyond
	gap   bool   // moves may have been missed before it
	// round is the one in which the index was learned: in another one it says
	// nothing. 0 is any round.
	round int
}

// in is the position in a round.
func (p position) in(round int) position {
	if p.round != 0 && p.round != round {
		return position{gap: true, round: round}
	}
	p.round = round
	return p
}

// run asks until ctx ends. It never fails: what goes wrong is told to the
// question and tried again.
func (l *loop) run(ctx context.Context) {
	at := l.from
	for ctx.Err() == nil {
		round, leave := within(ctx, l.rounds.current())
		at = at.in(roundOf(round))
		next, err := l.once(round, at)
		switch {
		case round.Err() != nil:
			l.backoff.reset()
		case err != nil && at.index > 0 && !l.retried:
			// Proxies and firewalls cut connections that wait: what was missed is
			// read at once, and only if that fails is the source lost. A response that
			// is overdue makes it stale already: the second read may take long, too.
			l.retried = true
			if overdue(err) {
				l.failed(err, time.Time{})
			}
		case err != nil:
			pause := l.backoff.next()
			l.failed(err, time.Now().Add(pause))
			sleep(round, pause)
		case at.index > 0:
			// Only a query that waited proves that waiting works: a proxy that
			// rejects such queries must not cause one read of all keys after another.
			l.backoff.reset()
			l.retried = false
		}
		// A response that was dropped did not end the gap before it.
		at.index, at.gap = next, err != nil || at.gap && (l.again || l.confirm)
		leave()
	}
}

// within is a context that ends with either of two.
func within(ctx, round context.Context) (joined context.Context, leave func()) {
	joined, cancel := context.WithCancel(round)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}

// once asks one time and tells the index to ask with next.
func (l *loop) once(ctx context.Context, at position) (next uint64, err error) {
	wait := l.wait - jitter(l.wait/8)
	qctx, cancel := context.WithTimeout(ctx, queryDeadline(at.index, wait))
	defer cancel()
	start := time.Now()
	meta, err := l.ask(l.query(qctx, at.index, wait))
	if err != nil {
		// Other connections may have died with this one's.
		l.client.transport.CloseIdleConnections()
		return 0, err
	}
	took := time.Since(start)
	if l.outdated(at, meta) {
		sleep(ctx, l.pace.next(false, took))
		return 0, nil
	}
	next = nextIndex(at.index, meta.LastIndex, took, wait)
	news, err := l.take(ctx, answered{meta, at.gap, position{index: next, round: roundOf(ctx)}})
	switch {
	case errors.Is(err, errReadAgain) && !l.again:
		l.again = true
		return 0, nil
	case err != nil:
		return 0, err
	}
	l.again = false
	if news {
		runtime.Gosched() // whoever was told goes first, then the next question
	}
	if l.rest != nil {
		sleep(ctx, l.rest())
	} else {
		sleep(ctx, l.pace.next(news, took))
	}
	return next, nil
}

// query are the options of the next question.
func (l *loop) query(ctx context.Context, index uint64, wait time.Duration) *api.QueryOptions {
	q := l.client.read(ctx)
	if l.consistent || l.confirm {
		q = l.client.consistent(ctx)
	}
	if index > 0 {
		q.WaitIndex, q.WaitTime = index, wait
	}
	return q
}
