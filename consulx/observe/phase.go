package observe

// phase is the state of a shard. docs/architecture.md has a diagram.
type phase int

const (
	opening    phase = iota // no attempt has ended yet
	live                    // the latest attempt succeeded
	mismatched              // the latest attempt succeeded, but the list of names contains different keys
	failing                 // the latest attempt failed
	closed                  // other shards have replaced this shard
)

// occurrence is an event that may change the phase of a shard.
type occurrence int

const (
	responded occurrence = iota // the query of the shard succeeded
	failed                      // the query of the shard failed
	differed                    // the keys in the list of names differ from those in the response
	agreed                      // the list of names contains the same keys
	replaced                    // the layout no longer contains the shard
)

// after returns the phase after an occurrence.
func (p phase) after(o occurrence) phase {
	switch {
	case p == closed || o == replaced:
		return closed
	case o == responded:
		return live
	case o == failed:
		return failing
	case p == live && o == differed:
		return mismatched
	case p == mismatched && o == agreed:
		return live
	}
	return p
}

// current reports whether the latest attempt succeeded.
func (p phase) current() bool { return p == live || p == mismatched }

// inherited returns the initial phase of a shard that replaces this shard.
func (p phase) inherited() phase {
	if p.current() {
		return live
	}
	return opening
}
