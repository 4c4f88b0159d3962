package consulx

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A server that responds before the request arrives, like Consul above its limit of connections, must not be read
// before the request is sent.
func TestNothingIsReadBeforeTheRequest(t *testing.T) {
	for what, start := range map[string]func(net.Conn) error{
		"a request": func(c net.Conn) error { _, err := io.WriteString(c, "GET"); return err },
		"a close":   net.Conn.Close,
		"a timeout": func(net.Conn) error { <-time.NewTimer(firstRequest).C; return nil },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer far.Close()
				conn, err := requestFirst(near, nil)
				must(t, err)
				defer conn.Close()
				go func() { _, _ = io.WriteString(far, "HTTP/1.1 429 Too Many Requests") }()
				go func() { _, _ = io.Copy(io.Discard, far) }()
				var read, got atomic.Bool
				go func() {
					n, _ := conn.Read(make([]byte, 100))
					got.Store(n > 0)
					read.Store(true)
				}()
				synctest.Wait()
				if read.Load() {
					t.Error("the response was read before the request was sent")
				}
				if err := start(conn); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if !read.Load() || got.Load() != (what == "a request") {
					t.Errorf("the read returned: %t, with a response: %t", read.Load(), got.Load())
				}
			})
		})
	}
}
