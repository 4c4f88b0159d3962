package consulx

import "sync"

const (
	// defaultConns stays far below Consul's limit of 200 connections per address. Above it, the agent rejects every
	// tool on the host.
	defaultConns = 64
	// urgentConns serve the probe and the operator's actions, shortConns serve reads that return at once. Blocking
	// queries use the other connections.
	urgentConns = 3
	shortConns  = 6
	// leastConns leaves connections for four blocking queries.
	leastConns = urgentConns + shortConns + 4
	// sessionListConns is for the blocking query of the session list.
	sessionListConns = 1
	// leastChecks are reserved for health checks; maxChecks suffice for the rows of a screen.
	leastChecks = 6
	maxChecks   = 16
)

// Budget divides the connections of one client.
type Budget struct {
	blocking int // connections for blocking queries

	mu      sync.Mutex
	keys    int         // blocking queries over keys in use
	changed func(n int) // called with the number of nodes whose checks can be watched
}

func newBudget(conns int) *Budget {
	if conns <= 0 {
		conns = defaultConns
	}
	return &Budget{blocking: max(leastConns, conns) - urgentConns - shortConns, changed: func(int) {}}
}

// ForKeys is the maximum number of blocking queries over keys.
func (b *Budget) ForKeys() int {
	return max(1, b.blocking-sessionListConns-min(leastChecks, b.blocking/5))
}

// Use adds n to the number of blocking queries over keys. Checks get the rest.
func (b *Budget) Use(n int) {
	b.mu.Lock()
	b.keys += n
	left, changed := b.checks(), b.changed
	b.mu.Unlock()
	changed(left)
}

// checks is the number of nodes whose checks can be watched. The caller holds the mutex.
func (b *Budget) checks() int {
	return max(1, min(maxChecks, b.blocking-sessionListConns-b.keys))
}

// OnChange calls f with the number of nodes whose checks can be watched, now and after each change. f must not block.
func (b *Budget) OnChange(f func(n int)) {
	b.mu.Lock()
	b.changed = f
	left := b.checks()
	b.mu.Unlock()
	f(left)
}

// clients send requests to one agent. Each has its own connections.
type clients struct {
	budget  *Budget
	short   *Client // sends reads that respond at once
	waiting *Client // see Blocking
	urgent  *Client // see Urgent
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

// Blocking is the client for blocking queries.
func (c *Client) Blocking() *Client { return c.waiting }

// Urgent is the client for probes and for the operator's actions. Its reads are never stale.
func (c *Client) Urgent() *Client { return c.urgent }

// Budget divides this client's connections.
func (c *Client) Budget() *Budget { return c.budget }
