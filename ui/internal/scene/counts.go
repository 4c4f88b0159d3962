package scene

// Counts are the elections by how they stand. Those at risk are led, but a
// check of their leader's session warns or fails.
type Counts struct {
	Led, Delay, Vacant, Semaphore, Unreadable int
	Warning, Critical                         int
}

// Add counts one election.
func (c *Counts) Add(s Standing) {
	switch s {
	case StandsLed:
		c.Led++
	case StandsDelay:
		c.Delay++
	case StandsVacant:
		c.Vacant++
	case StandsSemaphore:
		c.Semaphore++
	default:
		c.Unreadable++
	}
}

// AddRisk counts a leader whose checks put it at risk.
func (c *Counts) AddRisk(t Tally) {
	switch {
	case t.Critical > 0:
		c.Critical++
	case t.Warning > 0:
		c.Warning++
	}
}
