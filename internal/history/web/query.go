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
type queryError struct{ text string }

func (e *queryError) Error() string { return e.text }

func queryErrorf(format string, args ...any) error {
	return &queryError{fmt.Sprintf(format, args...)}
}

// query parses the parameters of a request. The first invalid parameter sets err.
type query struct {
	values url.Values
	now    time.Time
	known  []string
	err    error
}

func (q *query) get(name string) string {
	q.known = append(q.known, name)
	if all := q.values[name]; len(all) > 1 {
		q.fail(queryErrorf("parameter %s must not be repeated", name))
	}
	return q.values.Get(name)
}

func (q *query) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

// time parses a time. The default time zone is UTC.
func (q *query) time(name string) time.Time {
	text := q.get(name)
	if text == "" {
		return time.Time{}
	}
	at, err := history.ParseMoment(text, q.now)
	if err != nil {
		q.fail(queryErrorf("%s %q: %v", name, sanitize.Line(text, 40), err))
	}
	return at
}

func (q *query) span() history.Range {
	r := history.Range{Since: q.time("since"), Until: q.time("until")}
	if !r.Since.IsZero() && !r.Until.IsZero() && r.Until.Before(r.Since) {
		q.fail(queryErrorf("until must not be before since"))
	}
	return r
}

func (q *query) filter() history.Filter {
	q.known = append(q.known, "name", "datacenter")
	return history.Filter{Range: q.span(), Names: q.values["name"], Datacenters: q.values["datacenter"]}
}

func (q *query) limit() int {
	text := q.get("limit")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		q.fail(queryErrorf("limit %q: must be from 1 to %d", sanitize.Line(text, 40), maxLimit))
	}
	return n
}

// wordsOf parses a parameter that can be repeated and has a fixed set of values.
func wordsOf[T ~string](q *query, name string, allowed []T) (all []T) {
	q.known = append(q.known, name)
	for _, text := range q.values[name] {
		if !slices.Contains(allowed, T(text)) {
			q.fail(queryErrorf("%s %q: must be one of %v", name, sanitize.Line(text, 40), allowed))
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
			q.fail(queryErrorf("unknown parameter %q", sanitize.Line(name, 40)))
		}
	}
	return q.err
}

func (q *query) events() (history.EventQuery, error) {
	e := history.EventQuery{
		Filter: q.filter(), Types: wordsOf(q, "type", election.EventTypes()), Causes: wordsOf(q, "cause", election.Causes()),
		Before: history.Cursor(q.get("before")), After: history.Cursor(q.get("after")), Limit: q.limit(),
	}
	return e, q.end()
}

func (q *query) terms() (history.TermQuery, error) {
	t := history.TermQuery{
		Filter: q.filter(), Causes: wordsOf(q, "cause", election.Causes()),
		Before: history.Cursor(q.get("before")), After: history.Cursor(q.get("after")), Limit: q.limit(),
	}
	return t, q.end()
}

func (q *query) state() (history.StateQuery, error) {
	s := history.StateQuery{At: q.time("at")}
	if s.At.IsZero() {
		s.At = q.now
	}
	return s, q.end()
}

func setTime(v url.Values, name string, t time.Time) {
	if !t.IsZero() {
		v.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func setText(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

func rangeValues(r history.Range) url.Values {
	v := url.Values{}
	setTime(v, "since", r.Since)
	setTime(v, "until", r.Until)
	return v
}

func filterValues(f history.Filter) url.Values {
	v := rangeValues(f.Range)
	v["name"], v["datacenter"] = f.Names, f.Datacenters
	return v
}

func setWords[T ~string](v url.Values, name string, all []T) {
	for _, word := range all {
		v.Add(name, string(word))
	}
}

func setLimit(v url.Values, limit int) {
	if limit > 0 {
		v.Set("limit", strconv.Itoa(min(limit, maxLimit)))
	}
}

func eventValues(q history.EventQuery) url.Values {
	v := filterValues(q.Filter)
	setWords(v, "type", q.Types)
	setWords(v, "cause", q.Causes)
	setText(v, "before", string(q.Before))
	setText(v, "after", string(q.After))
	setLimit(v, q.Limit)
	return v
}

func termValues(q history.TermQuery) url.Values {
	v := filterValues(q.Filter)
	setWords(v, "cause", q.Causes)
	setText(v, "before", string(q.Before))
	setText(v, "after", string(q.After))
	setLimit(v, q.Limit)
	return v
}
