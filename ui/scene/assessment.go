package scene

import (
	"cmp"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
)

// WhyNoCandidate explains why there is no likely candidate for the selected election.
func (s *Scene) WhyNoCandidate(in *Assessment) string {
	switch {
	case in.Queue():
		return "no other candidate is in the queue"
	case in.Election != nil && in.Election.Store.Leases:
		if in.Election.Recorded() {
			return NotStored
		} else if !in.Election.Exists {
			return "unknown: the key does not exist"
		}
		return "unknown: " + in.Election.Store.String() + " does not record waiters"
	case in.Around != nil && (!s.Stale || len(in.Around.Unread()) == 0): // without a connection, the banner already shows the error
		return insight.NoCandidate(in.Election, in.Around)
	case !s.Stale && !s.Unreachable:
		return "being read"
	}
	c := s.Live.In(s.Selected.Datacenter).Connection
	if c.State != election.Lost {
		return "unknown until electop is connected"
	}
	return "unknown: " + s.Store() + outage(c)
}

// shownNext is the maximum number of candidates in one line.
const shownNext = 5

// NextSpans lists the likely next leaders, or explains why there are none.
func (s *Scene) NextSpans(in *Assessment) []kit.Span {
	if len(in.Candidates) == 0 {
		r := kit.Text
		if len(in.Around.Unread()) > 0 {
			r = kit.Delay
		}
		return r.Spans(s.WhyNoCandidate(in))
	}
	return kit.Text.Spans(insight.Names(in.Candidates, shownNext, election.Holder{Leader: in.Election.Leader, Node: in.Election.Node()}.Text()))
}

// CandidateName returns a candidate's name without its node, which is shown separately.
func CandidateName(c insight.Candidate) string {
	name := Clean(c.Name)
	if short, found := strings.CutSuffix(name, " on "+Clean(c.Session.Node)); found && short != "" {
		return short
	}
	return name
}

// ProblemField writes the problem with an election.
func ProblemField(d *kit.Page, f *insight.Finding) {
	d.Field("Problem", kit.Strong.Span(strings.ReplaceAll(strings.ReplaceAll(f.Code, "_", " "), "lock delay", "lock-delay")))
}

// Shown returns a text of a finding. Without the address, its command could act on another cluster: the screen offers to
// copy it instead.
func Shown(d *kit.Page, f *insight.Finding, text string) string {
	if f.Command != "" && d.Unbroken == "" {
		text = strings.Replace(text, ": "+f.Command, " (copy the command)", 1)
	}
	return text
}

// FixField writes the fix that applies at a time. If the fix is to wait, it also writes the end of the lock-delay.
func FixField(d *kit.Page, f *insight.Finding, at time.Time) {
	d.Advice("Fix", Shown(d, f, f.FixAt(at)))
	if f.Code == insight.LockDelay && f.Until.After(at) {
		about := "~"
		if f.AtMost {
			about = "no later than "
		}
		d.Value("Ends", about+kit.ClockTime(f.Until), "Consul does not report the end")
	}
}

// Assessment holds the likely candidates and the advice for one election.
type Assessment struct {
	Election *election.Election // nil if nothing is known
	Board    *insight.Board
	// Around contains the surroundings of the election. It is nil until they are read.
	Around     *election.Surroundings
	Candidates []insight.Candidate
	Semaphore  *election.Semaphore
	Advice     []insight.Finding
	// Fix is nil if no problem is known.
	Fix *insight.Finding
	// LockDelay is the result of a probe.
	LockDelay insight.LockState
}

// Queue reports whether the candidates are a queue.
func (in *Assessment) Queue() bool { return in.Election != nil && in.Election.Pair.Queue != nil }

// NextLabel is the label of the next leaders.
func (in *Assessment) NextLabel() string {
	if in.Queue() {
		return "Next"
	}
	return "Likely next"
}

// Likely returns the number of likely candidates, or -1 if it is unknown.
func (in *Assessment) Likely() int {
	if in.Election == nil {
		return -1
	}
	return insight.Likely(in.Election, in.Candidates, in.Around)
}

