package main

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

// perKey watches each key with a blocking query on a connection of its own:
// what nothing can beat, if connections cost nothing.
func perKey(ctx context.Context, addr string, n int, out io.Writer) error {
	p := &perKeyWatch{addr: addr, out: out, dials: make(chan struct{}, parallelLoads)}
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error { return p.watch(ctx, keyName(i)) })
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was told to end
	}
	return err
}

type perKeyWatch struct {
	addr  string
	dials chan struct{} // bounds the connections that are being opened
	mu    sync.Mutex
	out   io.Writer
}

// watch asks for one key until ctx ends.
func (p *perKeyWatch) watch(ctx context.Context, key string) error {
	conn, index, err := p.open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := p.tell("ready 1"); err != nil {
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
			if err := p.tell(value); err != nil {
				return err
			}
		}
		index = next
	}
}

// open connects and reads the key for the first time.
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

func (p *perKeyWatch) tell(line string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.out, line+"\n")
	return err
}

// keyConn is a connection that asks for one key again and again.
type keyConn struct {
	net.Conn
	r *bufio.Reader
}

// get waits until the key has moved beyond index and gives its value.
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
