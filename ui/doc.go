// Package ui is electop's dashboard: a Bubble Tea program that draws
// [election.Snapshot]s and lets an operator release or destroy what they show.
//
// It knows elections and never Consul: snapshots come in through
// [Options.Snapshots], actions go out through an [Operator], and the board
// changes only when a later snapshot says so. The package starts no
// goroutine.
//
// How it is built: [Model] is the only tea.Model. It holds the newest snapshot
// once; every pane keeps only what the user did to it (cursor, offset, sort,
// filter). Layout is one pure function from the window's size to rectangles;
// each part draws itself into lines of exactly the width it was given, and
// every text from Consul passes [sanitize.Text] on the way.
package ui
