package store

import (
	"sync"
	"time"
)

// Timers contains named timers. Its methods are safe for concurrent use.
type Timers struct {
	mu      sync.Mutex
	timers  map[string]armed
	armings uint64 // number of calls to Set; distinguishes a timer from its replacement
	closed  bool
	running sync.WaitGroup
}

type armed struct {
	timer  *time.Timer
	arming uint64
}

// Set calls fn after d. It replaces the timer with the same name. It has no effect after Store.Close.
func (s *Timers) Set(name string, d time.Duration, fn func()) {
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

// begin reports whether the timer is still current, because it may have been replaced after it fired.
func (s *Timers) begin(name string, arming uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.timers[name].arming != arming {
		return false
	}
	delete(s.timers, name)
	s.running.Add(1)
	return true
}

// Remove stops the timer with this name, if there is one.
func (s *Timers) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := s.timers[name]; ok {
		own.timer.Stop()
		delete(s.timers, name)
	}
}

// close stops all timers and waits for running functions.
func (s *Timers) close() {
	s.mu.Lock()
	s.closed = true
	for _, own := range s.timers {
		own.timer.Stop()
	}
	clear(s.timers)
	s.mu.Unlock()
	s.running.Wait()
}
