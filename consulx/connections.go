package consulx

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"
)

const (
	// DefaultConnections lets four processes on one host use less than half of Consul's limit of 200 connections per
	// client address. At that limit, the agent rejects new connections from every program on the host.
	DefaultConnections = 24
	// LeastConnections is the minimum number of connections of one client.
	LeastConnections = urgentConns + shortConns + 3
	// urgentConns is the number of connections for the probe and the operator's actions. shortConns is the number of
	// connections for reads that do not block. Blocking queries use the other connections.
	urgentConns = 2
	shortConns  = 3
	// sessionListConns is the number of connections for the blocking query for all sessions.
	sessionListConns = 1
	// maxChecks is the maximum number of nodes whose checks are watched; it is enough for the rows of a screen. A fifth
	// of the connections is kept for them.
	maxChecks = 16
)

// clients contains three clients of one agent. Each client has its own connections.
type clients struct {
	short   *Client      // client for reads that do not block
	waiting *Client      // client for blocking queries
	urgent  *Client      // client for probes and for the operator's actions
	aclsOff atomic.Int64 // Unix time, in nanoseconds, of the latest error errACLsOff; 0 if none

	blocking int // maximum number of connections for blocking queries
	mu       sync.Mutex
	reserved int // connections of blocking queries: in use, or still counted by Consul
}

func (c *Client) openClients(conns int, connect func(client *Client, conns int) error) (*Client, error) {
	if conns <= 0 {
		conns = DefaultConnections
	}
	c.clients = &clients{blocking: max(LeastConnections, conns) - urgentConns - shortConns}
	for view, conns := range map[**Client]int{&c.waiting: c.blocking, &c.urgent: urgentConns, &c.short: shortConns} {
		client := *c
		if err := connect(&client, conns); err != nil {
			return nil, err
		}
		*view = &client
	}
	c.urgent.stale = false // actions must not use stale reads
	return c.short, nil
}

// KeyQueries returns the maximum number of blocking queries for keys.
func (c *Client) KeyQueries() int {
	return max(1, c.blocking-sessionListConns-max(1, c.blocking/5))
}

// CheckQueries returns the maximum number of nodes whose checks are watched beside a number of queries for keys.
func (c *Client) CheckQueries(keys int) int {
	return max(1, min(maxChecks, c.blocking-sessionListConns-keys))
}

// Reserve reserves a connection for a blocking query. It returns nil if no connection is free and assigned is false: a
// query that replaces another query may exceed the limit. free must be called once; it frees the connection after a delay:
// Consul counts the connection of a cancelled query until the query's wait ends.
func (c *Client) Reserve(assigned bool) (free func(after time.Duration)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reserved >= c.blocking && !assigned {
		return nil
	}
	c.reserved++
	unlock := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reserved--
	}
	return func(after time.Duration) {
		if after > 0 {
			time.AfterFunc(after, unlock)
		} else {
			unlock()
		}
	}
}

// Reader returns the client that sends a query: blocking queries have their own connections.
func (c *Client) Reader(q *api.QueryOptions) *Client {
	if q.WaitIndex > 0 {
		return c.waiting
	}
	return c.short
}

// Urgent returns the client for probes and for the operator's actions. Its reads are never stale.
func (c *Client) Urgent() *Client { return c.urgent }
