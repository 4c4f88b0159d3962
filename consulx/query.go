package consulx

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// defaultWait is how long a blocking query waits for news. A longer one would
// save little; it also bounds how long a query that nothing can wake goes
// unnoticed.
const defaultWait = time.Minute

// rounds restarts every loop at once: when the link was broken, queries that
// are still blocked may hang on a connection that no longer leads anywhere, and
// those that wait to try again need not wait any longer.
type rounds struct {
	parent context.Context
	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

func newRounds(parent context.Context) *rounds {
	r := &rounds{parent: parent}
	r.ctx, r.cancel = context.WithCancel(parent)
	return r
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
	r.ctx, r.cancel = context.WithCancel(r.parent)
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
	// take handles the answer kept; gap says that moves may have been missed
	// since the one before. news is false when nothing of interest changed.
	take(ctx context.Context, meta *api.QueryMeta, gap bool) (news bool, err error)
	// failed tells why there is no answer and when the next attempt is made.
	failed(err error, retryAt time.Time)
}

// loop puts one question as blocking queries, by the rules of nextIndex.
type loop struct {
	question
	wait    time.Duration
	options func(context.Context) *api.QueryOptions
	rounds  *rounds
	backoff backoff
	pace    pace
	// rest, if set, is how long to pause after an answer, in the place of pace.
	rest func() time.Duration
	// index is what the first question waits beyond; gap says that moves may
	// have been missed before it.
	index uint64
	gap   bool
}

// run asks until ctx ends. It never fails: what goes wrong is told to the
// question and tried again.
func (l *loop) run(ctx context.Context) {
	index, gap := l.index, l.gap
	for ctx.Err() == nil {
		round, leave := within(ctx, l.rounds.current())
		next, err := l.once(round, index, gap)
		switch {
		case round.Err() != nil:
			index, gap = 0, true
			l.backoff.reset()
		case err != nil:
			index, gap = 0, true
			pause := l.backoff.next()
			l.failed(err, time.Now().Add(pause))
			sleep(round, pause)
		default:
			index, gap = next, false
			l.backoff.reset()
		}
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
func (l *loop) once(ctx context.Context, index uint64, gap bool) (next uint64, err error) {
	qctx, cancel := context.WithTimeout(ctx, queryDeadline(index, l.wait))
	defer cancel()
	q := l.options(qctx)
	if index > 0 {
		q.WaitIndex, q.WaitTime = index, l.wait
	}
	start := time.Now()
	meta, err := l.ask(q)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	news, err := l.take(ctx, meta, gap)
	if err != nil {
		return 0, err
	}
	if l.rest != nil {
		sleep(ctx, l.rest())
	} else {
		sleep(ctx, l.pace.next(news, took))
	}
	return nextIndex(index, meta.LastIndex, took, l.wait), nil
}
