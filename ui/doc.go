// Package ui is electop's dashboard: a Bubble Tea program that draws [election.Snapshot]s. Operators use it to
// release keys and destroy sessions.
//
// It imports package election, but no Consul client. It receives snapshots from [Options.Snapshots] and passes
// actions to a [Backend]. Only a later snapshot changes the board. The package starts no goroutine.
//
// [Model] is the only tea.Model. It routes messages to the components (ui/board,
// detail, events, sessions) or to the open overlay (ui/act, ui/pages), carries out the actions that they return,
// builds their common scene and divides the window. A component keeps only user state
// (cursor, offset, sort, filter) and imports no other component. Drawing changes no state.
package ui
