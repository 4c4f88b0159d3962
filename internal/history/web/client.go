package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/redact"
)

const (
	dialTimeout = 5 * time.Second
	// clientTimeout is the timeout of one request, including its response.
	clientTimeout = queryTimeout + 15*time.Second
	// maxErrorBody is the maximum number of bytes that the client reads from an error response.
	maxErrorBody = 64 << 10
)

// ClientOptions configure a client of a recorder.
type ClientOptions struct {
	// URL has the scheme http or https. It may have a path, for example if the recorder is behind a proxy.
	URL string
	// Token is the bearer token. It is sent only to this URL.
	Token string
	// CAs contains the CAs that verify the recorder's certificate. nil means the system's CAs.
	CAs *x509.CertPool
	// Clusters return the identities of the observed clusters, or "" if they are unknown. They delay each request.
	// Requests to the recorder of another cluster fail with [history.ErrCluster].
	Clusters []func(context.Context) string
}

// Client is a [history.Source] that reads the history of a recorder.
type Client struct {
	ClientOptions
	base *url.URL
	http *http.Client
}

// ParseURL parses the URL of a recorder.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("not a valid URL") // the parser's error could contain a password
	case u.Scheme != "http" && u.Scheme != "https":
		err = errors.New("the URL of a recorder must begin with https:// or http://")
	case u.User != nil:
		err = errors.New("the URL must not contain a user name or password, because other users can see the URL; use --history-token-file")
	case u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		err = errors.New("must be https://HOST:PORT or https://HOST:PORT/PATH")
	}
	return u, err
}

// NewClient returns a client. It sends no request.
func NewClient(o ClientOptions) (*Client, error) {
	base, err := ParseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the history token contains a space, a control character or a non-ASCII character")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: o.CAs, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2: true, MaxConnsPerHost: 4,
	}
	return &Client{ClientOptions: o, base: base, http: &http.Client{
		Transport: transport, Timeout: clientTimeout,
		// Do not follow redirects: no other URL may receive the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// send sends a request. It returns an error if the status of the response is not 2xx. The caller must close the body
// of the response.
func (c *Client) send(ctx context.Context, method, path string, v url.Values, body io.Reader) (*http.Response, error) {
	u := *c.base
	u.Path, u.RawPath, u.RawQuery = strings.TrimSuffix(u.Path, "/")+path, "", v.Encode()
	if len(u.RawQuery) > maxQuery {
		return nil, c.errorf("too many names for one request; select fewer elections")
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, c.errorf("invalid request")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for _, cluster := range c.Clusters {
		r.Header.Add(headerCluster, cluster(ctx))
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.describe(ctx, err)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close() // the error does not contain it
	var f failure
	json.NewDecoder(io.LimitReader(response.Body, maxErrorBody)).Decode(&f) //nolint:errcheck,gosec // another body names no known error
	for known := range statuses() {
		if f.Error == known.Error() {
			return nil, c.errorf("%w", known)
		}
	}
	why := map[int]string{
		http.StatusUnauthorized: "the token was rejected", http.StatusNotFound: "there is no recorder at this URL",
		http.StatusBadRequest:         "the request was rejected; use https:// if the recorder uses TLS",
		http.StatusForbidden:          "the recorder denied access",
		http.StatusServiceUnavailable: "the recorder is overloaded or not available",
	}[response.StatusCode]
	switch {
	case response.StatusCode == http.StatusUnauthorized && c.Token == "":
		why = "a token is required; use --history-token-file or ELECTOP_HISTORY_TOKEN"
	case response.StatusCode/100 == 3:
		why = "the response is a redirect, which electop does not follow; use the final URL"
	}
	return nil, c.errorf("%s (HTTP %d)", cmp.Or(why, "the recorder failed; see its log"), response.StatusCode)
}

// read reads JSON objects, one per line.
func read[T any](ctx context.Context, c *Client, path string, v url.Values) (p history.Page[T], err error) {
	response, err := c.send(ctx, http.MethodGet, path, v, nil)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return p, c.describe(ctx, err)
	case len(text) > maxBody:
		return p, c.errorf("the response is larger than %d MB; select a shorter time range", maxBody>>20)
	}
	for line := range bytes.Lines(text) {
		var v T
		if json.Unmarshal(line, &v) != nil {
			return p, c.errorf(otherServer)
		}
		clean(&v)
		p.Items = append(p.Items, v)
	}
	p.More, p.Next = response.Header.Get("Link") != "", history.Cursor(response.Header.Get(headerNext))
	return p, nil
}

// readOne reads one JSON object.
func readOne[T any](ctx context.Context, c *Client, path string, v url.Values) (one T, err error) {
	p, err := read[T](ctx, c, path, v)
	switch {
	case err != nil:
		return one, err
	case len(p.Items) != 1:
		return one, c.errorf(otherServer)
	}
	return p.Items[0], nil
}

// clean makes the fixed words of an object safe to print, because commands print such words unchanged.
func clean(object any) {
	switch v := object.(type) {
	case *election.Event:
		word(&v.Type)
		word(&v.Cause)
	case *history.Term:
		word(&v.Cause)
	case *history.State:
		v.Known = v.Elections
		for _, e := range v.Elections {
			for i := range e.Terms {
				word(&e.Terms[i].Cause)
			}
		}
	case *history.Action:
		word(&v.Kind)
		word(&v.Result)
	}
}

func word[T ~string](v *T) { *v = T(sanitize.Line(string(*v), 40)) }

// Events returns a page of events.
func (c *Client) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	return read[election.Event](ctx, c, pathEvents, encode(q))
}

// Terms returns a page of terms.
func (c *Client) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	q.Types = nil
	return read[history.Term](ctx, c, pathTerms, encode(q))
}

// Stats returns statistics of terms and vacancies.
func (c *Client) Stats(ctx context.Context, f history.Filter) (history.Stats, error) {
	return readOne[history.Stats](ctx, c, pathStats, encode(history.EventQuery{Filter: f}))
}

// State returns the state of all elections at a given time.
func (c *Client) State(ctx context.Context, at time.Time) (history.State, error) {
	return readOne[history.State](ctx, c, pathState, url.Values{"at": {at.UTC().Format(time.RFC3339Nano)}})
}

func ofRange(r history.Range) url.Values {
	return encode(history.EventQuery{Filter: history.Filter{Range: r}})
}

// Observations returns the periods that overlap a time range, oldest first.
func (c *Client) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	p, err := read[history.Observation](ctx, c, pathObservations, ofRange(r))
	return p.Items, err
}

