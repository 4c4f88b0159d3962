package detail

import (
	"time"

	"electop/election"
	"electop/election/failure"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

// detailDoc writes the state of an election, its cause and the session that holds the key.
func detailDoc(d *kit.Page, s *scene.Scene, e *election.Election) {
	if e.Unaddressable {
		d.Para(kit.Delay, "This key is not valid UTF-8 and Consul replaces the invalid bytes. electop cannot act on this key; other keys may look the same.")
	}
	staleDetail(d, s, e)
	switch scene.DisplayStateOf(e, s.AsOf) {
	case scene.StateLed:
		ledDetail(d, s, e)
	case scene.StateUnreadable:
		d.Para(kit.Delay, "This token can no longer read the key: this data is stale.")
		d.Field("Last read", append([]kit.Span{{kit.Text, e.Leader}}, termSpans(d.Sym, e)...)...)
		valueDetail(d, s, e)
	case scene.StateSemaphore:
		semaphoreDetail(d, s, e)
	default:
		vacantDetail(d, s, e)
	}
	adviceDetail(d, s.Insight(e))
}

func ledDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	if e.Overwritten() {
		d.Para(kit.Delay, "A client wrote this key without the lock while a session holds it (LockIndex is 0): "+
			"the value may not come from the leader.")
	}
	failureDetail(d, s, e)
	riskDetail(d, s, e)
	d.Field("Leader", append([]kit.Span{{kit.Strong, e.Leader}}, termSpans(d.Sym, e)...)...)
	current := election.Term{Start: e.Since, StartKnown: e.SinceKnown}
	if n := len(e.Terms); n > 0 {
		current.NotBefore = e.Terms[n-1].NotBefore
	}
	since := "for " + kit.Duration(s.AsOf.Sub(e.Since))
	if !e.SinceKnown {
		since = d.Sym.AtLeast + kit.Duration(s.AsOf.Sub(e.Since)) + "; the start was not observed"
	}
	d.Field("Since", kit.Span{kit.Text, current.From(s.Now, clock(s))}, kit.Span{kit.Quiet, "  " + since})
	sessionDetail(d, s, e)
	nextDetail(d, s, e)
	valueDetail(d, s, e)
	if last := e.LastTerm(); last != nil {
		d.Head("Before")
		lastTermDetail(d, s, last)
	}
}

func termSpans(sym *kit.Symbols, e *election.Election) []kit.Span {
	return []kit.Span{{kit.Quiet, "  term "}, scene.TermSpan(e, sym)}
}

func clock(s *scene.Scene) func(time.Time) string {
	return func(at time.Time) string { return kit.Clock(at, s.Now) }
}

func sessionDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	if e.Recorded() || s.Past != nil {
		recordedSession(d, e)
		return
	}
	if e.Session == nil {
		why := whyUnread(s, e)
		d.Field("Session", kit.Span{kit.Text, scene.Clean(e.Pair.Session)}, kit.Span{kit.Delay, "  " + why})
		d.Field("Checks", kit.Span{kit.Delay, "unknown"}, kit.Span{kit.Quiet, "  its session: " + why})
		return
	}
	ses := e.Session
	name := []kit.Span{{kit.Text, scene.Clean(ses.ID)}}
	if ses.Name != "" {
		name = append(name, kit.Span{kit.Quiet, "  " + scene.Clean(ses.Name)})
	}
	d.Field("Session", name...)
	d.Field("Node", kit.Span{kit.Text, scene.Clean(ses.Node)})
	scene.SessionSettings(d, s, ses)
}

// recordedSession shows the recorded fields of the holder's session: its ID and its node.
func recordedSession(d *kit.Page, e *election.Election) {
	d.Field("Session", kit.Span{kit.Text, scene.Clean(e.Pair.Session)}, kit.Span{kit.Quiet, "  settings " + scene.NotStored})
	if node := e.Node(); node != "" {
		d.Field("Node", kit.Span{kit.Text, scene.Clean(node)})
	}
	d.Field("Checks", kit.Span{kit.Quiet, scene.NotStored})
}

