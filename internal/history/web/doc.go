// Package web serves a history over HTTP and reads a history from such a server: [NewHandler] handles the routes, and
// [Client] is a [history.Source]. docs/recording.md describes the API.
// The JSON form of each type is the one that the commands print.
package web

import (
	"context"

	"electop/internal/history"
)

// Source is a history that can also return its elections, sorted by key.
type Source interface {
	history.Source
	Elections(ctx context.Context) ([]history.Election, error)
}

// The routes. All except [PathHealth] require the token, if one is configured.
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

// Headers of a page of events or terms: the cursors of the adjacent pages.
const (
	headerOlder = "Electop-Older"
	headerNewer = "Electop-Newer"
)

const (
	// maxLimit is the maximum number of events or terms on a page.
	maxLimit = 10_000
	// maxBody limits a response after decompression. maxAction limits the body of an action, and maxQuery limits the
	// query string. All are in bytes.
	maxBody   = 128 << 20
	maxAction = 16 << 10
	maxQuery  = 256 << 10
)

// Error codes that a client must distinguish.
const (
	codeNoElection = "no_such_election"
	codeCursor     = "invalid_cursor"
	codeLarge      = "too_large"
)

type errorJSON struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}
