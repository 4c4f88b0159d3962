package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// queryError is an error about the parameters of a request.
type queryError struct{ error }

// query parses the parameters of a request. The first invalid parameter sets err.
type query struct {
	values url.Values
	known  []string
	err    error
}

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = queryError{fmt.Errorf(format, args...)}
	}
}

func (q *query) get(name string) string {
	q.known = append(q.known, name)
	if all := q.values[name]; len(all) > 1 {
		q.fail("parameter %s must not be repeated", name)
	}
	return q.values.Get(name)
}

// time parses a time. The default time zone is UTC.
func (q *query) time(name string) (at time.Time) {
	if text := q.get(name); text != "" {
		var err error
		if at, err = history.ParseMoment(text, time.Now().UTC()); err != nil {
			q.fail("%s %q: %v", name, sanitize.Line(text, 40), err)
		}
	}
	return at
}

func (q *query) span() history.Range {
	r := history.Range{Since: q.time("since"), Until: q.time("until")}
	if !r.Since.IsZero() && !r.Until.IsZero() && r.Until.Before(r.Since) {
		q.fail("until must not be before since")
	}
	return r
}

func (q *query) filter() history.Filter {
	q.known = append(q.known, "name", "datacenter")
	return history.Filter{Range: q.span(), Names: q.values["name"], Datacenters: q.values["datacenter"]}
}

func (q *query) state() history.StateQuery {
	s := history.StateQuery{At: q.time("at")}
	if s.At.IsZero() {
		s.At = time.Now().UTC()
	}
	return s
}

func (q *query) events() history.EventQuery {
	terms := q.terms()
	terms.Types = words(q, "type", election.EventTypes())
	return terms
}

func (q *query) terms() history.TermQuery {
	limit, text := 0, q.get("limit")
	if text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxLimit {
			q.fail("limit %q: must be from 1 to %d", sanitize.Line(text, 40), maxLimit)
		}
	}
	return history.TermQuery{
		Filter: q.filter(), Causes: words(q, "cause", election.Causes()), Limit: limit,
		Before: history.Cursor(q.get("before")), After: history.Cursor(q.get("after")),
	}
}

// words parses a parameter that can be repeated and has a fixed set of values.
func words[T ~string](q *query, name string, allowed []T) (all []T) {
	q.known = append(q.known, name)
	for _, text := range q.values[name] {
		if !slices.Contains(allowed, T(text)) {
			q.fail("%s %q: must be one of %v", name, sanitize.Line(text, 40), allowed)
		}
		all = append(all, T(text))
	}
	return all
}

// end returns the first error. It rejects unknown parameters, because a misspelled filter would otherwise select more
// than requested.
func (q *query) end() error {
	for name := range q.values {
		if !slices.Contains(q.known, name) {
			q.fail("unknown parameter %q", sanitize.Line(name, 40))
		}
	}
	return q.err
}

// encode is the inverse of [query.events] and, without filters of events, of the other methods.
func encode(e history.EventQuery) url.Values {
	v := url.Values{"name": e.Names, "datacenter": e.Datacenters}
	set := func(name, text string) {
		if text != "" {
			v.Add(name, text)
		}
	}
	for name, at := range map[string]time.Time{"since": e.Since, "until": e.Until} {
		if !at.IsZero() {
			set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	for _, word := range e.Types {
		set("type", string(word))
	}
	for _, word := range e.Causes {
		set("cause", string(word))
	}
	set("before", string(e.Before))
	set("after", string(e.After))
	if e.Limit > 0 {
		set("limit", strconv.Itoa(min(e.Limit, maxLimit)))
	}
	return v
}