// Look computes the assessment of the selected election before the scene is drawn.
func (s *Scene) Look(c *InsightCache) {
	switch e := s.Selected; {
	case e == nil:
	case s.Past != nil: // candidates and advice need data that the history does not store
		s.insight = &Assessment{Semaphore: election.ReadSemaphore(e, nil)}
	default:
		s.insight = c.Look(e, s.Of(e))
	}
}

// Insight returns the assessment of the selected election. It is empty before [Scene.Look].
func (s *Scene) Insight() *Assessment { return cmp.Or(s.insight, &Assessment{}) }

// InsightCache stores the assessment of the selected election. A frame uses the assessment several times, and one
// computation takes 2 ms on a board of 1,000 elections. All inputs are immutable.
type InsightCache struct {
	of     *election.Election
	around *election.Surroundings
	all    []*election.Election
	checks election.NodeChecks // checks of the leader's node
	at     time.Time
	// LockDelay is the result of the latest probe, and Probed the election at that time.
	LockDelay insight.LockState
	Probed    *election.Election
	In        *Assessment
	// sessions is the session list. All surroundings share it.
	sessions []*election.Session
	board    *insight.Board // of all and sessions
}

// InsightAge is the lifetime of an assessment if other elections have changed. AdviceAge is the maximum lifetime,
// because advice about flapping expires without a change.
const (
	InsightAge = 3 * time.Second
	AdviceAge  = time.Minute
)

// Look returns the assessment of an election. It computes a new assessment unless the cached assessment is current.
func (c *InsightCache) Look(e *election.Election, s *Scene) *Assessment {
	n := InsightCache{
		of: e, around: s.around(e), all: s.Shown.In(e.Datacenter).Elections, at: s.AsOf, sessions: c.sessions, LockDelay: c.LockDelay, Probed: c.Probed,
	}
	nodes := s.Shown.ChecksOf(e)
	if e.Session != nil {
		n.checks = nodes[e.Session.Node]
	}
	if c.holds(&n) {
		return c.In
	}
	if n.around != nil {
		n.sessions = n.around.Sessions
	}
	if n.board = c.board; n.board == nil || !election.SameSlice(c.all, n.all) || !election.SameSlice(c.sessions, n.sessions) {
		n.board = insight.NewBoard(n.all, n.sessions)
	}
	board := n.board.WithChecks(nodes)
	var delay insight.LockState
	if p := n.Probed; p != nil && p.ID() == e.ID() && p.Pair.ModifyIndex == e.Pair.ModifyIndex {
		delay = n.LockDelay
	}
	n.In = &Assessment{
		Election: e, Board: board, Around: n.around, Candidates: board.Candidates(e, n.around), Semaphore: election.ReadSemaphore(e, n.around),
		Advice: board.Advise(e, n.around, n.at), LockDelay: delay,
	}
	if e.Pair.Held() || n.around != nil || n.In.Queue() {
		n.In.Fix = board.Fix(e, insight.Facts{Now: n.at, Around: n.around, Delay: delay})
	}
	*c = n
	return n.In
}

// around returns an election's surroundings. It prefers those in the shown snapshot to those in the newest snapshot.
func (s *Scene) around(e *election.Election) *election.Surroundings {
	for _, snap := range []*election.Snapshot{s.Shown.In(e.Datacenter), s.Live.In(e.Datacenter)} {
		if snap.Surroundings != nil && snap.Surroundings.Key == e.Key() {
			return snap.Surroundings
		}
	}
	return nil
}

func (c *InsightCache) holds(n *InsightCache) bool {
	if c.In == nil || c.of != n.of || c.around != n.around || !c.checks.Same(n.checks) {
		return false
	}
	age := n.at.Sub(c.at)
	if f := c.In.Fix; f != nil && !f.Until.IsZero() && !n.at.Before(f.Until) {
		return false
	}
	return age >= 0 && (age < InsightAge || age < AdviceAge && election.SameSlice(c.all, n.all))
}
