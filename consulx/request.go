package consulx

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/hashicorp/consul/api"
)

// Get sends a read and passes the response to decode, unless the response is a 404. decode must not keep a reference
// to text.
func (c *Client) Get(path string, params url.Values, q *api.QueryOptions, decode func(text []byte) error) (*api.QueryMeta, error) {
	if q.AllowStale {
		params.Set("stale", "")
	}
	if q.RequireConsistent {
		params.Set("consistent", "")
	}
	if q.WaitIndex > 0 {
		params.Set("index", strconv.FormatUint(q.WaitIndex, 10))
		params.Set("wait", strconv.FormatInt(q.WaitTime.Milliseconds(), 10)+"ms")
	}
	header, err := c.request(q.Context(), http.MethodGet, path, params, nil, decode)
	if err != nil {
		return nil, c.Wrap(err)
	}
	meta := &api.QueryMeta{
		KnownLeader:           header.Get("X-Consul-Knownleader") == "true",
		DefaultACLPolicy:      header.Get("X-Consul-Default-Acl-Policy"),
		ResultsFilteredByACLs: header.Get("X-Consul-Results-Filtered-By-Acls") == "true",
	}
	meta.LastIndex, _ = strconv.ParseUint(header.Get("X-Consul-Index"), 10, 64) // the transport has already checked the index
	return meta, nil
}

// keptBody is the size of the largest buffer that is reused: several times the size of a list of 10,000 elections. The
// buffer of a larger response is not kept, because it would occupy memory permanently.
const keptBody = 16 << 20

// post sends a POST request. The raw API of Consul's library can send a body only with PUT.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	_, err = c.request(ctx, http.MethodPost, path, url.Values{}, bytes.NewReader(body), func(text []byte) error {
		return json.Unmarshal(text, out)
	})
	return c.Wrap(err)
}

// request sends a request and passes the response to decode, unless the response is a 404 to a read.
func (c *Client) request(
	ctx context.Context, method, path string, params url.Values, in io.Reader, decode func(text []byte) error,
) (http.Header, error) {
	r, err := c.newRequest(ctx, method, path, params, in)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNotFound && method == http.MethodGet {
		return response.Header, nil
	}
	body, ok := c.bodies.Get().(*bytes.Buffer)
	if !ok {
		body = new(bytes.Buffer)
	}
	defer func() {
		if body.Cap() <= keptBody {
			c.bodies.Put(body)
		}
	}()
	body.Reset()
	if _, err := body.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, api.StatusError{Code: response.StatusCode, Body: strings.TrimSpace(body.String())}
	}
	return response.Header, decode(body.Bytes())
}

func (c *Client) newRequest(ctx context.Context, method, path string, params url.Values, body io.Reader) (*http.Request, error) {
	for name, value := range map[string]string{"dc": c.datacenter, "ns": c.namespace, "partition": c.partition} {
		if value != "" {
			params.Set(name, value)
		}
	}
	u := *c.endpoint
	u.Path, u.RawQuery = u.Path+path, params.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("X-Consul-Token", c.token)
	}
	if c.auth != nil {
		r.SetBasicAuth(c.auth.Username, c.auth.Password)
	}
	return r, nil
}
