package acl

import (
	"sync/atomic"
	"time"
)

// offAge is how long Off keeps an error. ACLs can be enabled while electop runs.
const offAge = 10 * time.Minute

// Off keeps the error that Consul returns for requests about ACLs while they are off. Consul logs an error for each of
// these requests, so electop must not repeat them for each election. An Off is safe for concurrent use.
type Off struct{ latest atomic.Pointer[answer] }

type answer struct {
	err error
	at  time.Time
}

// Store keeps the error of a request.
func (o *Off) Store(err error) { o.latest.Store(&answer{err, time.Now()}) }

// Err returns the kept error, or nil if no error was stored in the last ten minutes.
func (o *Off) Err() error {
	if a := o.latest.Load(); a != nil && time.Since(a.at) < offAge {
		return a.err
	}
	return nil
}
