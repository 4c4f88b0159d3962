package memconsul

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// RoundTrip serves a client's request without a network, in the caller's goroutine, so that an api.Client can be used
// inside a testing/synctest bubble:
//
//	api.NewClient(&api.Config{HttpClient: &http.Client{Transport: agent}})
//
// If the context of a request ends while the request waits, RoundTrip returns the context's error.
func (a *Agent) RoundTrip(r *http.Request) (*http.Response, error) {
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	defer func() { _ = served.Body.Close() }()
	w := &responseBuffer{header: http.Header{}}
	a.ServeHTTP(w, served)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.response(r), nil
}

// responseBuffer is a ResponseWriter that stores the response.
type responseBuffer struct {
	header http.Header // the handler sets these headers
	sent   http.Header // copy of header at the time of WriteHeader
	code   int
	body   bytes.Buffer
}

// Header returns the headers of the response.
func (w *responseBuffer) Header() http.Header { return w.header }

// WriteHeader sets the status code, once.
func (w *responseBuffer) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
	}
}

// Write appends to the body. It never fails.
func (w *responseBuffer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *responseBuffer) response(r *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        strconv.Itoa(w.code) + " " + http.StatusText(w.code),
		StatusCode:    w.code,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.sent,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}
}
