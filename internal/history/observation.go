package history

import "time"

// Observation is a period in which an observer watched the keys that match its patterns.
type Observation struct {
	Observer   string    `json:"observer"`
	Datacenter string    `json:"datacenter"`
	Patterns   []string  `json:"patterns"`
	From       time.Time `json:"from"`
	// To is the end, or the latest heartbeat. Lasting is set if the period had not ended when it was read.
	To      time.Time `json:"to"`
	Lasting bool      `json:"lasting"`
	// Ending is the reason why the period ended: stopped, connection_lost, suspended or patterns_changed. It is empty
	// if the process was killed.
	Ending string `json:"ending,omitempty"`
	// Dropped is the number of events that were not stored.
	Dropped uint64 `json:"dropped"`
}
