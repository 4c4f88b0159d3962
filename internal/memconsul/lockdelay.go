package memconsul

import "time"

// maxLockDelay is the longest delay that is enforced, whatever a session asks for.
const maxLockDelay = 60 * time.Second

type delayEnd = time.Time

// lockDelays says until when names of keys may not be locked, by whomever.
type lockDelays struct {
	until map[string]delayEnd
}

// arm begins the delay of a key whose holder was lost. The delay outlives the key.
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
