// Package election says what a leader election in Consul is and folds what was
// read from Consul into what a person wants to know: who leads, since when,
// what happened before and why.
//
// The package is pure: it does no input or output, starts no goroutine and
// takes every moment in time as a parameter. A [Tracker] is fed with
// [Observation]s, in the order in which they were made, and answers with
// [Event]s and immutable [Snapshot]s.
//
// What is not guaranteed:
//
//   - An observer sees states, not moves. Between two reads a key may change
//     hands many times; LockIndex tells how often ([Missed]), not by whom.
//   - Times are the observer's clock at the moment an answer arrived, not the
//     moment at which Consul decided.
//   - Consul records nobody who waits for a key. Whoever is called a candidate
//     here is inferred.
//   - The end of a lock-delay is an estimate: Consul does not show it.
//   - Nothing in this package is a fencing token. Work that must not be done
//     twice has to be fenced by the resource it is done on.
package election
