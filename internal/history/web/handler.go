package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// Options configure the handler of a recorder.
type Options struct {
	Source Source
	// Health returns nil while Consul is observed and events are stored. Otherwise, it returns the reason. Its route,
	// /healthz, does not require a token.
	Health func() error
	// Metrics serves the metrics for Prometheus.
	Metrics http.Handler
	// Record stores an action that an operator performed with electop on another host.
	Record func(history.Action)
	// Token is the bearer token that all routes except /healthz require. If it is empty, no token is required.
	Token string
	// Local is set if only clients on this host can connect.
	Local bool
	// OnError receives errors that clients must not receive.
	OnError func(error)
}

const (
	// queryTimeout is the timeout for reading the history for one response.
	queryTimeout = 30 * time.Second
	// maxQueries is the maximum number of responses that are prepared concurrently. maxSends is the maximum number of
	// responses that are being sent.
	maxQueries = 8
	maxSends   = 64
)

type server struct {
	Options
	queries, sends chan struct{}
}

// NewHandler returns the handler for all routes of a recorder.
func NewHandler(o Options) http.Handler {
	s := &server{Options: o, queries: make(chan struct{}, maxQueries), sends: make(chan struct{}, maxSends)}
	open, closed := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET "+PathHealth, s.health)
	open.Handle("/", s.authorized(http.NewCrossOriginProtection().Handler(closed)))
	closed.Handle("GET "+PathMetrics, o.Metrics)
	closed.HandleFunc("POST "+pathActions, s.postAction)
	for path, serve := range map[string]func(w io.Writer, h http.Header, r *http.Request) error{
		pathEvents: s.events, pathTerms: s.terms, pathStats: s.stats, pathState: s.state,
		pathObservations: inRange(s.Source.Observations), pathActions: inRange(s.Source.Actions), pathElections: s.elections,
	} {
		closed.HandleFunc("GET "+path, s.serve(serve))
	}
	return withHeaders(open)
}

// health reports whether the recorder works.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	text, code := "ok", http.StatusOK
	if err := s.Health(); err != nil {
		text, code = sanitize.Line(err.Error(), 400), http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintln(w, text) // ignore the error: the client may have disconnected
}

// serve prepares the complete response before it sends the first byte, so that no error occurs in the middle of a
// response. While it sends the response, other requests can be processed.
func (s *server) serve(body func(w io.Writer, h http.Header, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.sends <- struct{}{}:
			defer func() { <-s.sends }()
		default:
			overloaded(w)
			return
		}
		header := http.Header{"Content-Type": {"application/x-ndjson"}}
		text, busy, err := s.prepare(r, header, body)
		switch {
		case busy:
			overloaded(w)
			return
		case err != nil:
			s.fail(w, err)
			return
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		writeBody(w, r, text)
	}
}

func overloaded(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, errorJSON{Error: "too many concurrent requests; retry later"})
}

// prepare returns the body of a response. busy is set if too many responses are being prepared.
func (s *server) prepare(r *http.Request, header http.Header, body func(w io.Writer, h http.Header, r *http.Request) error) (text []byte, busy bool, err error) {
	select {
	case s.queries <- struct{}{}:
		defer func() { <-s.queries }()
	default:
		return nil, true, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	var buffer bytes.Buffer
	err = body(&buffer, header, r.WithContext(ctx))
	return sanitize.JSON(buffer.Bytes()), false, err
}

// fail responds to a request that failed. It sends only errors about the request, because other errors contain paths.
func (s *server) fail(w http.ResponseWriter, err error) {
	var invalid *queryError
	switch {
	case errors.As(err, &invalid):
		writeError(w, http.StatusBadRequest, errorJSON{Error: invalid.text})
	case errors.Is(err, history.ErrCursor):
		writeError(w, http.StatusBadRequest, errorJSON{Error: "invalid cursor", Code: codeCursor})
	case errors.Is(err, history.ErrLarge):
		writeError(w, http.StatusBadRequest, errorJSON{Error: history.ErrLarge.Error(), Code: codeLarge})
	case errors.Is(err, history.ErrNoElection):
		writeError(w, http.StatusNotFound, errorJSON{Error: history.ErrNoElection.Error(), Code: codeNoElection})
	default:
		s.OnError(err)
		writeError(w, http.StatusInternalServerError, errorJSON{Error: "the recorder cannot read its history"})
	}
}

func writeError(w http.ResponseWriter, code int, e errorJSON) {
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte("{}") // the encoding of two strings cannot fail
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(append(sanitize.JSON(text), '\n')) //nolint:errcheck,gosec // fails if the client has disconnected
}

func queryOf(r *http.Request) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values, now: time.Now().UTC()}
	if err != nil {
		q.fail(queryErrorf("invalid parameters"))
	}
	return q
}

