package observe

import (
	"sync"

	"electop/election"
)

// delivery hands events over in the order in which they were added, to one call
// at a time and without any lock held.
type delivery struct {
	mu     sync.Mutex
	queue  []election.Event
	active bool // a goroutine is delivering
}

// add appends events. It never blocks.
func (d *delivery) add(events []election.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, events...)
}

// deliver hands over what was added. While another goroutine does so, that one
// delivers these events too, and deliver returns at once.
func (d *delivery) deliver(to func([]election.Event)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active {
		return
	}
	d.active = true
	for len(d.queue) > 0 {
		events := d.queue
		d.queue = nil
		d.mu.Unlock()
		to(events)
		d.mu.Lock()
	}
	d.active = false
}
