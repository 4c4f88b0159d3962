package scene

import (
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
)

// Led lists the elections that each session leads.
func Led(es []*election.Election) map[string][]*election.Election {
	led := make(map[string][]*election.Election, len(es))
	for _, e := range es {
		if e.Held() {
			id := strings.ToLower(e.Pair.Session)
			led[id] = append(led[id], e)
		}
	}
	return led
}

// SessionSettings writes the conditions under which a session ends, and what then happens to its keys.
func (s *Scene) SessionSettings(d *kit.Page, ses *election.Session) {
	if !ses.Expires.IsZero() {
		expires := "its remaining time was last read at " + kit.ClockTime(ses.Read)
		if left := ses.Expires.Sub(s.Now); left > 0 {
			expires = "expires in " + election.BriefDuration(left) + " unless renewed"
		}
		d.Value("TTL", ses.TTLText(), expires)
		d.Value("When lost", "its keys are deleted")
		return
	}
	if ses.TTL > 0 {
		d.Value("TTL", ses.TTL.String(), "Consul ends the session about "+(2*ses.TTL).String()+" after the last renewal")
	} else {
		when := "the session ends when it is destroyed, a check fails or its node is removed"
		if unchecked(ses) {
			when = "the session ends when it is destroyed or its node is removed"
		}
		d.Value("TTL", "none", when)
	}
	what := "the key is released"
	if ses.Behavior == election.BehaviorDelete {
		what = "the key is deleted"
	}
	delay := "no lock-delay"
	switch {
	case ses.LockDelay > election.MaxLockDelay:
		delay = "lock-delay " + ses.LockDelay.String() + ", enforced for " + election.MaxLockDelay.String()
	case ses.LockDelay > 0:
		delay = "lock-delay " + ses.LockDelay.String()
	}
	d.Field("When lost", kit.Text.Span(what), kit.Quiet.Span(" (Behavior "+Clean(ses.Behavior)+") "+d.Sym.Dot+" "+delay))
	s.checksDetail(d, ses)
}

func unchecked(ses *election.Session) bool { return len(ses.NodeChecks)+len(ses.ServiceChecks) == 0 }

func (s *Scene) checksDetail(d *kit.Page, ses *election.Session) {
	known, read := s.Shown.In(ses.Datacenter).Checks[ses.Node]
	label := "Checks"
	if unchecked(ses) {
		what := "  only its TTL, a destroy or the removal of its node ends this session"
		if ses.TTL == 0 {
			what = "  only a destroy or the removal of its node ends this session"
		}
		d.Field(label, kit.Delay.Span("none"), kit.Quiet.Span(what))
		return
	}
	if known.Err != "" {
		d.Field(label, kit.Delay.Span(Clean(known.Err)))
		label = ""
	}
	if !known.Until.IsZero() {
		d.Field(label, kit.Delay.Span("as of "+s.Clock(known.Until)+", "+s.Ago(known.Until)+" ago"))
		label = ""
	}
	missing := "not registered on this node"
	switch {
	case !read || known.Err != "": // the reason is unknown
		missing = ""
	case known.Partial:
		missing = NotReadable
	}
	list := func(ids []string, kind string) {
		for _, id := range ids {
			d.Field(label, checkSpans(d.Sym, id, kind, known, missing)...)
			label = ""
		}
	}
	list(ses.NodeChecks, "node")
	list(ses.ServiceChecks, "service")
}

// NotReadable is the text for data that the token cannot read.
const NotReadable = "not readable with this token"

// sessionWait is the maximum expected time to read the session of a new leader.
const sessionWait = 2 * time.Second

// WhyUnread explains why the holder's session is unknown. Consul does not distinguish an unreadable session from a
// missing one. A held key always has a session: if the session is unknown after sessionWait, the token cannot read it.
func (s *Scene) WhyUnread(e *election.Election) string {
	switch {
	case s.Stale:
		return "not read"
	case s.AsOf.Sub(e.Since) < sessionWait:
		return "being read"
	}
	return NotReadable
}

// WriteRisk shows why the leader has failed and the fix, or warns that Consul may invalidate the leader's session.
func (s *Scene) WriteRisk(d *kit.Page, e *election.Election) {
	checks := s.Shown.ChecksOf(e)
	if fix := s.Insight().Fix; fix != nil && insight.FailureOf(e, checks).Current() { // otherwise, advice says so
		d.Para(kit.Bad, s.Sym.Critical+" "+fix.Why)
		FixField(d, fix, s.AsOf)
	}
	switch critical, warning := insight.TallyChecks(e.Session, checks).Risk(); {
	case critical:
		d.Para(kit.Bad, s.Sym.Critical+" At risk: a check that keeps its session alive is critical. Consul invalidates the session, which ends the term.")
	case warning:
		d.Para(kit.Delay, s.Sym.Warning+" At risk: a check that keeps its session alive is warning. If it becomes critical, Consul invalidates the session.")
	}
}

// checkSpans describes one check. If the check is absent, missing is the reason.
func checkSpans(sym *kit.Symbols, id, kind string, known election.NodeChecks, missing string) []kit.Span {
	c := election.FindCheck(known.Checks, id)
	sign, r, word := checkSign(sym, c)
	switch {
	case c == nil && missing != "":
		word = missing
	case !known.Until.IsZero():
		r, word = kit.Quiet, word+" then"
	}
	spans := []kit.Span{{r, sign + " "}, {kit.Text, Clean(id)}, {kit.Quiet, "  " + kind + " check, "}, {r, word}}
	if c != nil && c.Output != "" {
		output := kit.Quiet
		if c.Status != election.StatusPassing && known.Until.IsZero() {
			output = kit.Text
		}
		spans = append(spans, output.Span("  "+sanitize.Line(c.Output, 240)))
	}
	return spans
}

// TallySign returns the symbol of the worst check.
func TallySign(t insight.Tally, sym *kit.Symbols) string {
	switch {
	case t.Critical > 0:
		return sym.Critical
	case t.Warning > 0:
		return sym.Warning
	case t.Unknown > 0:
		return sym.Unknown
	}
	return sym.Passing
}

// checkSign returns the symbol, role and word of a check's status.
func checkSign(sym *kit.Symbols, c *election.Check) (string, kit.Role, string) {
	if c == nil {
		return sym.Unknown, kit.Quiet, "unknown"
	}
	switch c.Status {
	case election.StatusPassing:
		return sym.Passing, kit.Led, "passing"
	case election.StatusWarning:
		return sym.Warning, kit.Delay, "warning"
	case election.StatusCritical:
		return sym.Critical, kit.Bad, "critical"
	}
	return sym.Unknown, kit.Quiet, Clean(c.Status)
}
