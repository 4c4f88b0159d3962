package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// maxLimit is the maximum number of events or terms on a page.
const maxLimit = 10_000

// queryError is an error about the parameters of a request.
type queryError struct{ error }

// parse parses the parameters of a request. It rejects unknown parameters, because a misspelled filter would otherwise
// select more than requested. The parameter at is the end of the range. The default time zone is UTC.
func parse(v url.Values, allowed string) (q history.EventQuery, err error) {
	now := time.Now().UTC()
	for name, texts := range v {
		among := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
		text := texts[0]
		switch name {
		case "name":
			q.Names = texts
		case "datacenter":
			q.Datacenters = texts
		case "type":
			q.Types, err = words(texts, election.EventTypes())
		case "cause":
			q.Causes, err = words(texts, election.Causes())
		case "since":
			q.Since, err = election.ParseMoment(text, now)
		case "page":
			q.Page = history.Cursor(text)
		case "limit":
			if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > maxLimit {
				err = fmt.Errorf("must be from 1 to %d", maxLimit)
			}
		default:
			if q.Until, err = election.ParseMoment(text, now); q.Until.IsZero() {
				q.Until = q.Until.Add(1) // a zero time means no limit
			}
		}
		if !among(allowed) {
			err = errors.New("unknown parameter")
		} else if len(texts) > 1 && !among("name datacenter type cause") {
			err = errors.New("must not be repeated")
		}
		if err != nil {
			return q, queryError{fmt.Errorf("%s=%q: %w", sanitize.Line(name, 40), sanitize.Line(strings.Join(texts, ", "), 40), err)}
		}
	}
	if !q.Until.IsZero() && q.Until.Before(q.Since) {
		return q, queryError{errors.New("until must not be before since")}
	}
	return q, nil
}

// words returns values of a fixed set.
func words[T ~string](texts []string, allowed []T) (all []T, err error) {
	for _, text := range texts {
		if !slices.Contains(allowed, T(text)) {
			return nil, fmt.Errorf("must be one of %v", allowed)
		}
		all = append(all, T(text))
	}
	return all, nil
}

// encode is the inverse of parse.
func encode(e history.EventQuery) url.Values {
	v := url.Values{"name": e.Names, "datacenter": e.Datacenters}
	for _, word := range e.Types {
		v.Add("type", string(word))
	}
	for _, word := range e.Causes {
		v.Add("cause", string(word))
	}
	for name, at := range map[string]time.Time{"since": e.Since, "until": e.Until} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if e.Page != "" {
		v.Set("page", string(e.Page))
	}
	if e.Limit > 0 {
		v.Set("limit", strconv.Itoa(min(e.Limit, maxLimit)))
	}
	return v
}
