// Package history defines what can be known about elections in the past: pages of
// events and terms, statistics, states, periods of observation and operators' actions,
// and a [Source] that answers queries. Package sqlite keeps a history in a file.
//
// The package is pure: it does no I/O, and time is a parameter. Times are by the
// observer's clock.
package history