// Actions returns the operators' actions in a time range, oldest first.
func (c *Client) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	p, err := read[history.Action](ctx, c, pathActions, ofRange(r))
	return p.Items, err
}

// Elections returns the elections, sorted by key.
func (c *Client) Elections(ctx context.Context) ([]history.Election, error) {
	p, err := read[history.Election](ctx, c, pathElections, nil)
	return p.Items, err
}

// Record stores an action with its result.
func (c *Client) Record(ctx context.Context, a history.Action) error {
	text, _ := json.Marshal(a) // an action always has a JSON form
	response, err := c.send(ctx, http.MethodPost, pathActions, url.Values{"age": {time.Since(a.Time).String()}}, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// errorf formats an error with the recorder's address.
func (c *Client) errorf(format string, args ...any) error {
	return fmt.Errorf("history at %s://%s: %w", c.base.Scheme, c.base.Host, fmt.Errorf(format, args...))
}

// otherServer is the error of a response that cannot be decoded.
const otherServer = "the response was not sent by electop record"

// describe converts an error from the HTTP client to one line. Some errors contain parts of the response, and the
// response can contain the token. Therefore describe replaces the text of unknown types of errors. It does not wrap the
// error, because it would look like an error from Consul.
func (c *Client) describe(ctx context.Context, err error) error {
	var cert *tls.CertificateVerificationError
	switch reason, known := redact.Reason(err); {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &cert):
		return c.errorf("%s; --history-ca-file selects the CA, whose certificates must contain the name of the host", sanitize.Line(cert.Err.Error(), 200))
	case known:
		return c.errorf("%s", reason)
	}
	return c.errorf(otherServer)
}
