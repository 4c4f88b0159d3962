package memconsul

import (
	"sync"
	"time"
)

// timerSet runs functions later, by name, and can be closed so that none runs any more.
type timerSet struct {
	mu      sync.Mutex
	timers  map[string]armed
	armings uint64 // counts them, to tell a timer from the one that has replaced it
	closed  bool
	running sync.WaitGroup
}

type armed struct {
	timer  *time.Timer
	arming uint64
}

func newTimerSet() *timerSet {
	return &timerSet{timers: map[string]armed{}}
}

// set runs fn after d, instead of whatever was set under this name before.
func (s *timerSet) set(name string, d time.Duration, fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if old, ok := s.timers[name]; ok {
		old.timer.Stop()
	}
	s.armings++
	own := s.armings
	timer := time.AfterFunc(d, func() {
		if s.begin(name, own) {
			defer s.running.Done()
			fn()
		}
	})
	s.timers[name] = armed{timer, own}
}

// begin reports whether the timer is still the wanted one: it may have been replaced after it fired.
func (s *timerSet) begin(name string, arming uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.timers[name].arming != arming {
		return false
	}
	delete(s.timers, name)
	s.running.Add(1)
	return true
}

func (s *timerSet) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := s.timers[name]; ok {
		own.timer.Stop()
		delete(s.timers, name)
	}
}

// close stops all timers and waits for the functions that run already.
func (s *timerSet) close() {
	s.mu.Lock()
	s.closed = true
	for _, own := range s.timers {
		own.timer.Stop()
	}
	clear(s.timers)
	s.mu.Unlock()
	s.running.Wait()
}
