// Package sqlite stores events, terms, periods of observation and operators' actions in a SQLite file.
// docs/history.md documents the schema. A [Writer] never delays the goroutine that records events: if its queue is
// full, it drops events and counts them. A [File] reads. Several processes may read and write one file at the same
// time.
package sqlite
