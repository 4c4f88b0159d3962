package blocking

import "time"

// Position is where a loop continues. Only this file computes the index of a next query.
type Position struct {
	Index uint64 // the next query waits for changes after it; 0 does not wait
	Gap   bool   // changes before the next response may have been missed
	// Epoch is the one of the index, which is invalid in others; 0 matches any epoch.
	Epoch int
	// Newest is the index of the newest response. An older response is dropped until a
	// consistent read confirms it.
	Newest uint64
}

// in returns the position in an epoch.
func (p Position) in(epoch int) Position {
	if p.Epoch != 0 && p.Epoch != epoch {
		return Position{Gap: true, Epoch: epoch, Newest: p.Newest}
	}
	p.Epoch = epoch
	return p
}

// after is the position after a response with the index got. It starts again if the index decreased (Consul's state
// was replaced) or stayed equal before the wait ended (a restored snapshot): a query with that index would hang.
func (p Position) after(got uint64, took, wait time.Duration) Position {
	next := Position{Index: got, Epoch: p.Epoch, Newest: got}
	if got < p.Index || got == p.Index && took < wait {
		next.Index = 0
	}
	return next
}

// dropped is the position after an unused response.
func (p Position) dropped() Position {
	return Position{Gap: p.Gap, Epoch: p.Epoch, Newest: p.Newest}
}

// Lost is the position after a failure.
func (p Position) Lost() Position { return Position{Gap: true, Newest: p.Newest} }

// Join is the start of a query that reads the keys of two others. It reads everything, and
// has missed changes if one of them has.
func (p Position) Join(other Position) Position {
	joined := Position{Gap: p.Gap || other.Gap, Epoch: p.Epoch, Newest: max(p.Newest, other.Newest)}
	if p.Epoch == 0 || other.Epoch < p.Epoch {
		joined.Epoch = other.Epoch
	}
	return joined
}

// queryDeadline is the time after which a connection counts as dead. Consul adds up to a
// sixteenth to the wait.
func queryDeadline(index uint64, wait time.Duration) time.Duration {
	if index == 0 {
		return FreshDeadline
	}
	return wait + wait/16 + waitGrace
}

const (
	// DefaultWait is the wait of a blocking query. With Consul's sixteenth and waitGrace,
	// a change is reported within 30 s even on a dead connection, and proxies with an idle
	// timeout of 30 s keep it open.
	DefaultWait = 22 * time.Second
	// FreshDeadline leaves time for a whole list over a slow link. Consul may report a
	// lost quorum later, but the probe reports it first.
	FreshDeadline = 15 * time.Second
	// waitGrace leaves time for the response over a slow link.
	waitGrace = 4 * time.Second
)
