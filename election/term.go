package election

import "time"

// Term is one unbroken hold of one key by one session.
type Term struct {
	// Number is the key's LockIndex when the term was first seen. It counts
	// within CreateIndex only. 0 means that somebody wrote the key without the
	// lock before anybody looked.
	Number      uint64
	CreateIndex uint64
	Session     string
	// Leader and Node are the labels of whoever led, Node empty while the
	// session was not read.
	Leader string
	Node   string
	// Start is when the term was first seen; StartKnown is false when it may
	// have begun earlier.
	Start      time.Time
	StartKnown bool
	// Guess says that Cause is one, see [tracker.Explanation].
	Guess bool
	// End is when the end was seen, the zero time while the term lasts.
	End time.Time
	// SeenUntil is set when the term ended while nobody watched: it lasted at
	// least until then, and ended at some moment before End.
	SeenUntil time.Time
	// Cause and Evidence say why the term ended, once that was found out.
	Cause    Cause
	Evidence string
}

// Over reports whether the term has ended.
func (t Term) Over() bool { return !t.End.IsZero() }

// Held is how long the term lasted, up to now for one that goes on. It is the
// least that it can have been unless HeldKnown.
func (t Term) Held(now time.Time) time.Duration {
	switch {
	case !t.SeenUntil.IsZero():
		now = t.SeenUntil
	case t.Over():
		now = t.End
	}
	return max(0, now.Sub(t.Start))
}

// HeldKnown reports whether both the start and the end of the term were seen.
func (t Term) HeldKnown() bool { return t.StartKnown && t.SeenUntil.IsZero() }
