// Package tracker derives events and snapshots of elections from observations of Consul's KV store. A [Tracker]
// receives [election.Observation]s in the order in which they were made and returns [election.Event]s;
// [Tracker.Snapshot] returns an immutable view of the state.
//
// The package is pure: it does no I/O, starts no goroutine, and receives the time as a parameter. The size of a tracker
// is bounded by the number of keys in Consul and by the constants in prune.go.
//
// # Gaps
//
// If a key was not observed continuously since the previous read, only bounds are known: vacancies are unknown, the
// duration of a hold is a lower bound, and a term may have begun before the read. This applies to the first read after
// the connection was lost ([election.KeysRead.AfterGap]), after the process or the machine was suspended
// ([election.Gap]), and after the token regained the permission to read the key. After an [election.Gap], a range
// counts as read only after a response to a request that was sent later: the response to a pending request describes
// the time before the gap.
//
// # Time
//
// A [Tracker] stores wall clock readings without the monotonic reading ([time.Time.Round]): the monotonic clock stops
// while the machine sleeps, so a term that lasted all night would appear to have lasted minutes. Consumers subtract
// wall clock readings too.
// A clock that was set cannot be distinguished from a machine that slept: it counts as a gap (clockjump.go in package feed).
// Durations are never negative.
package tracker
