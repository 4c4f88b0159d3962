// Package sqlite keeps what an observer saw in a SQLite file, so that it is known
// after electop ended: events, terms, the periods of observation and the
// operator's actions. docs/history.md documents the schema for users.
//
// A [Writer] stores events without delaying the goroutine that observed them. A
// [File] reads them; several processes may read a file while others write it.
// Events that exceed the queue are dropped and counted.
package sqlite
