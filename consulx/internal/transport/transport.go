// Package transport sends requests to one Consul agent. It rejects responses that Consul did not send, and limits
// the size of every response.
package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
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
)

// Transport contains the connections of one client.
type Transport struct {
	guard
	connections *http.Transport
}

// New opens at most conns connections to an agent. If instead is not nil, it sends all requests. large ensures that
// only one response body above largeBody is read at a time.
func New(a Address, conf *tls.Config, conns int, instead http.RoundTripper, large chan struct{}) *Transport {
	connections := newTransport(a, conf, conns)
	watch := &certificateWatch{RoundTripper: connections}
	watch.observe(connections.TLSClientConfig)
	if instead != nil {
		watch.RoundTripper = instead
	}
	return &Transport{guard{RoundTripper: watch, large: large}, connections}
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() { t.connections.CloseIdleConnections() }

// RefuseRedirect does not follow redirects, so that no other host receives the token. Consul also redirects a path that
// contains "//" or ".." to a different key.
func RefuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// newTransport creates the connections to an agent.
func newTransport(t Address, tlsConfig *tls.Config, conns int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
	}}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return requestFirst(dialer.DialContext(ctx, network, address))
	}
	proxy := http.ProxyFromEnvironment
	if t.socket != "" {
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return requestFirst(dialer.DialContext(ctx, "unix", t.socket))
		}
		proxy = nil
	}
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: tlsConfig, TLSHandshakeTimeout: tlsHandshake,
		// Over loopback, compressing a large response takes longer than sending it uncompressed.
		DisableCompression: t.loopback(),
		ForceAttemptHTTP2:  true,
		HTTP2:              &http.HTTP2Config{SendPingTimeout: keepAliveIdle, PingTimeout: keepAliveIdle},
		MaxConnsPerHost:    conns, MaxIdleConns: conns, MaxIdleConnsPerHost: conns,
		IdleConnTimeout: idleTimeout,
	}
}
