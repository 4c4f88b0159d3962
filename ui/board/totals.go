package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// totals summarises all elections: counts by state, text widths and the earliest observation.
type totals struct {
	counts scene.Counts
	widths extent
	// earliest is the start of the earliest observation.
	earliest time.Time
}

func computeTotals(s *scene.Scene) totals {
	snap := s.Shown
	c := totals{widths: extent{address: addressWidth(snap.Elections)}}
	for _, part := range snap.Datacenters() {
		c.add(part, s.AsOf)
	}
	for _, name := range s.Datacenters {
		c.widths.datacenter = max(c.widths.datacenter, kit.Width(scene.Clean(name)))
	}
	return c
}

// add adds the elections of one datacenter.
func (c *totals) add(snap *election.Snapshot, asOf time.Time) {
	failing, failed := failingNodes(snap.Checks), insight.NewFailedNodes(snap.Checks)
	for _, e := range snap.Elections {
		state := scene.DisplayStateOf(e, asOf)
		c.counts.Add(state)
		if state == scene.StateLed && e.Session != nil && failing[e.Session.Node] {
			if failed.Of(e) != nil {
				c.counts.Failed++
			} else {
				c.counts.AddRisk(insight.TallyChecks(e.Session, snap.Checks))
			}
		}
		c.widths.measure(e)
		c.earliest = scene.Earlier(c.earliest, seenSince(e, time.Time{}, e.Terms))
	}
}

// seen returns how long elections have been observed.
func (c *totals) seen(asOf time.Time) time.Duration {
	if c.earliest.IsZero() {
		return 0
	}
	return asOf.Sub(c.earliest)
}

func failingNodes(checks map[string]election.NodeChecks) map[string]bool {
	failing := map[string]bool{}
	for node, known := range checks {
		if known.Current() && slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.Status != election.StatusPassing }) {
			failing[node] = true
		}
	}
	return failing
}

// brackets is the width of the brackets around the node of the last leader, in cells.
const brackets = 2

// measure widens the columns for an election. The widths do not depend on whether the election has a leader, so that
// columns do not move when the leader is lost.
func (c *extent) measure(e *election.Election) {
	leader, node := latestLeader(e)
	c.name = max(c.name, kit.Width(sanitize.Text(e.Name)))
	c.leader = max(c.leader, kit.Width(leader))
	if e.IsSemaphore() {
		c.leader = max(c.leader, len(scene.SemaphoreWord)+len("2 of 3"))
	}
	number := len(strconv.AppendUint(make([]byte, 0, 20), e.Term, 10))
	c.term = max(c.term, number+1) // one cell is for the mark of an overwritten key
	if node != "" {
		c.node = max(c.node, kit.Width(scene.Clean(node))+brackets)
	}
}

// latestLeader returns the leader and its node, or those of the last leader if there is no leader.
func latestLeader(e *election.Election) (leader, node string) {
	if last := e.LastTerm(); last != nil && (!e.Exists || !e.Pair.Held()) {
		return last.Leader, last.Node
	}
	return e.Leader, e.Node()
}

// addressWidth returns the maximum width of the addresses of the first hundred elections. It ignores the other
// elections, because decoding every JSON value is expensive.
func addressWidth(es []*election.Election) int {
	const sample = 100
	width := 0
	for _, e := range es[:min(sample, len(es))] {
		leader, _ := latestLeader(e)
		width = max(width, kit.Width(valueAddress(e.Pair.Value, leader)))
	}
	return width
}
