// Package election defines the facts about leader elections in Consul: keys and
// patterns, sessions, terms, events, causes, snapshots, and the observations from
// which package tracker derives them. Package insight infers the rest.
//
// The package is pure: it does no I/O, starts no goroutine, and receives the time as a
// parameter.
//
// Limits:
//
//   - An observer sees states, not transitions. Between two reads a key may be
//     acquired many times. LockIndex counts these terms ([Missed]), but does not
//     identify their sessions. LockIndex counts terms only within one CreateIndex and
//     while it grows: after Consul restored a snapshot or lost data, terms that may have
//     been observed before are not counted again.
//   - A time is a reading of the observer's clock when a response arrived, not the time
//     at which Consul applied the change.
//   - Consul does not record waiters. Candidates are inferred.
//   - The end of a lock-delay is an estimate: Consul's API does not expose it.
//   - A cause is a fact only where Raft indexes prove it. Otherwise it is a guess and
//     labelled as one ([Event.Guess]).
//   - Consul replaces invalid UTF-8 in keys, so several keys may look the same. electop
//     shows one of them, and refuses actions on it ([Addressable]).
//   - Nothing in this package is a fencing token. The resource that a leader changes
//     must itself reject writes from earlier leaders.
package election
