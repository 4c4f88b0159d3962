package board

import (
	"slices"
	"strconv"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// totals summarises all elections: counts by state and text widths.
type totals struct {
	Counts       scene.Counts
	widths       extent
	recordsNodes bool // a store records nodes and checks
}

// extent holds the widths of the table's contents, in cells.
type extent struct {
	name, leader, address, node, term int
	// datacenter is the width of the longest name of a datacenter. It is 0 if the board shows only one datacenter.
	datacenter int
}

func computeTotals(s *scene.Scene) (c totals) {
	for _, part := range s.Live.Datacenters() {
		c.recordsNodes = c.recordsNodes || !part.Store.Leases
	}
	for _, part := range s.Shown.Datacenters() {
		c.add(part, s)
	}
	for _, name := range s.Datacenters {
		c.widths.datacenter = max(2, c.widths.datacenter, kit.Width(scene.Clean(name)))
	}
	const sample = 100 // decoding every JSON value is expensive
	for _, e := range s.Shown.Elections[:min(sample, len(s.Shown.Elections))] {
		leader, _ := latestLeader(e)
		c.widths.address = max(c.widths.address, kit.Width(valueAddress(e.Pair.Value, leader)))
	}
	return c
}

// add adds the elections of one datacenter.
func (c *totals) add(snap *election.Snapshot, s *scene.Scene) {
	failing := map[string]bool{}
	for node, known := range snap.Checks {
		failing[node] = known.Current() && slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.Status != election.StatusPassing })
	}
	for _, e := range snap.Elections {
		state := s.StateOf(e)
		c.Counts.Of[state]++
		if state == scene.StateLed && e.Session != nil && failing[e.Session.Node] {
			switch checks := insight.TallyChecks(e.Session, snap.Checks); {
			case insight.FailureOf(e, snap.Checks) != nil:
				c.Counts.Failed++
			case checks.Critical > 0:
				c.Counts.Critical++
			case checks.Warning > 0:
				c.Counts.Warning++
			}
		}
		c.widths.measure(e)
	}
}

// measure widens the columns for an election. The widths do not depend on whether the election has a leader, so that
// columns do not move when the leader is lost.
func (c *extent) measure(e *election.Election) {
	leader, node := latestLeader(e)
	c.name = max(c.name, kit.Width(sanitize.Text(e.Name)))
	c.leader = max(c.leader, kit.Width(leader))
	number := len(strconv.AppendUint(make([]byte, 0, 20), e.Term, 10))
	if e.Store.Revisions {
		number += len("rev")
	}
	c.term = max(c.term, number+1) // one cell is for the mark of an overwritten key, or the space before a revision
	if node != "" {
		c.node = max(c.node, kit.Width(scene.Clean(node))+len("()"))
	}
}

// latestLeader returns the leader and its node, or those of the last leader if there is no leader.
func latestLeader(e *election.Election) (leader, node string) {
	if last := e.LastTerm(); last != nil && !e.Held() {
		return last.Leader, last.Node
	}
	return e.Leader, e.Node()
}
