// Package sqlite stores observed events, terms, periods of observation and operators' actions in a SQLite file.
// docs/history.md documents the schema for users. A [Writer] stores events without delaying the goroutine that
// observed them; events that exceed its queue are dropped and counted. A [File] reads them. Several processes may
// read a file while others write it.
package sqlite
