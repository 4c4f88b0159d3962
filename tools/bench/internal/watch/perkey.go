package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"
)

// parallelDials is the maximum number of concurrent dials.
const parallelDials = 32

// perKey watches each key with a blocking query on a separate connection. It has the lowest possible latency and uses
// one connection per key.
func perKey(ctx context.Context, addr string, n int, out io.Writer) error {
	p := &perKeyWatch{addr: addr, out: out, dials: make(chan struct{}, parallelDials)}
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error { return p.watch(ctx, KeyName(i)) })
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the parent ended it
	}
	return err
}

type perKeyWatch struct {
	addr  string
	dials chan struct{} // limits concurrent dials
	mu    sync.Mutex
	out   io.Writer
}

// watch repeats the query of one key until ctx ends.
func (p *perKeyWatch) watch(ctx context.Context, key string) error {
	conn, index, err := p.open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := p.print("ready 1"); err != nil {
		return err
	}
	for {
		value, next, err := conn.get(p.addr, key, index)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if next != index {
			if err := p.print(value); err != nil {
				return err
			}
		}
		index = next
	}
}

// open connects and reads the key once.
func (p *perKeyWatch) open(ctx context.Context, key string) (*keyConn, string, error) {
	select {
	case p.dials <- struct{}{}:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	defer func() { <-p.dials }()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return nil, "", err
	}
	c := &keyConn{Conn: conn, r: bufio.NewReaderSize(conn, 1<<10)}
	_, index, err := c.get(p.addr, key, "0")
	if err != nil {
		_ = conn.Close()
		return nil, "", err
	}
	return c, index, nil
}

func (p *perKeyWatch) print(line string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.out, line+"\n")
	return err
}

// keyConn is the connection of one key.
type keyConn struct {
	net.Conn
	r *bufio.Reader
}

// get reads the value and the index of the key. Consul responds when the key's index exceeds index, or after
// about 60 s.
func (c *keyConn) get(host, key, index string) (value, next string, err error) {
	_, err = fmt.Fprintf(c, "GET /v1/kv/%s?index=%s&wait=60s HTTP/1.1\r\nHost: %s\r\n\r\n", key, index, host)
	if err != nil {
		return "", "", err
	}
	answer, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", "", err
	}
	if answer.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("key %s: %s", key, answer.Status)
	}
	var pairs []struct{ Value []byte }
	if err := json.Unmarshal(body, &pairs); err != nil {
		return "", "", err
	}
	if len(pairs) > 0 {
		value = string(pairs[0].Value)
	}
	return value, answer.Header.Get("X-Consul-Index"), nil
}
