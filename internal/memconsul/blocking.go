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
	waitJitter  = 16 // the wait is lengthened by up to one part in this many
)

// queryOptions are the parameters that every read understands.
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

// duration is how long a query with these options may block.
func (o queryOptions) duration() time.Duration {
	d := o.wait
	if d <= 0 {
		d = defaultWait
	}
	d = min(d, maxWait)
	if jitter := d / waitJitter; jitter > 0 {
		d += rand.N(jitter) //nolint:gosec // spreads load, hides nothing
	}
	return d
}

// answer is what one look at the store found.
type answer struct {
	index   uint64 // of what was found; 0 if nothing was ever written there
	missing bool   // the one thing that was asked for does not exist
	body    any
}

// query looks at the store and, if the request asks for it, waits until the index is beyond the request's. look runs
// under the store's mutex and must give the index of what it saw; wake is the topic whose change is worth another
// look. The answer's headers are set. It reports false if the client went away.
func (a *Agent) query(rq *request, wake topic, look func(*store) answer) (answer, bool) {
	ans := a.await(rq, wake, look)
	if rq.r.Context().Err() != nil {
		return ans, false
	}
	h := rq.w.Header()
	// An index of 0 would make a blocking client spin.
	h.Set("X-Consul-Index", strconv.FormatUint(max(ans.index, 1), 10))
	rq.setLeaderHeaders()
	h.Set("X-Consul-Query-Backend", "blocking-query")
	return ans, true
}

func (a *Agent) await(rq *request, wake topic, look func(*store) answer) answer {
	known := rq.opts.index
	var timeout <-chan time.Time
	if known > 0 {
		timer := time.NewTimer(rq.opts.duration())
		defer timer.Stop()
		timeout = timer.C
	}
	wasMissing := false
	for {
		ans, sig := a.look(wake, look, func(ans answer) bool {
			// What was missing and still is has not changed, whatever the index says.
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

// look subscribes under the same hold of the mutex as it looks, so that no change can fall between the two. It gives
// no signal if the answer is enough.
func (a *Agent) look(wake topic, look func(*store) answer, enough func(answer) bool) (answer, *signal) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	ans := look(a.store)
	if enough(ans) {
		return ans, nil
	}
	return ans, a.store.subscribe(wake)
}

// wait reports whether the signal came before the timeout, the client's end and the agent's.
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
