package consultest

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// proxyListener registers the accepted connections with the proxy.
type proxyListener struct {
	net.Listener
	p *Proxy
}

// Accept waits for the next connection.
func (l proxyListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &proxyConn{Conn: conn, p: l.p, frozen: make(chan struct{}), closed: make(chan struct{})}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.conns[c] = struct{}{}
	return c, nil
}

// proxyConn is a client's connection that can be made silent.
type proxyConn struct {
	net.Conn
	p *Proxy

	freezing, closing sync.Once
	frozen, closed    chan struct{}
	blocked           atomic.Int32 // number of pending blocking queries on this connection
}

type connKey struct{}

// withConn stores the connection in the context of its requests.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

func (c *proxyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.pass()
	return n, err
}

func (c *proxyConn) Write(b []byte) (int, error) {
	c.pass()
	return c.Conn.Write(b)
}

// pass waits until neither the proxy nor this connection is silent, or until the connection is closed.
func (c *proxyConn) pass() {
	for {
		fault, changed := c.p.current()
		if !fault.Silent {
			changed = nil
			select {
			case <-c.frozen:
			default:
				return
			}
		}
		select {
		case <-changed:
		case <-c.closed:
			return
		}
	}
}

func (c *proxyConn) freeze() { c.freezing.Do(func() { close(c.frozen) }) }

// Close closes the connection and unblocks reads and writes on it.
func (c *proxyConn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.p.mu.Lock()
		defer c.p.mu.Unlock()
		delete(c.p.conns, c)
	})
	return c.Conn.Close()
}

func (c *proxyConn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
