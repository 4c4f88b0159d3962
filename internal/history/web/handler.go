// Package web serves a history over HTTP and reads a history from such a server: [NewHandler] handles the routes, and
// [Client] is a [history.Source]. docs/recording.md describes the API.
// The JSON form of each type is the one that the commands print.
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// The routes of the history.
const (
	pathEvents       = "/v1/events"
	pathTerms        = "/v1/terms"
	pathStats        = "/v1/stats"
	pathState        = "/v1/state"
	pathObservations = "/v1/observations"
	pathActions      = "/v1/actions"
	pathElections    = "/v1/elections"
)

const (
	// headerNext is the header of a page of events or terms with the cursor of the next page.
	headerNext = "Electop-Next"
	// headerCluster is the header of a request with the identity of a cluster that the client observes, or "".
	headerCluster = "Electop-Cluster"
)

const (
	// maxBody limits a response, maxAction the body of an action, and maxQuery the query string. All are in bytes.
	maxBody   = 128 << 20
	maxAction = 4 << 10
	maxQuery  = 256 << 10
	// queryTimeout is the timeout for reading the history for one response, and sendTimeout is that for sending it.
	queryTimeout = 30 * time.Second
	sendTimeout  = 20 * time.Second
	// maxQueries is the maximum number of responses that are prepared concurrently. maxSends is the maximum number of
	// responses that are prepared or being sent.
	maxQueries = 8
	maxSends   = 64
	// maxPosts is the maximum number of actions in postsWithin, because each of them can explain each term that ends at
	// about the same time.
	maxPosts    = 2000
	postsWithin = time.Minute
)

// failure is the body of an unsuccessful response.
type failure struct {
	Error string `json:"error"`
}

// statuses returns the errors that a client distinguishes, by their text.
func statuses() map[error]int {
	return map[error]int{
		history.ErrNoElection: http.StatusNotFound, history.ErrCursor: http.StatusBadRequest, history.ErrLarge: http.StatusBadRequest,
		history.ErrCluster: http.StatusConflict,
	}
}

// Options configure the handler of a recorder.
type Options struct {
	Source history.Source
	// Belongs fails if the source is not the history of a cluster.
	Belongs func(ctx context.Context, cluster string) error
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

type server struct {
	Options
	queries, sends, posts chan struct{}
}

// NewHandler returns the handler for all routes of a recorder.
func NewHandler(o Options) http.Handler {
	s := &server{o, make(chan struct{}, maxQueries), make(chan struct{}, maxSends), make(chan struct{}, maxPosts)}
	open, closed := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET /healthz", s.health)
	open.Handle("/", s.authorized(http.NewCrossOriginProtection().Handler(closed)))
	closed.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		reject(w, http.StatusNotFound, "no such route or method")
	})
	closed.Handle("GET /metrics", o.Metrics)
	closed.HandleFunc("POST "+pathActions, s.postAction)
	const filter = "name datacenter since until"
	for path, parameters := range map[string]string{
		pathEvents: filter + " cause limit page type", pathTerms: filter + " cause limit page", pathStats: filter,
		pathState: "at", pathObservations: "since until", pathActions: "since until", pathElections: "",
	} {
		closed.HandleFunc("GET "+path, s.serve(parameters))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		open.ServeHTTP(w, r)
	})
}

// read reads the JSON objects of a response.
func (s *server) read(ctx context.Context, path string, q history.EventQuery) (history.Page[any], error) {
	switch path {
	case pathEvents:
		return page(s.Source.Events(ctx, q))
	case pathTerms:
		return page(s.Source.Terms(ctx, q))
	case pathStats:
		return one(s.Source.Stats(ctx, q.Filter))
	case pathState:
		return one(s.Source.State(ctx, cmp.Or(q.Until, time.Now().UTC())))
	case pathObservations:
		return list(s.Source.Observations(ctx, q.Range))
	case pathActions:
		return list(s.Source.Actions(ctx, q.Range))
	}
	return list(s.Source.Elections(ctx))
}

func page[T any](p history.Page[T], err error) (history.Page[any], error) {
	return history.Page[any]{Items: election.Map(p.Items, func(v T) any { return v }), Next: p.Next, More: p.More}, err
}

func list[T any](all []T, err error) (history.Page[any], error) {
	return page(history.Page[T]{Items: all}, err)
}

func one[T any](v T, err error) (history.Page[any], error) { return list([]T{v}, err) }

