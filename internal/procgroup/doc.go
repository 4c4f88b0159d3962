// Package procgroup starts, signals and awaits process groups: a command with all
// processes that it started.
package procgroup
