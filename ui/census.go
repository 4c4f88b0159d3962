package ui

import (
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// counts are the elections by how they stand. Those at risk are led, but a
// check of their leader's session warns or fails.
type counts struct {
	led, delay, vacant, semaphore, unreadable int
	warning, critical                         int
}

func (c *counts) add(s standing, n int) {
	switch s {
	case standsLed:
		c.led += n
	case standsDelay:
		c.delay += n
	case standsVacant:
		c.vacant += n
	case standsSemaphore:
		c.semaphore += n
	default:
		c.unreadable += n
	}
}

// census is what the screen tells of all elections together: how many stand how,
// and how wide their texts are. It is carried on from board to board by what
// changed, and from moment to moment by the lock-delays that end, so that
// neither costs a look at every election.
type census struct {
	counts counts
	// earliest is the first moment of which something was known of any election.
	earliest time.Time

	board []*election.Election
	// at is the moment for which the counts hold.
	at time.Time
	// delayed are the elections counted as in lock-delay, nextEnd is when the
	// first of these delays ends.
	delayed map[*election.Election]struct{}
	nextEnd time.Time

	checks map[string]election.NodeChecks
	// sick are the nodes with a check that does not pass, atRisk the elections
	// that such a check makes risky.
	sick   map[string]bool
	atRisk map[*election.Election]tally

	names, leaders, nodes, terms widths
}

// widths counts texts by their width: when the widest goes, the next one is
// known.
type widths [widestText + 1]int32

// widestText is the greatest width that is told apart; no column is as wide.
const widestText = 127

func (w *widths) add(width int, n int32) { w[min(width, widestText)] += n }

func (w *widths) most() int {
	for i := widestText; i > 0; i-- {
		if w[i] > 0 {
			return i
		}
	}
	return 0
}

// news is what is different on a board: the changes, unless there are too many
// of them, and whether anything is known anew of checks.
type news struct {
	changes []change
	few     bool
	checks  bool
}

// nothing reports that the elections are the same.
func (n news) nothing() bool { return n.few && len(n.changes) == 0 }

// follow takes a board and tells what is new on it.
func (c *census) follow(snap *election.Snapshot, asOf time.Time) news {
	n := news{checks: !sameChecks(c.checks, snap.Checks)}
	n.changes, n.few = changesOf(c.board, snap.Elections)
	c.board, c.checks = snap.Elections, snap.Checks
	if !n.few || asOf.Before(c.at) {
		c.recount(asOf)
		return n
	}
	c.moveTo(asOf)
	for _, change := range n.changes {
		c.count(change.before, -1)
		c.count(change.after, 1)
	}
	if n.checks {
		c.findSick()
	} else if len(n.changes) > 0 {
		c.countRisks()
	}
	return n
}

// recount looks at every election.
func (c *census) recount(asOf time.Time) {
	*c = census{
		board: c.board, checks: c.checks, at: asOf, earliest: c.earliest,
		delayed: map[*election.Election]struct{}{}, atRisk: map[*election.Election]tally{},
	}
	for _, e := range c.board {
		c.count(e, 1)
	}
	c.findSick()
}

// moveTo makes the counts those of another moment: of what stands on the board
// only lock-delays change with time.
func (c *census) moveTo(asOf time.Time) {
	switch {
	case asOf.Before(c.at):
		c.recount(asOf)
		return
	case !c.nextEnd.IsZero() && !asOf.Before(c.nextEnd):
		c.endDelays(asOf)
	}
	c.at = asOf
}

func (c *census) endDelays(asOf time.Time) {
	c.nextEnd = time.Time{}
	for e := range c.delayed {
		if standingOf(e, asOf) == standsDelay {
			c.nextEnd = earlier(c.nextEnd, e.LockDelayUntil)
			continue
		}
		delete(c.delayed, e)
		c.counts.add(standsDelay, -1)
		c.counts.add(standingOf(e, asOf), 1)
	}
}

// earlier is the first of two moments; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// count adds an election, or takes it out again when n is -1.
func (c *census) count(e *election.Election, n int) {
	if e == nil {
		return
	}
	stands := standingOf(e, c.at)
	c.counts.add(stands, n)
	switch {
	case n < 0:
		delete(c.delayed, e)
		delete(c.atRisk, e)
	case stands == standsDelay:
		c.delayed[e] = struct{}{}
		c.nextEnd = earlier(c.nextEnd, e.LockDelayUntil)
	case stands == standsLed:
		c.judgeRisk(e)
	}
	c.measure(e, int32(n)) //nolint:gosec // it is 1 or -1
	if since := seenSince(e, time.Time{}); n > 0 {
		c.earliest = earlier(c.earliest, since)
	}
}

// measure counts how wide an election's texts are.
func (c *census) measure(e *election.Election, n int32) {
	c.names.add(textWidth(sanitize.Text(e.Name)), n)
	leader := textWidth(e.Leader)
	if e.IsSemaphore() {
		leader = max(leader, len(semaphoreWord)+len("2 of 3"))
	}
	c.leaders.add(leader, n)
	term := digits(e.Term)
	if e.Overwritten() {
		term++ // its mark
	}
	c.terms.add(term, n)
	if e.Session != nil {
		c.nodes.add(textWidth(clean(e.Session.Node)), n)
	} else if last := e.LastTerm(); last != nil {
		c.nodes.add(textWidth(clean(last.Node))+2, n)
	}
}

func digits(n uint64) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

// sameChecks reports that nothing was read of checks since. A read makes a new
// list of a node's checks.
func sameChecks(a, b map[string]election.NodeChecks) bool {
	if len(a) != len(b) {
		return false
	}
	for node, x := range a {
		y, found := b[node]
		if !found || !x.At.Equal(y.At) || !x.Until.Equal(y.Until) || x.Err != y.Err || len(x.Checks) != len(y.Checks) ||
			len(x.Checks) > 0 && &x.Checks[0] != &y.Checks[0] {
			return false
		}
	}
	return true
}

// findSick finds out which nodes are in trouble, and whose leaders that puts at
// risk.
func (c *census) findSick() {
	before := len(c.sick)
	c.sick = map[string]bool{}
	for node, known := range c.checks {
		if known.Current() && slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.Status != election.StatusPassing }) {
			c.sick[node] = true
		}
	}
	if before == 0 && len(c.sick) == 0 {
		return
	}
	clear(c.atRisk)
	for _, e := range c.board {
		c.judgeRisk(e)
	}
	c.countRisks()
}

func (c *census) judgeRisk(e *election.Election) {
	if len(c.sick) == 0 || e.Session == nil || !c.sick[e.Session.Node] || standingOf(e, c.at) != standsLed {
		return
	}
	if t := tallyChecks(e.Session, c.checks); t.critical+t.warning > 0 {
		c.atRisk[e] = t
	}
}

func (c *census) countRisks() {
	c.counts.critical, c.counts.warning = 0, 0
	for _, t := range c.atRisk {
		if t.critical > 0 {
			c.counts.critical++
		} else {
			c.counts.warning++
		}
	}
}
