package consultest

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Fault is a fault that a [Proxy] injects. With the zero value, the proxy forwards everything unchanged.
type Fault struct {
	// Silent delays all bytes in both directions until the fault changes, like a firewall that drops packets.
	Silent bool
	// Latency delays every response.
	Latency time.Duration
	// Respond sends a response instead of Consul's. It also responds to pending requests.
	Respond http.HandlerFunc
	// Alter changes the body of a response. The Content-Length stays the same.
	Alter func(body []byte) []byte
	// CutAfter is the time after which the proxy responds to a pending request with 504.
	CutAfter time.Duration
	// Trickle is the pause after each byte of a body.
	Trickle time.Duration
	// Only selects the requests to which the fault applies; nil selects all. Silent applies to all requests.
	Only func(*http.Request) bool
}

// Blocking reports whether a request is a blocking query.
func Blocking(r *http.Request) bool { return r.URL.Query().Has("index") }

// Proxy forwards HTTP to a Consul agent and injects faults. Its methods are safe for concurrent use.
type Proxy struct {
	target    string
	listener  net.Listener
	server    *http.Server
	transport *http.Transport

	mu      sync.Mutex
	fault   Fault
	changed chan struct{} // closed when the fault changes
	conns   map[*proxyConn]struct{}
}

// StartProxy starts a proxy in front of an agent and stops it when the test ends. With a TLS configuration, the proxy
// serves HTTPS.
func StartProxy(tb testing.TB, target string, config *tls.Config) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(tb, err)
	p := &Proxy{
		target: target, listener: listener, changed: make(chan struct{}), conns: map[*proxyConn]struct{}{},
		transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: time.Hour, ConnContext: withConn,
		ErrorLog: log.New(io.Discard, "", 0), // discard the TLS errors caused by clients that reject the certificate
	}
	var serve net.Listener = proxyListener{listener, p}
	if config != nil {
		serve = tls.NewListener(serve, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.server.Serve(serve)
	}()
	tb.Cleanup(func() {
		p.Set(Fault{})
		_ = p.server.Close()
		p.Reset()
		<-done
		p.transport.CloseIdleConnections()
	})
	return p
}

// Addr returns the proxy's host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set replaces the current fault. The new fault also affects pending requests.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Freeze makes all open connections silent until they are closed, like half-open connections. It does not affect new
// connections.
func (p *Proxy) Freeze() { p.each((*proxyConn).freeze) }

// FreezeBlocked is like Freeze, but only for connections with a pending blocking query. It returns their number.
func (p *Proxy) FreezeBlocked() (n int) {
	p.each(func(c *proxyConn) {
		if c.blocked.Load() > 0 {
			c.freeze()
			n++
		}
	})
	return n
}

// Reset closes all open connections with a TCP reset.
func (p *Proxy) Reset() { p.each((*proxyConn).reset) }

// Conns returns the number of open client connections.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func (p *Proxy) each(do func(*proxyConn)) {
	p.mu.Lock()
	conns := make([]*proxyConn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, c := range conns {
		do(c)
	}
}

func (p *Proxy) current() (Fault, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault, p.changed
}

// faultOf returns the fault that currently applies to a request, and a channel that is closed when the fault changes.
func (p *Proxy) faultOf(r *http.Request) (Fault, <-chan struct{}) {
	fault, changed := p.current()
	if fault.Only != nil && !fault.Only(r) {
		fault = Fault{}
	}
	return fault, changed
}

// ServeHTTP forwards one request and injects the current fault.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if c, ok := r.Context().Value(connKey{}).(*proxyConn); ok && Blocking(r) {
		c.blocked.Add(1)
		defer c.blocked.Add(-1)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answers := make(chan *answer, 1)
	go func() { answers <- p.forward(ctx, r, body) }()
	started := time.Now()
	for {
		fault, changed := p.faultOf(r)
		if fault.Respond != nil {
			fault.Respond(w, r)
			return
		}
		var cut <-chan time.Time
		if fault.CutAfter > 0 {
			timer := time.NewTimer(time.Until(started.Add(fault.CutAfter)))
			defer timer.Stop()
			cut = timer.C
		}
		select {
		case <-changed:
		case <-cut:
			Reply(http.StatusGatewayTimeout, "text/html", "<html><body><h1>504 Gateway Time-out</h1></body></html>")(w, r)
			return
		case a := <-answers:
			p.deliver(ctx, w, r, a)
			return
		}
	}
}

// answer is Consul's response. A nil pointer means that the request failed.
type answer struct {
	response *http.Response
	body     []byte
}

func (p *Proxy) forward(ctx context.Context, r *http.Request, body []byte) *answer {
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = "http", p.target, ""
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	response, err := p.transport.RoundTrip(out)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil
	}
	return &answer{response, got}
}

// deliver forwards Consul's response. If the request to Consul failed, the proxy closes the connection of the client.
func (p *Proxy) deliver(ctx context.Context, w http.ResponseWriter, r *http.Request, a *answer) {
	fault, changed := p.faultOf(r)
	if fault.Latency > 0 {
		late := time.NewTimer(fault.Latency)
		defer late.Stop()
		select {
		case <-late.C:
		case <-changed:
		case <-ctx.Done():
		}
		fault, changed = p.faultOf(r)
	}
	if fault.Respond != nil {
		fault.Respond(w, r)
		return
	}
	if a == nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.response.Header {
		w.Header()[name] = values
	}
	body := a.body
	if fault.Alter != nil {
		body = fault.Alter(bytes.Clone(body))
	}
	w.WriteHeader(a.response.StatusCode)
	sent := len(body)
	body = trickle(ctx, w, body, fault.Trickle, changed)
	if _, err := w.Write(body); err != nil || sent < len(a.body) {
		panic(http.ErrAbortHandler) // abort, because the body is shorter than Content-Length
	}
}

// trickle sends a body byte by byte until the fault changes or the request ends. It returns the bytes that were not
// sent.
func trickle(ctx context.Context, w http.ResponseWriter, body []byte, pause time.Duration, changed <-chan struct{}) []byte {
	if pause == 0 {
		return body
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for ; len(body) > 0; body = body[1:] {
		if _, err := w.Write(body[:1]); err != nil {
			panic(http.ErrAbortHandler)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-changed:
			return body[1:]
		case <-ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}

// Reply returns a handler that sends a fixed response without Consul's headers.
func Reply(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