// authorized accepts requests that contain the token. If no token is configured and only clients on this host can
// connect, it rejects requests whose Host header names another host, because a web page may have sent them: after DNS
// rebinding, the name of the page resolves to 127.0.0.1.
func (s *server) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(s.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		host := url.URL{Host: r.Host}
		switch {
		case s.Token == "" && s.Local && !Loopback(host.Hostname()):
			reject(w, http.StatusForbidden, "the Host header must contain localhost or a loopback address")
		case s.Token != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) == 0):
			w.Header().Set("WWW-Authenticate", "Bearer")
			reject(w, http.StatusUnauthorized, "missing or invalid bearer token")
		default:
			for _, cluster := range r.Header.Values(headerCluster) {
				if err := s.Belongs(r.Context(), cluster); err != nil {
					s.fail(w, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		}
	})
}

// Loopback reports whether a host name or address is reachable only from this host.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// health reports whether the recorder works.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	if err := s.Health(); err != nil {
		http.Error(w, sanitize.Line(err.Error(), 400), http.StatusServiceUnavailable)
		return
	}
	http.Error(w, "ok", http.StatusOK) // a response of one line
}

// serve prepares the complete response before it sends the first byte, so that no error occurs in the middle of a
// response. While it sends the response, other requests can be processed.
func (s *server) serve(parameters string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !take(w, s.sends) {
			return
		}
		defer func() { <-s.sends }()
		if !take(w, s.queries) {
			return
		}
		text, err := s.prepare(r, parameters, w.Header())
		if err != nil {
			s.fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout)) //nolint:errcheck,gosec // a writer of a test has no deadline
		w.Write(text)                                                               //nolint:errcheck,gosec // fails if the client has disconnected
	}
}

// take takes a slot, or responds that there is none.
func take(w http.ResponseWriter, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		w.Header().Set("Retry-After", "1")
		reject(w, http.StatusServiceUnavailable, "too many concurrent requests; retry later")
		return false
	}
}

// prepare returns the body of a response, one object per line, and sets the cursor of the next page and a link to it. It
// frees the slot of the query.
func (s *server) prepare(r *http.Request, parameters string, h http.Header) ([]byte, error) {
	defer func() { <-s.queries }() // also after a panic
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, queryError{errors.New("invalid parameters")}
	}
	q, err := parse(values, parameters)
	if err != nil {
		return nil, err
	}
	p, err := s.read(ctx, r.URL.Path, q)
	if err != nil {
		return nil, err
	}
	if q.Page = p.Next; p.Next != "" {
		h.Set(headerNext, string(p.Next))
	}
	if p.More {
		h.Set("Link", "<"+r.URL.Path+"?"+encode(q).Encode()+`>; rel="next"`)
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for _, v := range p.Items {
		if err := encoder.Encode(v); err != nil {
			return nil, err
		}
	}
	return sanitize.JSON(body.Bytes()), nil
}

// fail responds to a request that failed. It sends only errors about the request, because other errors contain paths.
func (s *server) fail(w http.ResponseWriter, err error) {
	for known, status := range statuses() {
		if errors.Is(err, known) {
			reject(w, status, known.Error())
			return
		}
	}
	if invalid, ok := errors.AsType[queryError](err); ok {
		reject(w, http.StatusBadRequest, invalid.Error())
		return
	}
	s.OnError(err)
	reject(w, http.StatusInternalServerError, "the recorder cannot read its history")
}

func reject(w http.ResponseWriter, status int, text string) {
	body, _ := json.Marshal(failure{text})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(sanitize.JSON(body), '\n')) //nolint:errcheck,gosec // fails if the client has disconnected
}

// postAction stores an action that an operator performed with electop on another host. It uses the time of the
// recorder's clock, because the recorder compares this time with the recorded ends of terms. The parameter age says how
// long ago the action was, by the client's clock.
func (s *server) postAction(w http.ResponseWriter, r *http.Request) {
	var a history.Action
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
	switch {
	case s.Token == "" && !s.Local:
		reject(w, http.StatusForbidden, "the action was not stored: the recorder accepts actions from other hosts only with --bearer-token-file")
	case err != nil:
		reject(w, http.StatusRequestEntityTooLarge, "the action is too large or incomplete")
	case json.Unmarshal(text, &a) != nil || !a.Valid():
		reject(w, http.StatusBadRequest, "the request body is not a valid action")
	case !take(w, s.posts):
	default:
		time.AfterFunc(postsWithin, func() { <-s.posts })
		age, _ := time.ParseDuration(r.URL.Query().Get("age"))
		a.Time = time.Now().Add(-max(0, age))
		s.Record(a)
		w.WriteHeader(http.StatusAccepted)
	}
}
