package memconsul

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	defaultWait = 5 * time.Minute
	maxWait     = 10 * time.Minute
	waitJitter  = 16 // the wait is extended by up to 1/waitJitter
)

// queryOptions are the parameters of every read.
type queryOptions struct {
	index       uint64
	wait        time.Duration
	consistency string
}

func parseQueryOptions(params url.Values) (queryOptions, error) {
	opts := queryOptions{consistency: "leader"}
	if params.Has("stale") {
		opts.consistency = "stale"
	}
	if params.Has("consistent") {
		if params.Has("stale") {
			return opts, badRequest("Cannot specify ?stale with ?consistent, conflicting semantics.")
		}
		opts.consistency = "consistent"
	}
	if wait := params.Get("wait"); wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil {
			return opts, badRequest("Invalid wait time")
		}
		opts.wait = d
	}
	if index := params.Get("index"); index != "" {
		n, err := strconv.ParseUint(index, 10, 64)
		if err != nil {
			return opts, badRequest("Invalid index")
		}
		opts.index = n
	}
	return opts, nil
}

// duration returns how long a query with these options may block.
func (o queryOptions) duration() time.Duration {
	d := o.wait
	if d <= 0 {
		d = defaultWait
	}
	d = min(d, maxWait)
	if jitter := d / waitJitter; jitter > 0 {
		d += rand.N(jitter) //nolint:gosec // not a secret
	}
	return d
}

// answer is the result of one read of the store.
type answer struct {
	index   uint64 // index of the result; 0 if nothing was ever written there
	missing bool   // the single requested object does not exist
	body    any
}

// query reads the store and, for a blocking query, waits until the index exceeds the request's. read runs with the
// store's mutex held and returns the index of its result; wake is the topic whose change triggers another read. query
// sets the response headers. It reports false if the client disconnected.
func (a *Agent) query(rq *request, wake topic, read func(*store) answer) (answer, bool) {
	ans := a.await(rq, wake, read)
	if rq.r.Context().Err() != nil {
		return ans, false
	}
	h := rq.w.Header()
	// With an index of 0, a client's next blocking query would not block.
	h.Set("X-Consul-Index", strconv.FormatUint(max(ans.index, 1), 10))
	rq.setLeaderHeaders()
	h.Set("X-Consul-Query-Backend", "blocking-query")
	return ans, true
}

// queryCatalog is query for the catalog and health endpoints. It returns a nil body if the client disconnected.
func (a *Agent) queryCatalog(rq *request, wake topic, read func(*store) answer) (any, error) {
	ans, ok := a.query(rq, wake, read)
	if !ok {
		return nil, nil
	}
	rq.setConsistencyHeader()
	return ans.body, nil
}

func (a *Agent) await(rq *request, wake topic, read func(*store) answer) answer {
	known := rq.opts.index
	var timeout <-chan time.Time
	if known > 0 {
		timer := time.NewTimer(rq.opts.duration())
		defer timer.Stop()
		timeout = timer.C
	}
	wasMissing := false
	for {
		ans, sig := a.readOrSubscribe(wake, read, func(ans answer) bool {
			// An object that is still missing has not changed, whatever the index.
			if ans.missing && wasMissing {
				known = ans.index
			}
			wasMissing = ans.missing || wasMissing
			return rq.opts.index == 0 || ans.index > known
		})
		if sig == nil {
			return ans
		}
		woken := a.wait(rq.r, sig, timeout)
		a.store.unsubscribe(wake, sig)
		if !woken {
			return ans
		}
	}
}

// readOrSubscribe reads and, unless done accepts the answer, subscribes to the topic. It holds the mutex during both,
// so that no change is missed in between. The signal is nil if done accepts the answer.
func (a *Agent) readOrSubscribe(wake topic, read func(*store) answer, done func(answer) bool) (answer, *signal) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	ans := read(a.store)
	if done(ans) {
		return ans, nil
	}
	return ans, a.store.subscribe(wake)
}

// wait reports whether the signal came before the timeout, the end of the request and the end of the agent.
func (a *Agent) wait(r *http.Request, sig *signal, timeout <-chan time.Time) bool {
	select {
	case <-sig.changed:
		return true
	case <-timeout:
	case <-r.Context().Done():
	case <-a.closed:
	}
	return false
}