// writeLines writes one JSON object per line.
func writeLines[T any](w io.Writer, all []T) error {
	lines := json.NewEncoder(w)
	for _, v := range all {
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// linkNext adds a link to the next page. v is the query for that page.
func linkNext(h http.Header, path string, v url.Values) {
	h.Set("Link", "<"+path+"?"+v.Encode()+`>; rel="next"`)
}

// advance changes a query to that of the next page. The next page contains newer entries if *after is
// set, and older entries otherwise.
func advance(before, after *history.Cursor, older, newer history.Cursor) {
	if *after != "" {
		*after = newer
	} else {
		*before = older
	}
}

// setCursors adds the cursors of the adjacent pages.
func setCursors(h http.Header, older, newer history.Cursor) {
	for name, cursor := range map[string]history.Cursor{headerOlder: older, headerNewer: newer} {
		if cursor != "" {
			h.Set(name, string(cursor))
		}
	}
}

func (s *server) events(w io.Writer, h http.Header, r *http.Request) error {
	q, err := queryOf(r).events()
	if err != nil {
		return err
	}
	page, err := s.Source.Events(r.Context(), q)
	if err != nil {
		return err
	}
	setCursors(h, page.Older, page.Newer)
	if page.More {
		advance(&q.Before, &q.After, page.Older, page.Newer)
		linkNext(h, pathEvents, eventValues(q))
	}
	return writeLines(w, page.Events)
}

func (s *server) terms(w io.Writer, h http.Header, r *http.Request) error {
	q, err := queryOf(r).terms()
	if err != nil {
		return err
	}
	page, err := s.Source.Terms(r.Context(), q)
	if err != nil {
		return err
	}
	setCursors(h, page.Older, page.Newer)
	if page.More {
		advance(&q.Before, &q.After, page.Older, page.Newer)
		linkNext(h, pathTerms, termValues(q))
	}
	return writeLines(w, page.Terms)
}

func (s *server) stats(w io.Writer, h http.Header, r *http.Request) error {
	q := queryOf(r)
	f := q.filter()
	if err := q.end(); err != nil {
		return err
	}
	st, err := s.Source.Stats(r.Context(), f)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(st)
}

func (s *server) state(w io.Writer, h http.Header, r *http.Request) error {
	q, err := queryOf(r).state()
	if err != nil {
		return err
	}
	st, err := s.Source.State(r.Context(), q)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(st)
}

// inRange returns the handler of a list of entries in a time range.
func inRange[T any](read func(context.Context, history.Range) ([]T, error)) func(io.Writer, http.Header, *http.Request) error {
	return func(w io.Writer, _ http.Header, r *http.Request) error {
		q := queryOf(r)
		span := q.span()
		if err := q.end(); err != nil {
			return err
		}
		all, err := read(r.Context(), span)
		if err != nil {
			return err
		}
		return writeLines(w, all)
	}
}

func (s *server) elections(w io.Writer, _ http.Header, r *http.Request) error {
	if err := queryOf(r).end(); err != nil {
		return err
	}
	all, err := s.Source.Elections(r.Context())
	if err != nil {
		return err
	}
	return writeLines(w, all)
}

// postAction stores an action that an operator performed with electop on another host. It uses the time of the
// recorder's clock, because the recorder compares this time with the recorded ends of terms.
func (s *server) postAction(w http.ResponseWriter, r *http.Request) {
	if s.Token == "" && !s.Local {
		writeError(w, http.StatusForbidden, errorJSON{Error: "the action was not stored: the recorder accepts actions from other hosts only with --bearer-token-file"})
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, errorJSON{Error: "the action is too large or incomplete"})
		return
	}
	var a history.Action
	if json.Unmarshal(text, &a) != nil || !validAction(&a) {
		writeError(w, http.StatusBadRequest, errorJSON{Error: "the request body is not a valid action"})
		return
	}
	a.Time = time.Now()
	s.Record(a)
	w.WriteHeader(http.StatusAccepted)
}

func validAction(a *history.Action) bool {
	switch a.Result {
	case history.ResultDone, history.ResultFailed, history.ResultUnconfirmed:
	default:
		return false
	}
	known := a.Kind == election.ActionRelease || a.Kind == election.ActionDestroy
	return known && a.Session != "" && a.By != "" && a.Datacenter != ""
}
