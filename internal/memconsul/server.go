package memconsul

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// closeGrace is how long Close waits for pending responses.
const closeGrace = 5 * time.Second

// Server is an [Agent] on a port of the loopback interface.
type Server struct {
	agent    *Agent
	http     *http.Server
	listener net.Listener
	served   chan struct{} // closed when the listener's goroutine has ended
	silent   silentConns
}

// silentConns contains connections without a request. A graceful shutdown would wait for them.
type silentConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func (c *silentConns) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateNew {
		c.conns[conn] = struct{}{}
	} else {
		delete(c.conns, conn)
	}
}

func (c *silentConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// Start serves a new agent on 127.0.0.1, on a free port. The caller must call Close.
func Start(cfg Config) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("memconsul: %w", err)
	}
	agent := New(cfg)
	s := &Server{
		agent:    agent,
		http:     &http.Server{Handler: agent, ReadHeaderTimeout: time.Minute},
		listener: listener,
		served:   make(chan struct{}),
		silent:   silentConns{conns: map[net.Conn]struct{}{}},
	}
	s.http.ConnState = s.silent.note
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // Serve returns only when Close closes the listener
	}()
	return s, nil
}

// Addr returns the host:port of the server.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops the agent: blocked queries return the current result, timers stop, connections close. It returns when
// all goroutines of the server have ended, or with an error if a response could not be sent within 5 s.
func (s *Server) Close() error {
	s.agent.Close()
	_ = s.listener.Close() // ignore the error: Close may be called again
	<-s.served
	s.silent.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
