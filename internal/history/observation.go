package history

import "time"

// Observation is a period in which an observer watched the keys that match its
// patterns.
type Observation struct {
	Observer   string
	Datacenter string
	Patterns   []string
	From       time.Time
	// To is the end, or the latest heartbeat. Lasting says that the period had not
	// ended when it was read.
	To      time.Time
	Lasting bool
	// Ending says why it ended: stopped, connection_lost or suspended; empty for a
	// process that was killed.
	Ending string
	// Dropped counts events that were not stored.
	Dropped uint64
}
