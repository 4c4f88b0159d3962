// Package ui is electop's dashboard: a Bubble Tea program that draws
// [election.Snapshot]s and lets an operator release or destroy what they show.
//
// It imports election and never Consul: snapshots come in through
// [Options.Snapshots], actions go out through an [Operator], and the board
// changes only when a later snapshot says so. The package starts no
// goroutine.
//
// How it is built: [Model] is the only tea.Model. It gives each message to the
// component that it is for (ui/internal/board, detail, events, sessions, dialog,
// results), carries out the actions that this returns (actions.go), makes the
// scene that all of them read, and divides the window (layout.go). A component
// keeps only what the user did to it (cursor, offset, sort, filter), returns
// actions, and imports no other one. Drawing changes nothing.
package ui
