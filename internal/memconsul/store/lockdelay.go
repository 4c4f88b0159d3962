package store

import "time"

// maxLockDelay is the maximum lock-delay that Consul enforces.
const maxLockDelay = 60 * time.Second

// lockDelays contains the end of each key's lock-delay. A lock-delay applies to every session.
type lockDelays struct {
	until map[string]time.Time
}

// arm starts the lock-delay of a key. A deletion of the key does not end the lock-delay.
func (d *lockDelays) arm(key string, delay time.Duration) {
	if delay <= 0 {
		return
	}
	now := time.Now()
	for other, end := range d.until {
		if !end.After(now) {
			delete(d.until, other)
		}
	}
	d.until[key] = now.Add(min(delay, maxLockDelay))
}

func (d *lockDelays) running(key string) bool {
	return d.until[key].After(time.Now())
}
