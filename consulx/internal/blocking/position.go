package blocking

import "time"

// Position is the position at which a loop continues. Only this file computes the index of the next query.
type Position struct {
	Index uint64 // the next query waits for changes after this index; with index 0 the query does not wait
	Gap   bool   // changes before the next response may have been missed
	// Epoch is the epoch in which Index is valid; 0 means any epoch.
	Epoch int
	// Newest is the index of the newest response. If a response has a smaller index, the loop drops it and repeats
	// the read in consistent mode.
	Newest uint64
}

// in returns the start position of a query in an epoch.
func (p Position) in(epoch int) Position {
	if p.Epoch != 0 && p.Epoch != epoch {
		return Position{Gap: true, Epoch: epoch, Newest: p.Newest}
	}
	p.Epoch = epoch
	return p
}

// after returns the position after a response with the index got. A query with that index would block forever if the
// index decreased (data was replaced), or did not change although the wait had not ended (a snapshot was restored).
// In these cases, the next query does not wait.
func (p Position) after(got uint64, took, wait time.Duration) Position {
	next := Position{Index: got, Epoch: p.Epoch, Newest: got}
	if got < p.Index || got == p.Index && took < wait {
		next.Index = 0
	}
	return next
}

// dropped returns the position after a response that was not used.
func (p Position) dropped() Position {
	return Position{Gap: p.Gap, Epoch: p.Epoch, Newest: p.Newest}
}

// Lost returns the position after a failure.
func (p Position) Lost() Position { return Position{Gap: true, Newest: p.Newest} }

// Join returns the start position of a query that replaces two other queries and reads all keys. The position has a gap
// if one of the replaced positions has a gap.
func (p Position) Join(other Position) Position {
	joined := Position{Gap: p.Gap || other.Gap, Epoch: p.Epoch, Newest: max(p.Newest, other.Newest)}
	if p.Epoch == 0 || other.Epoch < p.Epoch {
		joined.Epoch = other.Epoch
	}
	return joined
}

// queryDeadline returns the time after which a connection is considered dead. Consul may extend the wait by a
// sixteenth.
func queryDeadline(index uint64, wait time.Duration) time.Duration {
	if index == 0 {
		return FreshDeadline
	}
	return wait + wait/16 + waitGrace
}

const (
	// DefaultWait is the wait time of a blocking query. Even on a dead connection, a change is reported within 30 s:
	// the wait, Consul's extension of a sixteenth, and waitGrace. Proxies with an idle timeout of 30 s keep the
	// connection open.
	DefaultWait = 22 * time.Second
	// FreshDeadline leaves time for a full list over a slow link. The probe reports a lost quorum before this
	// deadline.
	FreshDeadline = 15 * time.Second
	// waitGrace leaves time for the response over a slow link.
	waitGrace = 4 * time.Second
)
