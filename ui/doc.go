// Package ui is electop's dashboard: a Bubble Tea program that draws [election.Snapshot]s and lets an operator
// release keys and destroy sessions.
//
// It imports election and never Consul: snapshots come in through [Options.Snapshots],
// actions go out through an [Operator], and only a later snapshot changes the board. The
// package starts no goroutine.
//
// [Model] is the only tea.Model. It routes messages to the components (ui/internal/board,
// detail, events, sessions, dialog, results), carries out the actions that they return,
// builds their common scene and divides the window. A component keeps only user state
// (cursor, offset, sort, filter) and imports no other one. Drawing changes no state.
package ui
