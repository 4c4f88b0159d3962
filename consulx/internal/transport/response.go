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

// guard is the transport below Consul's library. It rejects responses that Consul did not send, and limits the size of
// every response.
type guard struct {
	http.RoundTripper
	large chan struct{} // the channel is full while a body above largeBody is being read
}

// RoundTrip sends a request and checks the response.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := checkOrigin(r, response); err != nil {
		_ = response.Body.Close() // the response is rejected, so its body is not read
		return nil, err
	}
	if writesLock(r) && response.StatusCode == http.StatusOK {
		if err := checkVerdict(response); err != nil {
			return nil, err
		}
	}
	if response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusConflict {
		response.Body = cutBody{io.LimitReader(response.Body, errorLimit), response.Body}
		return response, nil
	}
	response.Body = &boundedBody{
		ReadCloser: response.Body, slot: g.large, done: r.Context().Done(), cause: r.Context().Err, direct: largeBody,
	}
	return response, nil
}

// checkOrigin rejects a response without a valid index. Consul sends an index with every read of keys, sessions,
// nodes and health checks, even with a 404.
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
		found = "with the invalid X-Consul-Index " + strconv.Quote(sanitize.Line(text, 20))
	}
	return NotConsul(fmt.Sprintf("HTTP %d %s", response.StatusCode, found))
}

// writesLock reports whether a request acquires or releases a key.
func writesLock(r *http.Request) bool {
	query := r.URL.Query()
	return r.Method == http.MethodPut && (query.Has("acquire") || query.Has("release"))
}

// checkVerdict rejects a response to an acquire or release that is neither true nor false. Consul's library accepts
// every response that contains "true".
func checkVerdict(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, errorLimit))
	_ = response.Body.Close() // the rest of the body is not needed
	if err != nil {
		return err
	}
	switch strings.TrimSpace(string(body)) {
	case "true", "false":
		response.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	return NotConsul("it is neither true nor false")
}

// NotConsul returns the error for a response that Consul never sends.
func NotConsul(found string) error {
	return fmt.Errorf("the response is not Consul's: %s; check for a proxy between electop and Consul", found)
}

// indexed reports whether the responses of an endpoint contain an index.
func indexed(path string) bool {
	for _, endpoint := range []string{"/v1/kv/", "/v1/session/", "/v1/health/", "/v1/catalog/node"} {
		if strings.Contains(path, endpoint) {
			return true
		}
	}
	return false
}
