package etcdtest

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"electop/internal/consultest"
)

// Proxy forwards TCP to a member. Its methods are safe for concurrent use.
type Proxy struct {
	scheme, target string
	listener       net.Listener
	wg             sync.WaitGroup

	mu    sync.Mutex
	down  bool
	conns map[*pair]struct{}
}

// pair is a connection of a client with its connection to the member.
type pair struct {
	client, member net.Conn
	frozen         chan struct{} // closed when the pair becomes silent
	closed         chan struct{}
	freeze, end    func()
}

// StartProxy starts a proxy in front of the first member and ends it when the test ends.
func StartProxy(tb testing.TB, c *Cluster) *Proxy {
	tb.Helper()
	target, err := url.Parse(c.Members[0].Endpoint())
	consultest.Must(tb, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	consultest.Must(tb, err)
	p := &Proxy{scheme: target.Scheme, target: target.Host, listener: listener, conns: map[*pair]struct{}{}}
	p.wg.Go(p.serve)
	tb.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// Endpoint returns the URL of the proxy.
func (p *Proxy) Endpoint() string { return p.scheme + "://" + p.listener.Addr().String() }

// Cut closes all connections, and closes new ones at once until [Proxy.Heal].
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.end()
	}
}

// Heal accepts new connections again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Freeze makes all open connections silent, like half-open connections. It does not affect new connections.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.freeze()
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.forward(client) })
	}
}

func (p *Proxy) forward(client net.Conn) {
	defer client.Close()
	member, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	c := &pair{client: client, member: member, frozen: make(chan struct{}), closed: make(chan struct{})}
	c.freeze = sync.OnceFunc(func() { close(c.frozen) })
	c.end = sync.OnceFunc(func() {
		close(c.closed)
		_ = client.Close()
		_ = member.Close()
	})
	p.mu.Lock()
	p.conns[c] = struct{}{}
	if p.down {
		c.end()
	}
	p.mu.Unlock()
	p.wg.Go(func() { c.copy(member, client) })
	c.copy(client, member)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// copy forwards one direction until a connection ends. A frozen pair reads nothing, forwards nothing, and stays open.
func (c *pair) copy(to, from net.Conn) {
	defer c.end()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-c.frozen:
			<-c.closed
			return
		default:
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
