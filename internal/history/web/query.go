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

// queryError is an error about the parameters of a request.
type queryError struct{ error }

// parse parses the parameters of a request. It rejects unknown parameters, because a misspelled filter would otherwise
// select more than requested. The parameter at is the end of the range.
func parse(v url.Values, allowed string) (q history.EventQuery, err error) {
	for name, texts := range v {
		if !slices.Contains(strings.Fields(allowed), name) {
			return q, queryError{fmt.Errorf("unknown parameter %q", sanitize.Line(name, 40))}
		}
		for _, text := range texts {
			switch name {
			case "name":
				q.Names = texts
			case "datacenter":
				q.Datacenters = texts
			case "type":
				q.Types, err = appendWord(q.Types, text, election.EventTypes())
			case "cause":
				q.Causes, err = appendWord(q.Causes, text, election.Causes())
			default:
				if len(texts) > 1 {
					return q, queryError{fmt.Errorf("parameter %s must not be repeated", name)}
				}
				err = parseOne(&q, name, text)
			}
			if err != nil {
				return q, queryError{fmt.Errorf("%s %q: %w", name, sanitize.Line(text, 40), err)}
			}
		}
	}
	if !q.Until.IsZero() && q.Until.Before(q.Since) {
		return q, queryError{errors.New("until must not be before since")}
	}
	return q, nil
}

// parseOne parses a parameter that has one value. The default time zone is UTC.
func parseOne(q *history.EventQuery, name, text string) (err error) {
	switch name {
	case "since":
		q.Since, err = history.ParseMoment(text, time.Now().UTC())
	case "until", "at":
		if q.Until, err = history.ParseMoment(text, time.Now().UTC()); q.Until.IsZero() {
			q.Until = q.Until.Add(1) // a zero time means no limit
		}
	case "before":
		q.Before = history.Cursor(text)
	case "after":
		q.After = history.Cursor(text)
	case "limit":
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > maxLimit {
			err = fmt.Errorf("must be from 1 to %d", maxLimit)
		}
	}
	return err
}

// appendWord adds a value of a fixed set.
func appendWord[T ~string](all []T, text string, allowed []T) ([]T, error) {
	if !slices.Contains(allowed, T(text)) {
		return nil, fmt.Errorf("must be one of %v", allowed)
	}
	return append(all, T(text)), nil
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
	for name, text := range map[string]string{"before": string(e.Before), "after": string(e.After), "limit": strconv.Itoa(min(e.Limit, maxLimit))} {
		if text != "" && text != "0" {
			v.Set(name, text)
		}
	}
	return v
}
