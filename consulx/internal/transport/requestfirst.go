package transport

import (
	"io"
	"net"
	"sync"
	"time"
)

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
		timeout := time.NewTimer(firstRequest)
		defer timeout.Stop()
		select {
		case <-c.ready:
		case <-timeout.C:
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
