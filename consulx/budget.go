package consulx

import "sync"

const (
	// defaultConns keeps one electop far below the 200 connections that an agent
	// allows one address, beyond which it rejects every tool on that host.
	defaultConns = 64
	// urgentConns are the connections of the probe and of the operator's actions,
	// shortConns those of reads that respond at once. Blocking queries have the
	// rest, so that none of these ever waits for one of them.
	urgentConns = 3
	shortConns  = 6
	// leastConns leaves four blocking queries.
	leastConns = urgentConns + shortConns + 4
	// sessionListConns is the blocking query for the list of all sessions.
	sessionListConns = 1
	// leastChecks are reserved for checks, maxChecks is what the rows of a screen
	// need.
	leastChecks = 6
	maxChecks   = 16
)

// Budget divides the connections of one client.
type Budget struct {
	blocking int // connections for blocking queries

	mu      sync.Mutex
	keys    int         // that blocking queries over keys use now
	changed func(n int) // is told how many checks may be watched
}

func newBudget(conns int) *Budget {
	if conns <= 0 {
		conns = defaultConns
	}
	return &Budget{blocking: max(leastConns, conns) - urgentConns - shortConns, changed: func(int) {}}
}

// ForKeys is how many blocking queries over keys there may be.
func (b *Budget) ForKeys() int {
	return max(1, b.blocking-sessionListConns-min(leastChecks, b.blocking/5))
}

// Use counts started blocking queries over keys, or ended ones if n is negative.
// Checks get the rest.
func (b *Budget) Use(n int) {
	b.mu.Lock()
	b.keys += n
	left, changed := b.checks(), b.changed
	b.mu.Unlock()
	changed(left)
}

// checks is how many nodes may be watched. The mutex is held.
func (b *Budget) checks() int {
	return max(1, min(maxChecks, b.blocking-sessionListConns-b.keys))
}

// OnChange calls f with the number of nodes whose checks may be watched, now and
// after each change. f must not block.
func (b *Budget) OnChange(f func(n int)) {
	b.mu.Lock()
	b.changed = f
	left := b.checks()
	b.mu.Unlock()
	f(left)
}

// lanes are clients of the same agent with connections of their own.
type lanes struct {
	budget  *Budget
	short   *Client // sends reads that respond at once
	waiting *Client // see Blocking
	urgent  *Client // see Urgent
}

// openLanes gives the client its connections.
func (c *Client) openLanes(b *Budget, connect func(lane *Client, conns int) error) (*Client, error) {
	c.lanes = &lanes{budget: b}
	open := func(conns int) (*Client, error) {
		lane := *c
		return &lane, connect(&lane, conns)
	}
	var err error
	if c.waiting, err = open(b.blocking); err != nil {
		return nil, err
	}
	if c.urgent, err = open(urgentConns); err != nil {
		return nil, err
	}
	c.urgent.stale = false // what decides about an action is never stale
	c.short, err = open(shortConns)
	return c.short, err
}

// Blocking is the client for blocking queries.
func (c *Client) Blocking() *Client { return c.waiting }

// Urgent is the client for probes and for the operator's actions. Its reads are
// never stale.
func (c *Client) Urgent() *Client { return c.urgent }

// Budget divides this client's connections.
func (c *Client) Budget() *Budget { return c.budget }
