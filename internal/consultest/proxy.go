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

// Fault is what a [Proxy] does to its traffic. The zero value forwards everything unchanged.
type Fault struct {
	// Silent holds back every byte in both directions, as a firewall that drops packets does.
	Silent bool
	// Latency delays every response.
	Latency time.Duration
	// Respond answers instead of Consul, requests that wait for Consul included.
	Respond http.HandlerFunc
	// Alter changes the bodies of Consul's responses. The Content-Length stays that of Consul.
	Alter func(body []byte) []byte
	// CutAfter answers a request that has waited for so long with 504.
	CutAfter time.Duration
}

// Proxy forwards HTTP to a Consul agent and injects faults. Its methods may be called from any goroutine.
type Proxy struct {
	target    string
	listener  net.Listener
	server    *http.Server
	transport *http.Transport

	mu      sync.Mutex
	fault   Fault
	changed chan struct{} // closed when fault changes
	conns   map[*proxyConn]struct{}
}

// StartProxy starts a proxy in front of an agent's address. With a TLS configuration its clients must use HTTPS.
func StartProxy(tb testing.TB, target string, config *tls.Config) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{
		target: target, listener: listener, changed: make(chan struct{}), conns: map[*proxyConn]struct{}{},
		transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: time.Hour, ConnContext: withConn,
		ErrorLog: log.New(io.Discard, "", 0), // clients that reject a certificate
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

// Addr is the proxy's host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set replaces the current fault. Requests that are under way are subject to the new one.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Freeze makes every present connection silent for ever. New connections work: the peers are half open.
func (p *Proxy) Freeze() { p.each((*proxyConn).freeze) }

// FreezeBlocked does so to the connections on which a blocking query waits.
func (p *Proxy) FreezeBlocked() {
	p.each(func(c *proxyConn) {
		if c.blocked.Load() > 0 {
			c.freeze()
		}
	})
}

// Reset ends every present connection with a TCP reset.
func (p *Proxy) Reset() { p.each((*proxyConn).reset) }

// Conns is the number of open connections of clients.
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

// ServeHTTP forwards one request under the fault of the moment.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if c, ok := r.Context().Value(connKey{}).(*proxyConn); ok && r.URL.Query().Has("index") {
		c.blocked.Add(1)
		defer c.blocked.Add(-1)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answers := make(chan *answer, 1)
	go func() { answers <- p.forward(ctx, r, body) }()
	started := time.Now()
	for {
		fault, changed := p.current()
		if fault.Respond != nil {
			fault.Respond(w, r)
			return
		}
		var cut <-chan time.Time
		if fault.CutAfter > 0 {
			cut = time.After(time.Until(started.Add(fault.CutAfter)))
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

// answer is Consul's response, nil if there is none.
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

// deliver passes Consul's response on. When Consul closed the connection, so does the proxy.
func (p *Proxy) deliver(ctx context.Context, w http.ResponseWriter, r *http.Request, a *answer) {
	fault, changed := p.current()
	if fault.Latency > 0 {
		late := time.NewTimer(fault.Latency)
		defer late.Stop()
		select {
		case <-late.C:
		case <-changed:
		case <-ctx.Done():
		}
		fault, _ = p.current()
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
	if _, err := w.Write(body); err != nil || len(body) < len(a.body) {
		panic(http.ErrAbortHandler) // the rest of the announced length never comes
	}
}

// Reply makes a handler that gives one response, without any of Consul's headers.
func Reply(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
