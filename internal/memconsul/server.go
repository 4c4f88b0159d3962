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

// closeGrace is how long answers in flight may take after Close has ended their waits.
const closeGrace = 5 * time.Second

// Server is an [Agent] on a port of the loopback interface.
type Server struct {
	agent    *Agent
	http     *http.Server
	listener net.Listener
	served   chan struct{} // closed when the listener's goroutine has ended
	silent   silentConns
}

// silentConns are the connections on which no request has come yet. A graceful shutdown would wait for them.
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

// Start makes an agent and serves it on 127.0.0.1, on a free port. The caller closes it.
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
		_ = s.http.Serve(listener) // ends when Close closes the listener, for no other reason
	}()
	return s, nil
}

// Agent is the agent that is served, for looks without a network.
func (s *Server) Agent() *Agent { return s.agent }

// Addr is the host:port that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the agent: blocked queries are answered with what is known, timers stop, connections close. It returns
// when no goroutine of the server is left, or with an error if an answer could not be delivered in time.
func (s *Server) Close() error {
	s.agent.Close()
	_ = s.listener.Close() // a second Close finds it closed
	<-s.served
	s.silent.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
