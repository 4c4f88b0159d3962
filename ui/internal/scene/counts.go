package scene

// Counts are the numbers of elections by state. Elections at risk are led, but a check of the
// leader's session is warning or critical.
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

// AddRisk counts a leader at risk.
func (c *Counts) AddRisk(t Tally) {
	switch {
	case t.Critical > 0:
		c.Critical++
	case t.Warning > 0:
		c.Warning++
	}
}
