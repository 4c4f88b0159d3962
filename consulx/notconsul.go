package consulx

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"electop/election/sanitize"
)

// checkOrigin rejects a response without a valid index. Consul sends an index with every read of keys, sessions,
// nodes and health checks, even with a 404.
func checkOrigin(r *http.Request, response *http.Response) error {
	if r.Method != http.MethodGet || !slices.ContainsFunc([]string{"/v1/kv/", "/v1/session/", "/v1/health/", "/v1/catalog/node"},
		func(endpoint string) bool { return strings.Contains(r.URL.Path, endpoint) }) {
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

// NotConsul returns the error for a response that Consul never sends.
func NotConsul(found string) error {
	return fmt.Errorf("the response is not Consul's: %s; check for a proxy between electop and Consul", found)
}