// sessionWait is the maximum expected time to read the session of a new leader.
const sessionWait = 2 * time.Second

// whyUnread explains why the holder's session is unknown. Consul does not distinguish an unreadable session from a
// missing one. A held key always has a session: if the session is unknown after sessionWait, the token cannot read it.
func whyUnread(s *scene.Scene, e *election.Election) string {
	switch {
	case s.Stale:
		return "not read"
	case s.AsOf.Sub(e.Since) < sessionWait:
		return "being read"
	}
	return scene.NotReadable
}

func vacantDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	r := kit.Vacant
	switch scene.DisplayStateOf(e, s.AsOf) {
	case scene.StateLockDelay:
		r = kit.Delay
	case scene.StateUnsearched:
		r = kit.Text
	case scene.StateIdle:
		r = kit.Text
		d.Para(kit.Quiet, "Idle: no leader since electop started, and no candidate was seen. This is typical of a finished job.")
	default:
	}
	d.Para(r, whyVacant(s, e))
	fixDetail(d, s, e)
	if last := e.LastTerm(); last != nil {
		d.Blank()
		lastTermDetail(d, s, last)
	}
	nextDetail(d, s, e)
	if e.Exists {
		valueDetail(d, s, e)
	}
}

func whyVacant(s *scene.Scene, e *election.Election) string {
	live := s.Live.In(e.Datacenter).Connection
	link := live
	if s.Past != nil {
		link = election.Connection{State: election.Live}
	}
	// WhyVacant computes ages relative to AsOf, but the age of the last response must be relative to now.
	link.LastContact = link.LastContact.Add(s.AsOf.Sub(s.Now))
	if live.LastContact.IsZero() {
		link.LastContact = time.Time{}
	}
	return insight.WhyVacant(e, insight.Situation{Now: s.AsOf, Connection: link, Candidates: s.Insight(e).Likely(), LockDelay: s.Insight(e).LockDelay})
}

func lastTermDetail(d *kit.Page, s *scene.Scene, last *election.Term) {
	who := append(make([]kit.Span, 0, 3), kit.Span{kit.Strong, last.Leader})
	if last.Node != "" && !election.NamesNode(last.Leader, last.Node) {
		who = append(who, kit.Span{kit.Text, " on " + scene.Clean(last.Node)})
	}
	who = append(who, kit.Span{kit.Quiet, ", term " + scene.TermNumber(last.Number) + ", led for " + scene.Held(d.Sym, last.Held(s.AsOf), last.HeldKnown())})
	d.Field("Last leader", who...)
	d.Field("Lost at", kit.Span{kit.Text, last.To(s.Now, clock(s))})
	d.Field("Lost because", causeSpans(s, last)...)
}

// causeWait is the maximum expected time to find a cause.
const causeWait = 2 * time.Second

func causeSpans(s *scene.Scene, t *election.Term) []kit.Span {
	if t.Cause == "" && s.AsOf.Sub(t.End) < causeWait {
		return []kit.Span{{kit.Quiet, "(cause not yet known)"}}
	}
	if by := scene.Operator(t.Cause, t.Evidence); by != "" {
		return operatorSpans(by, t.Cause)
	}
	spans := []kit.Span{{kit.Text, scene.CauseWords(t.Cause)}}
	if t.Evidence != "" && !scene.ByOperator(t.Cause) {
		spans = append(spans, kit.Span{kit.Quiet, ": " + scene.OneLine(t.Evidence, 300)})
	}
	return spans
}

func operatorSpans(by string, c election.Cause) []kit.Span {
	if c == election.OperatorDestroy {
		return []kit.Span{{kit.Text, by + " destroyed the leader's session with electop"}}
	}
	return []kit.Span{{kit.Text, by + " released the lock with electop"}}
}

