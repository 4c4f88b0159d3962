package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// census is what the screen tells of all elections together: how many stand how,
// how wide their texts are, and how far back they were seen.
type census struct {
	counts scene.Counts
	widths extent
	// earliest is the first moment of which something is known of any election.
	earliest time.Time
}

// takeCensus looks at every election of a snapshot.
func takeCensus(snap *election.Snapshot, asOf time.Time) census {
	c := census{widths: extent{address: addressWidth(snap.Elections)}}
	sick := sickNodes(snap.Checks)
	for _, e := range snap.Elections {
		stands := scene.StandingOf(e, asOf)
		c.counts.Add(stands)
		if stands == scene.StandsLed && e.Session != nil && sick[e.Session.Node] {
			c.counts.AddRisk(scene.TallyChecks(e.Session, snap.Checks))
		}
		c.widths.measure(e)
		c.earliest = scene.Earlier(c.earliest, seenSince(e, time.Time{}))
	}
	return c
}

// seen is for how long something is known.
func (c *census) seen(asOf time.Time) time.Duration {
	if c.earliest.IsZero() {
		return 0
	}
	return asOf.Sub(c.earliest)
}

// sickNodes are the nodes with a check that does not pass.
func sickNodes(checks map[string]election.NodeChecks) map[string]bool {
	sick := map[string]bool{}
	for node, known := range checks {
		if known.Current() && slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.Status != election.StatusPassing }) {
			sick[node] = true
		}
	}
	return sick
}

// measure notes how wide an election's texts are.
func (c *extent) measure(e *election.Election) {
	c.name = max(c.name, term.Width(sanitize.Text(e.Name)))
	c.leader = max(c.leader, term.Width(e.Leader))
	if e.IsSemaphore() {
		c.leader = max(c.leader, len(scene.SemaphoreWord)+len("2 of 3"))
	}
	number := len(strconv.AppendUint(make([]byte, 0, 20), e.Term, 10))
	if e.Overwritten() {
		number++ // its mark
	}
	c.term = max(c.term, number)
	if e.Session != nil {
		c.node = max(c.node, term.Width(scene.Clean(e.Session.Node)))
	} else if last := e.LastTerm(); last != nil {
		c.node = max(c.node, term.Width(scene.Clean(last.Node))+2)
	}
}

// addressWidth is how wide addresses are. They are decoded from JSON, so only
// those of the first hundred elections are looked at.
func addressWidth(es []*election.Election) int {
	const sample = 100
	width := 0
	for _, e := range es[:min(sample, len(es))] {
		width = max(width, term.Width(valueAddress(e)))
	}
	return width
}
