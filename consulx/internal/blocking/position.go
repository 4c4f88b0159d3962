package blocking

import "time"

// Position is where a loop continues. The functions of this file are the only
// ones that compute the index of a next query.
type Position struct {
	Index uint64 // the next query waits for changes after it; 0 does not wait
	Gap   bool   // changes before the next response may have been missed
	// Epoch is the one in which the index was learned; it means nothing in another
	// one. 0 is any epoch.
	Epoch int
}

// in is the position in an epoch.
func (p Position) in(epoch int) Position {
	if p.Epoch != 0 && p.Epoch != epoch {
		return Position{Gap: true, Epoch: epoch}
	}
	p.Epoch = epoch
	return p
}

// after is the position after a response with the index got.
//
//   - An index that fell means that Consul's state was replaced: start again.
//   - An index that is unchanged before the wait ran out is what a restored
//     snapshot looks like; another query with that index would hang: start again.
//   - A wait that ran out leaves the index unchanged.
func (p Position) after(got uint64, took, wait time.Duration) Position {
	next := Position{Index: got, Epoch: p.Epoch}
	if got < p.Index || got == p.Index && took < wait {
		next.Index = 0
	}
	return next
}

// dropped is the position after a response that is not used.
func (p Position) dropped() Position { return Position{Gap: p.Gap, Epoch: p.Epoch} }

// Lost is the position after a failure.
func Lost() Position { return Position{Gap: true} }

// Join is where a query begins that reads everything that two others read. It
// reads anew, and has missed changes if one of them has.
func (p Position) Join(other Position) Position {
	joined := Position{Gap: p.Gap || other.Gap, Epoch: p.Epoch}
	if p.Epoch == 0 || other.Epoch < p.Epoch {
		joined.Epoch = other.Epoch
	}
	return joined
}

// queryDeadline is how long a response may take before the connection is regarded
// as dead. Consul adds up to a sixteenth to the wait.
func queryDeadline(index uint64, wait time.Duration) time.Duration {
	if index == 0 {
		return FreshDeadline
	}
	return wait + wait/16 + waitGrace
}

const (
	// DefaultWait is how long a blocking query waits. With Consul's sixteenth and
	// waitGrace, a change is reported within 30 s even if its connection is dead;
	// proxies that close connections that are idle for 30 s never do so.
	DefaultWait = 22 * time.Second
	// FreshDeadline leaves time for a whole list over a slow link. Consul may need
	// longer to report that it has no quorum; the probe reports it first.
	FreshDeadline = 15 * time.Second
	// waitGrace leaves time for the response over a slow link.
	waitGrace = 4 * time.Second
)
