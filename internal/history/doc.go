// Package history defines the queries and results of the history of elections: pages of events and terms, statistics,
// states, periods of observation and operators' actions. A [Source] executes queries; package sqlite implements it.
// The package is pure: it does no I/O, and time is a parameter. Times are those of the observer's clock.
package history
