// Package election says what a leader election in Consul is. It folds what was
// read from Consul into what an operator wants to know: who leads, since when,
// what happened before and why.
//
// The package is pure: it does no input or output, starts no goroutine and takes
// every moment in time as a parameter. A [Tracker] is given [Observation]s in the
// order in which they were made, and answers with [Event]s and immutable
// [Snapshot]s.
//
// What is not guaranteed:
//
//   - An observer sees states, not transitions. Between two reads a key may be
//     acquired many times; LockIndex tells how often ([Missed]), not by whom, and
//     only within one CreateIndex and while it grows: after a restored snapshot or
//     lost data nothing is counted that may have been there before.
//   - Times are the observer's clock when a response arrived, not the moment at
//     which Consul decided.
//   - Consul does not record waiters. A candidate is inferred.
//   - The end of a lock-delay is an estimate: Consul does not show it.
//   - A cause is a fact only where Raft indexes prove it, otherwise a guess that is
//     labelled as one ([Explanation]).
//   - Consul replaces bytes of keys that are not UTF-8, so several keys may look
//     the same. Their elections are told apart by CreateIndex ([Election.ID]), and
//     no action on them is possible ([Addressable]).
//   - Nothing in this package is a fencing token. Work that must not be done twice
//     has to be fenced by the resource it is done on.
//
// # Gaps
//
// Where the key was not observed all the time since the read before, only bounds
// are known: vacancies are unknown, holds are "at least", beginnings "at least
// since". That is so for the first read after the link was lost
// ([KeysRead.AfterGap]), after the process or the machine was stopped ([Gap]), and
// after the token regained the permission to read the key. After a [Gap] a range
// counts as read again only when a request from after it was answered: a response
// that was waiting meanwhile says what happened before.
//
// # Time
//
// A [Tracker] keeps the wall clock's reading of every moment and drops that of the
// monotonic clock ([time.Time.Round]), because the monotonic clock stops while the
// machine sleeps: a term that lasted through the night would have lasted minutes.
// Durations are therefore differences of wall clock readings, and so must those be
// that a consumer computes: now minus [Election.Since] is, because only one of the
// two has a monotonic reading.
//
// In return the tracker must be told when the wall clock is set while it runs
// ([ClockSet]): it then moves every moment that it knows, events included, so that
// durations and lanes stay as they are. [ClockJump] tells a clock that was set back
// from one that goes on. A clock that was set forward looks like a machine that
// slept: it counts as a [Gap], and as time that passed. No duration is negative,
// even if the tracker is not told.
//
// # Memory
//
// What a tracker keeps is bounded by what exists in Consul and by the constants in
// prune.go.
package election
