package memconsul

import (
	"math/rand/v2"
	"net/url"
	"strconv"
	"time"

	"electop/internal/memconsul/store"
)

const (
	defaultWait = 5 * time.Minute
	maxWait     = 10 * time.Minute
	waitJitter  = 16 // Consul extends the wait by a random time of up to 1/waitJitter
)

// queryOptions contains the parameters of a read.
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

// query runs q with the request's options and sets the response headers. It returns false if the client has
// disconnected.
func query[T any](rq *request, q store.Query[T]) (T, bool) {
	result := q.Run(rq.r.Context(), rq.opts.index, rq.opts.duration())
	if rq.r.Context().Err() != nil {
		return result.Body, false
	}
	h := rq.w.Header()
	// If the index were 0, the client's next query would not block.
	h.Set("X-Consul-Index", strconv.FormatUint(max(result.Index, 1), 10))
	rq.setLeaderHeaders()
	h.Set("X-Consul-Query-Backend", "blocking-query")
	return result.Body, true
}

// plainQuery is like query, but has the return values of a handler. The body is nil if the client has disconnected.
func plainQuery[T any](rq *request, q store.Query[T]) (any, error) {
	body, ok := query(rq, q)
	if !ok {
		return nil, nil
	}
	return body, nil
}

// catalogQuery is like plainQuery, but adds the header of the catalog endpoints.
func catalogQuery[T any](rq *request, q store.Query[T]) (any, error) {
	body, err := plainQuery(rq, q)
	if body != nil {
		rq.setConsistencyHeader()
	}
	return body, err
}
