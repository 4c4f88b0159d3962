package consulx

import (
	"sync"
	"sync/atomic"
	"time"

	"electop/consulx/internal/wire"
)

const (
	// defaultConns is far below Consul's limit of 200 connections per client IP address. At that limit, the agent
	// rejects new connections from every program on the host.
	defaultConns = 64
	// urgentConns is the number of connections for the probe and the operator's actions. shortConns is the number of
	// connections for reads that do not block. Blocking queries use the other connections.
	urgentConns = 3
	shortConns  = 6
	// leastConns is the minimum number of connections of one client. Four of these connections are for blocking
	// queries.
	leastConns = urgentConns + shortConns + 4
	// sessionListConns is the number of connections for the blocking query for all sessions.
	sessionListConns = 1
	// leastChecks is the number of connections that are reserved for health checks; a client with few connections
	// reserves fewer. maxChecks is the maximum number of nodes whose checks are watched; it is enough for the rows of a
	// screen.
	leastChecks = 6
	maxChecks   = 16
)

// Budget divides the connections of one client among the kinds of requests.
type Budget struct {
	blocking int // maximum number of connections for blocking queries

	mu       sync.Mutex
	reserved int         // number of reserved connections for blocking queries: in use, or still counted by Consul
	keys     int         // number of running blocking queries for keys
	changed  func(n int) // receives the number of nodes whose checks can be watched
}

func newBudget(conns int) *Budget {
	if conns <= 0 {
		conns = defaultConns
	}
	return &Budget{blocking: max(leastConns, conns) - urgentConns - shortConns, changed: func(int) {}}
}

// ForKeys returns the maximum number of blocking queries for keys.
func (b *Budget) ForKeys() int {
	return max(1, b.blocking-sessionListConns-max(1, min(leastChecks, b.blocking/5)))
}

// Use adds n to the number of running blocking queries for keys. Health checks can use the remaining connections.
func (b *Budget) Use(n int) {
	b.mu.Lock()
	b.keys += n
	left, changed := b.checks(), b.changed
	b.mu.Unlock()
	changed(left)
}

// Reserve reserves a connection for blocking queries. It returns false if no connection is free and assigned is false.
// Consul counts the connection of a cancelled query until the query's wait ends, so queries that restart at the same
// time could exceed Consul's limit.
func (c *Client) Reserve(assigned bool) bool {
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reserved >= b.blocking && !assigned {
		return false
	}
	b.reserved++
	return true
}

// Release frees a reserved connection after a delay.
func (c *Client) Release(after time.Duration) {
	if after > 0 {
		time.AfterFunc(after, func() { c.Release(0) })
		return
	}
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved--
}

// Reader returns the client for blocking queries if the query has reserved a connection, and otherwise the client for
// reads that do not block.
func (c *Client) Reader(reserved bool) *Client {
	if reserved {
		return c.waiting
	}
	return c.short
}

// checks returns the number of nodes whose checks can be watched. The caller holds the mutex.
func (b *Budget) checks() int {
	return max(1, min(maxChecks, b.blocking-sessionListConns-b.keys))
}

// OnChange calls f with the number of nodes whose checks can be watched, immediately and after each change. f must not
// block.
func (b *Budget) OnChange(f func(n int)) {
	b.mu.Lock()
	b.changed = f
	left := b.checks()
	b.mu.Unlock()
	f(left)
}

// clients contains three clients of one agent. Each client has its own connections.
type clients struct {
	budget   *Budget
	short    *Client // client for reads that do not block
	waiting  *Client // client for blocking queries
	urgent   *Client // client for probes and for the operator's actions
	sessions wire.Sessions
	aclsOff  atomic.Int64 // Unix time, in nanoseconds, of the latest error errACLsOff; 0 if none
}

func (c *Client) openClients(b *Budget, connect func(client *Client, conns int) error) (*Client, error) {
	c.clients = &clients{budget: b}
	open := func(conns int) (*Client, error) {
		client := *c
		return &client, connect(&client, conns)
	}
	var err error
	if c.waiting, err = open(b.blocking); err != nil {
		return nil, err
	}
	if c.urgent, err = open(urgentConns); err != nil {
		return nil, err
	}
	c.urgent.stale = false // actions must not use stale reads
	c.short, err = open(shortConns)
	return c.short, err
}

// Blocking returns the client for blocking queries.
func (c *Client) Blocking() *Client { return c.waiting }

// Urgent returns the client for probes and for the operator's actions. Its reads are never stale.
func (c *Client) Urgent() *Client { return c.urgent }

// Budget returns the budget of this client's connections.
func (c *Client) Budget() *Budget { return c.budget }
