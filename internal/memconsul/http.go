package memconsul

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"electop/internal/memconsul/store"
)

// request is one HTTP request with its parsed parameters.
type request struct {
	w      http.ResponseWriter
	r      *http.Request
	params url.Values
	opts   queryOptions
	rest   string // the part of the path after the route's prefix
}

// route assigns a handler to a path. A path that ends with a slash matches all paths below it.
type route struct {
	path    string
	methods []string
	handle  func(*request) (any, error)
}

func (a *Agent) routeTable() []route {
	get, put := []string{http.MethodGet}, []string{http.MethodPut}
	return []route{
		{"/v1/kv/", []string{http.MethodGet, http.MethodPut, http.MethodDelete}, a.serveKV},
		{"/v1/txn", put, a.serveTxn},
		{"/v1/session/create", put, a.serveSessionCreate},
		{"/v1/session/destroy/", put, a.serveSessionDestroy},
		{"/v1/session/renew/", put, a.serveSessionRenew},
		{"/v1/session/info/", get, a.serveSessionInfo},
		{"/v1/session/node/", get, a.serveSessionNode},
		{"/v1/session/list", get, a.serveSessionList},
		{"/v1/health/node/", get, a.serveHealthNode},
		{"/v1/health/state/", get, a.serveHealthState},
		{"/v1/catalog/register", put, a.serveCatalogRegister},
		{"/v1/catalog/deregister", put, a.serveCatalogDeregister},
		{"/v1/catalog/nodes", get, a.serveCatalogNodes},
		{"/v1/catalog/node/", get, a.serveCatalogNode},
		{"/v1/catalog/datacenters", get, a.serveDatacenters},
		{"/v1/agent/self", get, a.serveSelf},
		{"/v1/agent/service/register", put, a.serveServiceRegister},
		{"/v1/agent/service/deregister/", put, a.serveServiceDeregister},
		{"/v1/agent/check/register", put, a.serveCheckRegister},
		{"/v1/agent/check/deregister/", put, a.serveCheckDeregister},
		{"/v1/agent/check/pass/", put, a.serveCheckNote(store.StatusPassing)},
		{"/v1/agent/check/warn/", put, a.serveCheckNote(store.StatusWarning)},
		{"/v1/agent/check/fail/", put, a.serveCheckNote(store.StatusCritical)},
		{"/v1/agent/check/update/", put, a.serveCheckUpdate},
		{"/v1/status/leader", get, a.serveLeader},
		{"/v1/status/peers", get, a.servePeers},
		{"/v1/acl/token/self", get, a.serveACLsOff},
		{"/v1/internal/acl/authorize", []string{http.MethodPost}, a.serveACLsOff},
	}
}

// httpError is an error with its status code. As in Consul, every other error results in status 500.
type httpError struct {
	code int
	text string
}

// Error returns the body of the response.
func (e *httpError) Error() string { return e.text }

// refused returns an error with status 500 and Consul's text, including the capital letter.
func refused(format string, args ...any) error {
	return &httpError{http.StatusInternalServerError, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return &httpError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &httpError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// ServeHTTP responds to one request of Consul's HTTP API.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.ContainsFunc(r.URL.Path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	rt, ok := a.findRoute(r.URL.Path)
	if !ok {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "Invalid URL path: not a recognized HTTP API endpoint\n")
		return
	}
	w.Header().Set("X-Consul-Default-Acl-Policy", "allow")
	if !slices.Contains(rt.methods, r.Method) {
		w.Header().Set("Allow", strings.Join(append([]string{http.MethodOptions}, rt.methods...), ","))
		writeError(w, &httpError{http.StatusMethodNotAllowed, "method " + r.Method + " not allowed"})
		return
	}
	rq := &request{w: w, r: r, params: r.URL.Query(), rest: strings.TrimPrefix(r.URL.Path, rt.path)}
	body, err := a.dispatch(rt, rq)
	switch {
	case err != nil:
		writeError(w, err)
	case body != nil:
		rq.writeJSON(http.StatusOK, "application/json", body)
	default:
		// The call has no effect if the handler has already written its response.
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
}

func (a *Agent) dispatch(rt route, rq *request) (any, error) {
	var err error
	if rq.opts, err = parseQueryOptions(rq.params); err != nil {
		return nil, err
	}
	dc := rq.params.Get("datacenter")
	if dc == "" {
		dc = rq.params.Get("dc")
	}
	if dc != "" && dc != a.cfg.Datacenter {
		return nil, refused("No path to datacenter")
	}
	return rt.handle(rq)
}

func (a *Agent) findRoute(path string) (route, bool) {
	for _, rt := range a.routes {
		if path == rt.path || strings.HasSuffix(rt.path, "/") && strings.HasPrefix(path, rt.path) {
			return rt, true
		}
	}
	return route{}, false
}

func writeError(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var refusal *httpError
	if errors.As(err, &refusal) {
		code = refusal.code
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, err.Error())
}

// writeJSON writes the body in Consul's format: compact, or indented if the request has ?pretty.
func (rq *request) writeJSON(code int, contentType string, body any) {
	var (
		data []byte
		err  error
	)
	if rq.params.Has("pretty") {
		data, err = json.MarshalIndent(body, "", "    ")
		data = append(data, '\n')
	} else {
		data, err = json.Marshal(body)
	}
	if err != nil {
		writeError(rq.w, err)
		return
	}
	rq.w.Header().Set("Content-Type", contentType)
	rq.w.WriteHeader(code)
	_, _ = rq.w.Write(data)
}

// decodeJSON decodes the request's body. Unlike Consul, it accepts unknown fields, because this package does not
// define all fields of Consul.
func (rq *request) decodeJSON(into any) error {
	if err := json.NewDecoder(rq.r.Body).Decode(into); err != nil {
		return badRequest("Request decode failed: %v", err)
	}
	return nil
}

func (rq *request) setLeaderHeaders() {
	rq.w.Header().Set("X-Consul-Knownleader", "true")
	rq.w.Header().Set("X-Consul-Lastcontact", "0")
}

// setConsistencyHeader sets a header that Consul sends only from the catalog and health endpoints.
func (rq *request) setConsistencyHeader() {
	rq.w.Header().Set("X-Consul-Effective-Consistency", rq.opts.consistency)
}

func (a *Agent) serveLeader(*request) (any, error) { return a.rpcAddr(), nil }

func (a *Agent) servePeers(*request) (any, error) { return []string{a.rpcAddr()}, nil }

// rpcAddr returns the address on which a real server would listen for its peers.
func (a *Agent) rpcAddr() string { return a.cfg.Address + ":8300" }

func (a *Agent) serveACLsOff(*request) (any, error) {
	return nil, &httpError{http.StatusUnauthorized, "ACL support disabled"}
}
