// Package history keeps what an observer saw in a SQLite file, so that it is known
// after electop ended: events, terms, the periods of observation and the
// operator's actions. docs/history.md documents the schema for users.
//
// A [Writer] stores events without delaying the goroutine that observed them. A
// [Source] reads them; several processes may read a file while others write it.
//
// What is not guaranteed:
//
//   - Times are those of the observer's clock. Where it was set back, the order by
//     time is not the order in which things happened.
//   - Events that do not fit into the Writer's queue are dropped and counted.
//   - A term that ended while no observer was running has an upper bound as its end.
package history
