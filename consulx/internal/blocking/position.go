package blocking

import "time"

// nextIndex decides which index the next blocking query waits beyond. asked is
// the index of this query, got that of its answer; 0 means not to wait.
//
//   - An index that fell means that Consul's state was replaced: start again.
//   - An answer before the wait ran out with the index unchanged is what a
//     restored snapshot looks like; to wait beyond that index again would hang.
//   - A wait that ran out gives the same index: wait on.
func nextIndex(asked, got uint64, took, wait time.Duration) uint64 {
	switch {
	case got < asked:
		return 0
	case got == asked && took < wait:
		return 0
	}
	return got
}

// queryDeadline is how long an answer may take before the connection is held
// for dead. Consul adds up to a sixteenth to the wait.
func queryDeadline(index uint64, wait time.Duration) time.Duration {
	if index == 0 {
		return FreshDeadline
	}
	return wait + wait/16 + waitGrace
}

const (
	// FreshDeadline leaves time for a whole list over a slow link. Consul may
	// need longer to say that it has no quorum; the probe says so first.
	FreshDeadline = 15 * time.Second
	// waitGrace leaves time for the response of a slow link.
	waitGrace = 4 * time.Second
)
