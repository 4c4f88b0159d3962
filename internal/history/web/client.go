package web

import (
	"bytes"
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
}

// Client is a [history.Source] that reads the history of a recorder.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// CheckURL returns an error if text is not a valid URL of a recorder.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("not a valid URL") // the parser's error could contain a password
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL of a recorder must begin with https:// or http://")
	case u.User != nil:
		return errors.New("the URL must not contain a user name or password, because other users can see the URL; use --history-token-file")
	case u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must be https://HOST:PORT or https://HOST:PORT/PATH")
	}
	return nil
}

// Exposed reports whether the history and the token are sent unencrypted over a network with this URL.
func Exposed(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "http" && !Loopback(u.Hostname())
}

// NewClient returns a client. It sends no request.
func NewClient(o ClientOptions) (*Client, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the history token contains a space, a control character or a non-ASCII character")
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: o.CAs, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2, MaxConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}
	return &Client{base: base, token: o.Token, http: &http.Client{
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
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body) //nolint:gosec // the URL is the operator's own flag
	if err != nil {
		return nil, c.errorf("invalid request")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r) //nolint:gosec // the URL is the operator's own flag
	if err != nil {
		return nil, c.describe(ctx, err)
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close()
		return nil, c.rejection(response)
	}
	return response, nil
}

// get reads the body of a response. It limits the size after decompression.
func (c *Client) get(ctx context.Context, path string, v url.Values) ([]byte, http.Header, error) {
	response, err := c.send(ctx, http.MethodGet, path, v, nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, nil, c.describe(ctx, err)
	case len(text) > maxBody:
		return nil, nil, c.errorf("the response is larger than %d MB; select a shorter time range", maxBody>>20)
	}
	return text, response.Header, nil
}

// getObject reads one JSON object.
func (c *Client) getObject(ctx context.Context, path string, v url.Values, into any) error {
	text, _, err := c.get(ctx, path, v)
	if err == nil && json.Unmarshal(text, into) != nil {
		return c.errNotHistory()
	}
	return err
}

// getLines reads JSON objects, one per line.
func getLines[T any](ctx context.Context, c *Client, path string, v url.Values) (all []T, h http.Header, err error) {
	text, h, err := c.get(ctx, path, v)
	if err != nil {
		return nil, nil, err
	}
	for line := range bytes.Lines(text) {
		var v T
		if json.Unmarshal(line, &v) != nil {
			return nil, nil, c.errNotHistory()
		}
		all = append(all, v)
	}
	return all, h, nil
}

// word makes a fixed word from the recorder, such as an event type, safe to print, because commands print such words
// unchanged.
func word[T ~string](v *T) { *v = T(sanitize.Line(string(*v), 40)) }

// more reports whether a response contains a link to another page.
func more(h http.Header) bool { return h.Get("Link") != "" }

// Events returns a page of events.
func (c *Client) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	all, h, err := getLines[election.Event](ctx, c, pathEvents, eventValues(q))
	for i := range all {
		word(&all[i].Type)
		word(&all[i].Cause)
	}
	return history.EventPage{
		Events: all, More: more(h), Older: history.Cursor(h.Get(headerOlder)), Newer: history.Cursor(h.Get(headerNewer)),
	}, err
}

// Terms returns a page of terms.
func (c *Client) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	all, h, err := getLines[history.Term](ctx, c, pathTerms, termValues(q))
	for i := range all {
		word(&all[i].Cause)
	}
	return history.TermPage{
		Terms: all, More: more(h), Older: history.Cursor(h.Get(headerOlder)), Newer: history.Cursor(h.Get(headerNewer)),
	}, err
}

// Stats returns statistics of terms and vacancies.
func (c *Client) Stats(ctx context.Context, f history.Filter) (st history.Stats, err error) {
	err = c.getObject(ctx, pathStats, filterValues(f), &st)
	return st, err
}

// State returns the state of all elections at a given time.
func (c *Client) State(ctx context.Context, q history.StateQuery) (st history.State, err error) {
	v := url.Values{}
	setTime(v, "at", q.At)
	err = c.getObject(ctx, pathState, v, &st)
	for _, e := range st.Elections {
		for i := range e.Terms {
			word(&e.Terms[i].Cause)
		}
	}
	return st, err
}

// Observations returns the periods that overlap a time range, oldest first.
func (c *Client) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	all, _, err := getLines[history.Observation](ctx, c, pathObservations, rangeValues(r))
	return all, err
}

// Actions returns the operators' actions in a time range, oldest first.
func (c *Client) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	all, _, err := getLines[history.Action](ctx, c, pathActions, rangeValues(r))
	for i := range all {
		word(&all[i].Kind)
		word(&all[i].Result)
	}
	return all, err
}

// Elections returns the elections, sorted by key.
func (c *Client) Elections(ctx context.Context) ([]history.Election, error) {
	all, _, err := getLines[history.Election](ctx, c, pathElections, nil)
	return all, err
}

// Record stores an action with its result.
func (c *Client) Record(ctx context.Context, a history.Action) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	response, err := c.send(ctx, http.MethodPost, pathActions, nil, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// errorf formats an error with the recorder's address.
func (c *Client) errorf(format string, args ...any) error {
	return fmt.Errorf("history at "+strings.ReplaceAll(c.base.Scheme+"://"+c.base.Host, "%", "%%")+": "+format, args...)
}

func (c *Client) errNotHistory() error {
	return c.errorf("the response was not sent by electop record")
}
