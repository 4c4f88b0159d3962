// Package web serves a history over HTTP and reads one that is served: [NewHandler] has
// the routes, [Client] is a [history.Source]. docs/recording.md describes the API.
//
// Fields are those of the JSON that commands print: times have milliseconds. A client needs
// more digits, for example to read the state at the time of an event, so each time and
// duration also has a field with the suffix _ns: nanoseconds, for a time since 1970 UTC.
package web

import (
	"context"

	"electop/internal/history"
)

// Source is a history whose elections can be listed, in the order of their keys.
type Source interface {
	history.Source
	Elections(ctx context.Context) ([]history.Election, error)
}

// The routes. All but [PathHealth] require the token, if there is one.
const (
	PathHealth       = "/healthz"
	PathMetrics      = "/metrics"
	pathEvents       = "/v1/events"
	pathTerms        = "/v1/terms"
	pathStats        = "/v1/stats"
	pathState        = "/v1/state"
	pathObservations = "/v1/observations"
	pathActions      = "/v1/actions"
	pathElections    = "/v1/elections"
)

// Headers of a page of events: the cursors on both sides.
const (
	headerOlder = "Electop-Older"
	headerNewer = "Electop-Newer"
)

const (
	// maxLimit is the largest page of events or terms.
	maxLimit = 10_000
	// maxBody limits a response after decompression, maxAction the body of an action,
	// and maxQuery the names and times in an address.
	maxBody   = 128 << 20
	maxAction = 16 << 10
	maxQuery  = 256 << 10
)

// Codes of errors that a client distinguishes.
const (
	codeNoElection = "no_such_election"
	codeCursor     = "invalid_cursor"
)

type errorJSON struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}
