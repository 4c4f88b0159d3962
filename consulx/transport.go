package consulx

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The kernel reports a dead connection after 14 s: after 5 s without data, it sends three probes at intervals of 3 s.
// Behind a proxy, the query's deadline applies.
const (
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 3 * time.Second
	keepAliveCount    = 3
)

const (
	dialTimeout  = 5 * time.Second
	idleTimeout  = 90 * time.Second
	tlsHandshake = 5 * time.Second
	// responseTimeout ends a request to a server that has stopped, and is longer than a blocking query. requestTimeout ends
	// a response whose end does not arrive.
	responseTimeout = 30 * time.Second
	requestTimeout  = time.Minute
)

// agentTransport sends the requests of one client and checks the responses.
type agentTransport struct{ to http.RoundTripper }

// CloseIdleConnections closes the connections that no request uses.
func (t agentTransport) CloseIdleConnections() {
	(&http.Client{Transport: t.to}).CloseIdleConnections()
}

// refuseRedirect does not follow redirects, so that no other host receives the token. Consul also redirects a path that
// contains "//" or ".." to a different key.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// newTransport creates at most conns connections to an agent.
func newTransport(t agentAddress, tlsConfig *tls.Config, conns int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
	}}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if t.Scheme == unixScheme {
			network, address = unixScheme, t.Path
		}
		return requestFirst(dialer.DialContext(ctx, network, address))
	}
	proxy := http.ProxyFromEnvironment
	if t.Scheme == unixScheme {
		proxy = nil
	}
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: tlsConfig, TLSHandshakeTimeout: tlsHandshake,
		// Over loopback, compressing a large response takes longer than sending it uncompressed.
		DisableCompression: t.loopback(),
		ForceAttemptHTTP2:  true,
		HTTP2:              &http.HTTP2Config{SendPingTimeout: keepAliveIdle, PingTimeout: keepAliveIdle},
		MaxConnsPerHost:    conns, MaxIdleConns: conns, MaxIdleConnsPerHost: conns,
		IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: responseTimeout,
	}
}

// Limits of a response body after decompression, in bytes.
const (
	// bodyLimit is several times the size of a list of 100,000 elections (36 MB).
	bodyLimit = 256 << 20
	// errorLimit is far above the size of Consul's error bodies.
	errorLimit = 64 << 10
)

// neverSent reports whether an error occurred before the request was sent.
func neverSent(err error) bool {
	op, network := errors.AsType[*net.OpError](err)
	return network && op.Op == "dial" || isType[*net.DNSError](err) || isType[*tls.CertificateVerificationError](err) ||
		isType[tls.RecordHeaderError](err)
}

// firstRequest is the maximum delay of the first read. net/http usually sends a request immediately after it has opened
// a connection. The delay is limited, because net/http must also detect that the server closes an unused connection.
const firstRequest = 100 * time.Millisecond

// clientFirst delays the first read until the first write, but at most for firstRequest. Consul sends a 429 when it
// accepts a connection above its limit. If net/http reads this response before it sends a request, it reports a broken
// connection, which would count as unreachable, and logs to stderr.
type clientFirst struct {
	net.Conn
	started func() // unblocks reads
	ready   <-chan struct{}
}

// requestFirst wraps a connection in a clientFirst.
func requestFirst(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	return &clientFirst{conn, sync.OnceFunc(func() { close(ready) }), ready}, nil
}

func (c *clientFirst) Read(b []byte) (int, error) {
	select {
	case <-c.ready:
	default:
		select {
		case <-c.ready:
		case <-time.After(firstRequest):
		}
	}
	n, err := c.Conn.Read(b)
	select {
	case <-c.ready:
		return n, err
	default: // no request was sent, so net/http only has to close the connection
		return 0, io.EOF
	}
}

func (c *clientFirst) Write(b []byte) (int, error) {
	c.started()
	return c.Conn.Write(b)
}

func (c *clientFirst) Close() error {
	defer c.started()
	return c.Conn.Close()
}

// RoundTrip sends a request and checks the response. It rejects responses that Consul did not send, and limits the size
// of every response.
func (t agentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, authorizePath) { // Consul's library can send a body only with PUT
		r = r.Clone(r.Context())
		r.Method = http.MethodPost
	}
	response, err := t.to.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := checkOrigin(r, response); err != nil {
		_ = response.Body.Close() // the response is rejected, so its body is not read
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, bodyLimit)
	if response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusConflict {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, errorLimit), response.Body}
	}
	return response, nil
}