// valueLines is the maximum number of lines of a value in the detail. The Raw page shows all lines.
const valueLines = 24

func valueDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	v := e.Pair.Value
	switch {
	case e.Recorded(), s.Past != nil:
		d.Field("Value", kit.Span{kit.Quiet, scene.NotStored})
		return
	case len(v) == 0:
		d.Field("Value", kit.Span{kit.Quiet, "empty"})
		return
	case len(v) > valueLimit:
		d.Field("Value", kit.Span{kit.Text, kit.Size(len(v))}, kit.Span{kit.Quiet, "  see Raw"})
		return
	}
	if lines, ok := jsonFields(v); ok {
		kind := "JSON"
		if !e.Pair.Held() {
			kind += ", left by the last leader"
		}
		d.Field("Value", kit.Span{kit.Quiet, kind})
		for i, l := range lines {
			if i == valueLines {
				d.Add(kit.Span{kit.Quiet, kit.Plural(len(lines)-i, "more line") + ", see Raw"})
				break
			}
			d.Field(l.label(), kit.Span{kit.Text, l.Value})
		}
		return
	}
	if text, ok := plainText(v); ok {
		d.Field("Value", kit.Span{kit.Text, scene.OneLine(text, 600)})
		return
	}
	d.Field("Value", kit.Span{kit.Text, kit.Size(len(v)) + " of binary data"}, kit.Span{kit.Quiet, "  see Raw"})
}

// riskDetail warns that Consul may invalidate the leader's session.
func riskDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	switch critical, warning := insight.TallyChecks(e.Session, s.Shown.ChecksOf(e)).Risk(); {
	case critical:
		d.Para(kit.Bad, d.Sym.Critical+" At risk: a check that keeps its session alive is critical. Consul invalidates the session, which ends the term.")
	case warning:
		d.Para(kit.Delay, d.Sym.Warning+" At risk: a check that keeps its session alive is warning. If it becomes critical, Consul invalidates the session.")
	}
}

// failureDetail shows why the leader has failed, and the fix.
func failureDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	f := failure.Of(e, s.Shown.ChecksOf(e))
	if !f.Current() {
		return
	}
	d.Para(kit.Bad, d.Sym.Critical+" "+f.Why())
	if fix := s.Insight(e).Fix; fix != nil {
		scene.FixField(d, fix, s.AsOf)
	}
}

// fixDetail shows the problem with an election without a leader, and the fix, as the fix dialog does. It omits an
// estimated lock-delay, which the text above describes.
func fixDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	state, fix := scene.DisplayStateOf(e, s.AsOf), s.Insight(e).Fix
	if fix == nil || fix.Problem == insight.ProblemLockDelay || s.Stale || s.PartStale() || state != scene.StateVacant && state != scene.StateLockDelay {
		return
	}
	scene.ProblemField(d, fix)
	if fix.Problem == insight.ProblemLockFlags || fix.Problem == insight.ProblemPatroni { // the other reasons are in the text above
		d.Field("Why", kit.Span{kit.Text, fix.Why})
	}
	scene.FixField(d, fix, s.AsOf)
}

// staleDetail shows the age of an election's data if the data is stale or from the history.
func staleDetail(d *kit.Page, s *scene.Scene, e *election.Election) {
	switch {
	case e.Recorded():
		d.Para(kit.Delay, "From the history, observed until "+kit.Clock(e.RecordedUntil, s.Now)+"; not read from Consul yet:")
	case s.PartStale() && s.Past != nil:
		d.Para(kit.Delay, "No observer was running for this datacenter; last known state:")
	case s.PartStale():
		d.Para(kit.Delay, "Stale for "+kit.Duration(s.Now.Sub(s.StaleSince))+": the query for this key fails. Last known at "+
			kit.Clock(s.AsOf, s.Now)+":")
	}
}
