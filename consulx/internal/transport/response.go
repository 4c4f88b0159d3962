package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"electop/election/sanitize"
)

// Limits of a response body after decompression, in bytes.
const (
	// BodyLimit allows several times the lists of 100,000 elections (36 MB).
	BodyLimit = 256 << 20
	// errorLimit is far above the size of Consul's errors.
	errorLimit = 64 << 10
	// largeBody is the size above which bodies are read one at a time: otherwise every
	// query could use BodyLimit at once.
	largeBody = 8 << 20
)

// errTooLarge reports a body above BodyLimit.
var errTooLarge = fmt.Errorf("the response is larger than %d MB", BodyLimit>>20)

// guard is the transport below Consul's library. It rejects foreign responses and limits
// bodies.
type guard struct {
	http.RoundTripper
	large chan struct{} // held by the reader of a body above largeBody
}

// RoundTrip sends a request and checks the response.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := checkOrigin(r, response); err != nil {
		_ = response.Body.Close() // the rest is not needed
		return nil, err
	}
	if writesLock(r) && response.StatusCode == http.StatusOK {
		if err := checkVerdict(response); err != nil {
			return nil, err
		}
	}
	body := &boundedBody{ReadCloser: response.Body, guard: g, done: r.Context().Done(), cause: r.Context().Err, left: BodyLimit}
	if response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusConflict {
		body.left, body.cut = errorLimit, true
	}
	response.Body = body
	return response, nil
}

// checkOrigin rejects a response without a valid index: Consul sends one with every read
// of keys, sessions, nodes and checks, also with a 404.
func checkOrigin(r *http.Request, response *http.Response) error {
	if r.Method != http.MethodGet || !indexed(r.URL.Path) {
		return nil
	}
	if code := response.StatusCode; code != http.StatusOK && code != http.StatusNotFound {
		return nil
	}
	text := response.Header.Get("X-Consul-Index")
	if index, err := strconv.ParseUint(text, 10, 64); err == nil && index > 0 {
		return nil
	}
	found := "without X-Consul-Index"
	if text != "" {
		found = "with the X-Consul-Index " + strconv.Quote(sanitize.Line(text, 20))
	}
	return NotConsul(fmt.Sprintf("HTTP %d %s", response.StatusCode, found))
}

// writesLock reports whether a request acquires or releases a key.
func writesLock(r *http.Request) bool {
	query := r.URL.Query()
	return r.Method == http.MethodPut && (query.Has("acquire") || query.Has("release"))
}

// checkVerdict rejects a response to an acquire or a release other than true or false:
// Consul's library accepts any text that contains "true".
func checkVerdict(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, errorLimit))
	_ = response.Body.Close() // the body was read or cannot be
	if err != nil {
		return err
	}
	switch strings.TrimSpace(string(body)) {
	case "true", "false":
		response.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	return NotConsul("neither true nor false")
}

// NotConsul returns the error of a response that Consul never sends.
func NotConsul(found string) error {
	return fmt.Errorf("the response is not Consul's: %s; is there a proxy in between?", found)
}

// indexed reports whether an endpoint's responses contain an index.
func indexed(path string) bool {
	for _, endpoint := range []string{"/v1/kv/", "/v1/session/", "/v1/health/", "/v1/catalog/node"} {
		if strings.Contains(path, endpoint) {
			return true
		}
	}
	return false
}

// boundedBody ends after left bytes: with an error, or as if complete if cut is set.
type boundedBody struct {
	io.ReadCloser
	guard guard
	done  <-chan struct{} // of the request's context, with its cause
	cause func() error
	read  int64
	left  int64
	cut   bool
	large bool // holds the guard's slot for a large body
}

// Read returns the next bytes of the body.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if b.cut {
			return 0, io.EOF
		}
		return b.probe()
	}
	if err := b.enter(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.read, b.left = b.read+int64(n), b.left-int64(n)
	return n, err
}

// probe distinguishes a body of exactly the limit from a larger one.
func (b *boundedBody) probe() (int, error) {
	switch n, err := b.ReadCloser.Read(make([]byte, 1)); {
	case n > 0:
		return 0, errTooLarge
	case err != nil:
		return 0, err
	}
	return 0, nil
}

// enter waits until no other large body is read.
func (b *boundedBody) enter() error {
	if b.large || b.read < largeBody {
		return nil
	}
	select {
	case b.guard.large <- struct{}{}:
		b.large = true
		return nil
	case <-b.done:
		return b.cause()
	}
}

// Close ends the body and releases the slot for large bodies.
func (b *boundedBody) Close() error {
	if b.large {
		b.large = false
		<-b.guard.large
	}
	return b.ReadCloser.Close()
}
