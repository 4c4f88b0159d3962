package insight

import (
	"fmt"
	"slices"
	"strings"

	"electop/election"
)

// lockFlags detects flags that make every waiting api.Lock candidate fail permanently. Without evidence that candidates
// use api.Lock, this is a guess about an election without a leader.
func lockFlags(d *diagnosis) Finding {
	p := d.Pair
	if !d.Exists || p.Flags == election.LockFlag || p.Flags == election.SemaphoreFlag {
		return Finding{}
	}
	flags := fmt.Sprintf("The key's flags are %d, not those of Consul's lock", p.Flags)
	text, command := correctFlags(p)
	f := Finding{
		Urgent: true, Command: command, Why: flags + ": every waiting api.Lock candidate fails immediately with \"Existing key does not match lock use\", even while the key is held.",
		Do: "find the client that sets these flags, and correct them " + text,
	}
	if p.Held() {
		f.Why += " Candidates that have failed must start again."
	} else {
		f.Fix = "Start candidates, also those that have failed, after you correct the flags " + text
	}
	evidence := ""
	switch {
	case isAPILock(d.Session), isAPILock(d.LastSession), replacedLockFlags(d.Election) > 0,
		slices.ContainsFunc(d.Terms, func(t election.Term) bool { return isAPILock(d.sessions[t.Session]) }):
		return f
	case p.Held() || d.advice || vacancy(d).Code == LockDelay:
		return Finding{}
	case slices.ContainsFunc(d.candidates, func(c Candidate) bool { return isAPILock(c.Session) && d.led[c.Session.ID].count == 0 }):
		evidence = "a likely candidate uses api.Lock"
	// A candidate of consul lock that rejects the flags ends, but its session may remain. The key is the only evidence, unless
	// other software acquires it with these flags: a write without the lock sets LockIndex to 0.
	case (strong(d.candidates) == 0 || p.LockIndex == 0 && (d.LastSession == nil || likeConsulLock(d.LastSession))) && base(d.Key()) == ".lock" && d.Around != nil && d.Around.SiblingsErr == "" &&
		!slices.ContainsFunc(d.Around.Siblings, func(p election.Pair) bool { return p.Flags == election.SemaphoreFlag }):
		evidence = "consul lock uses keys with this name"
	case p.LockIndex == 0 && likeConsulLock(d.LastSession):
		evidence = "the last leader's session has the settings of api.Lock"
	default:
		return Finding{}
	}
	f.Why = flags + "; this may be the reason: a candidate that uses api.Lock fails with \"Existing key does not match lock use\" (" + evidence + ")."
	return f
}

// replacedLockFlags returns the index of the write without the lock that replaced [election.LockFlag], or 0. Every candidate of
// api.Lock that was waiting then has failed.
func replacedLockFlags(e *election.Election) (index uint64) {
	for _, v := range e.Events {
		if e.Pair.LockIndex == 0 && v.Type == election.Overwritten && v.CreateIndex == e.Pair.CreateIndex && strings.HasPrefix(v.Evidence, fmt.Sprintf("flags %d ", election.LockFlag)) {
			index = max(index, v.ModifyIndex)
		}
	}
	return index
}

// lacksLockFlags reports whether a client without the lock has probably replaced the flags of a held key.
func lacksLockFlags(e *election.Election) bool {
	return e.Overwritten() && e.Pair.Flags != election.LockFlag && (replacedLockFlags(e) > 0 || isAPILock(e.Session) || likeConsulLock(e.Session))
}
