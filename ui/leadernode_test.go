package ui

import (
	"testing"
	"time"

	"electop/election"
)

// The label of a holder without a value is its session's name and node.
func TestNodeIsNamedOnce(t *testing.T) {
	e := vacantElection(1, "backup", 1, time.Hour, time.Minute, 0, election.Released, "")
	last := &e.Terms[len(e.Terms)-1]
	last.Leader, last.Node = "nightly on node-1", "node-1"
	s := mixedSnapshot()
	s.Elections = []*election.Election{e}
	d := drive(t, s, 120, 36)
	d.wants("nightly on node-1")
	d.lacks("node-1 on node-1")
	d.keys("tab", "tab")
	d.wants("nightly on node-1")
	d.lacks("node-1 on node-1")
}
