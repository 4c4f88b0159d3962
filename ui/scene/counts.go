package scene

import (
	"electop/election/insight"
)

// Counts contains the number of elections in each state. Warning and Critical count the leaders at risk by the worst
// check of their sessions. Failed counts the leaders that have failed although their sessions hold the keys.
type Counts struct {
	Led, Delay, Vacant, Semaphore, Unreadable, Idle int
	Unsearched                                      int
	Warning, Critical, Failed                       int
}

// Add counts one election.
func (c *Counts) Add(s DisplayState) {
	switch s {
	case StateLed:
		c.Led++
	case StateLockDelay:
		c.Delay++
	case StateVacant:
		c.Vacant++
	case StateSemaphore:
		c.Semaphore++
	case StateIdle:
		c.Idle++
	case StateUnsearched:
		c.Unsearched++
	default:
		c.Unreadable++
	}
}

// AddRisk counts a leader at risk.
func (c *Counts) AddRisk(t insight.Tally) {
	switch {
	case t.Critical > 0:
		c.Critical++
	case t.Warning > 0:
		c.Warning++
	}
}
