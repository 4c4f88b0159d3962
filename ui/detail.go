package ui

import (
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/term"
)

// detailDoc tells what an election is in, why, and what keeps it there.
func detailDoc(d *term.Page, s *scene, e *election.Election) {
	if e.Unaddressable {
		d.Para(term.Delay, "This key is not UTF-8: Consul replaces such bytes, so that electop cannot act on it and other keys may look the same.")
	}
	staleDetail(d, s)
	switch standingOf(e, s.asOf) {
	case standsLed:
		ledDetail(d, s, e)
	case standsUnreadable:
		d.Para(term.Delay, "The token may no longer read this key: what is shown is what was read before.")
		d.Field("Last read", append([]term.Span{{term.Text, e.Leader}}, termSpans(d.Sym, e)...)...)
		valueDetail(d, e)
	case standsSemaphore:
		semaphoreDetail(d, s, e)
	default:
		vacantDetail(d, s, e)
	}
	adviceDetail(d, s.insight(e).advice)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func ledDetail(d *term.Page, s *scene, e *election.Election) {
	if e.Overwritten() {
		d.Para(term.Delay, "A client wrote this key without the lock while it is held (its LockIndex is 0): "+
			"the value may not be the leader's.")
	}
	riskDetail(d, s, e)
	d.Field("Leader", append([]term.Span{{term.Strong, e.Leader}}, termSpans(d.Sym, e)...)...)
	since := []term.Span{{term.Text, sinceText(s, e.Since)}, {term.Quiet, "  for " + term.Duration(s.asOf.Sub(e.Since))}}
	if !e.SinceKnown {
		since = []term.Span{{term.Text, term.Clock(e.Since, s.now) + " or earlier"},
			{term.Quiet, "  " + d.Sym.AtLeast + term.Duration(s.asOf.Sub(e.Since)) + "; it began " + unseenText(e)}}
	}
	d.Field("Since", since...)
	sessionDetail(d, s, e)
	nextDetail(d, s, e)
	valueDetail(d, e)
	if last := e.LastTerm(); last != nil {
		d.Head("Before")
		lastTermDetail(d, s, last)
	}
}

func termSpans(sym *term.Symbols, e *election.Election) []term.Span {
	return []term.Span{{term.Quiet, "  term "}, termSpan(e, sym)}
}

// unseenText says why the beginning of the current term was not seen.
func unseenText(e *election.Election) string {
	if e.LastTerm() != nil {
		return "while Consul was out of reach"
	}
	return "before electop started"
}

func sinceText(s *scene, t time.Time) string { return term.Clock(t, s.now) }

func sessionDetail(d *term.Page, s *scene, e *election.Election) {
	if e.Session == nil {
		why := whyUnread(s, e)
		d.Field("Session", term.Span{term.Text, clean(e.Pair.Session)}, term.Span{term.Delay, "  " + why})
		d.Field("Checks", term.Span{term.Delay, "not known"}, term.Span{term.Quiet, "  its session: " + why})
		return
	}
	ses := e.Session
	name := []term.Span{{term.Text, clean(ses.ID)}}
	if ses.Name != "" {
		name = append(name, term.Span{term.Quiet, "  " + clean(ses.Name)})
	}
	d.Field("Session", name...)
	d.Field("Node", term.Span{term.Text, clean(ses.Node)})
	sessionSettings(d, s, ses)
}

// sessionWait is how long reading the session of a new leader may take.
const sessionWait = 2 * time.Second

// whyUnread says why nothing is known of the session that holds a key. Consul
// does not tell a session that a token may not read from none, but a key is never
// held by none: one that is still missing after a while is hidden.
func whyUnread(s *scene, e *election.Election) string {
	switch {
	case s.stale:
		return "not read"
	case s.asOf.Sub(e.Since) < sessionWait:
		return "being read"
	}
	return notReadable
}

// sessionSettings tells what ends a session and what becomes of its keys then.
func sessionSettings(d *term.Page, s *scene, ses *election.Session) {
	if ses.TTL > 0 {
		d.Field("TTL", term.Span{term.Text, ses.TTL.String()},
			term.Span{term.Quiet, "  Consul ends it about " + (2 * ses.TTL).String() + " after the last renewal, later if Consul's leader changes"})
	} else {
		d.Field("TTL", term.Span{term.Text, "none"}, term.Span{term.Quiet, "  it ends when it is destroyed, a check fails or its node is removed"})
	}
	d.Field("When lost", lostSpans(d.Sym, ses)...)
	checksDetail(d, s, ses)
}

// lostSpans says what becomes of the key when the session ends.
func lostSpans(sym *term.Symbols, ses *election.Session) []term.Span {
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
	return []term.Span{{term.Text, what}, {term.Quiet, " (Behavior " + clean(ses.Behavior) + ") " + sym.Dot + " " + delay}}
}

func checksDetail(d *term.Page, s *scene, ses *election.Session) {
	known, read := s.snap.Checks[ses.Node]
	label := "Checks"
	if len(ses.NodeChecks)+len(ses.ServiceChecks) == 0 {
		d.Field(label, term.Span{term.Delay, "none"}, term.Span{term.Quiet, "  only its TTL, a destroy or the removal of its node ends this session"})
		return
	}
	if read && known.Err != "" {
		d.Field(label, term.Span{term.Delay, clean(known.Err)})
		label = ""
	}
	if !known.Until.IsZero() {
		d.Field(label, term.Span{term.Delay, "as of " + term.Clock(known.Until, s.now) + ", " + term.Duration(s.asOf.Sub(known.Until)) + " ago"})
		label = ""
	}
	for _, kind := range []struct {
		ids  []string
		word string
	}{{ses.NodeChecks, "node"}, {ses.ServiceChecks, "service"}} {
		for _, id := range kind.ids {
			d.Field(label, checkSpans(d.Sym, id, kind.word, known, whyMissing(known, read))...)
			label = ""
		}
	}
}

// notReadable says in plain words that the token lacks a rule.
const notReadable = "not readable with this token"

// whyMissing says why a check is not among those of its node, empty when nothing
// tells.
func whyMissing(known election.NodeChecks, read bool) string {
	switch {
	case !read || known.Err != "":
		return ""
	case known.Partial:
		return notReadable
	}
	return "not registered on this node"
}

// checkSpans tells of one check. missing says why there is none.
func checkSpans(sym *term.Symbols, id, kind string, known election.NodeChecks, missing string) []term.Span {
	c := findCheck(id, known)
	sign, r, word := checkSign(sym, c)
	switch {
	case c == nil && missing != "":
		word = missing
	case !known.Until.IsZero():
		r, word = term.Quiet, word+" then"
	}
	spans := []term.Span{{r, sign + " "}, {term.Text, clean(id)}, {term.Quiet, "  " + kind + " check, "}, {r, word}}
	if c != nil && c.Output != "" {
		output := term.Quiet
		if c.Status != election.StatusPassing && known.Until.IsZero() {
			output = term.Text
		}
		spans = append(spans, term.Span{output, "  " + oneLine(c.Output, 240)})
	}
	return spans
}

func vacantDetail(d *term.Page, s *scene, e *election.Election) {
	r := term.Vacant
	if standingOf(e, s.asOf) == standsDelay {
		r = term.Delay
	}
	d.Para(r, whyVacant(s, e))
	if last := e.LastTerm(); last != nil {
		d.Blank()
		lastTermDetail(d, s, last)
	}
	nextDetail(d, s, e)
	if e.Exists {
		valueDetail(d, e)
	}
}

// whyVacant is one sentence or two on why nobody leads and what that means: the
// same as `electop show` says.
func whyVacant(s *scene, e *election.Election) string {
	link := s.live.Connection
	// How long Consul has been silent counts up to now, all else up to asOf.
	link.LastContact = link.LastContact.Add(s.asOf.Sub(s.now))
	if s.live.Connection.LastContact.IsZero() {
		link.LastContact = time.Time{}
	}
	return insight.WhyVacant(e, insight.Situation{Now: s.asOf, Connection: link, Candidates: s.insight(e).likely()})
}

// lastTermDetail tells of the latest term that ended.
func lastTermDetail(d *term.Page, s *scene, last *election.Term) {
	who := append(make([]term.Span, 0, 3), term.Span{term.Strong, last.Leader})
	if last.Node != "" && !election.NamesNode(last.Leader, last.Node) {
		who = append(who, term.Span{term.Text, " on " + clean(last.Node)})
	}
	who = append(who, term.Span{term.Quiet, ", term " + termNumber(last.Number) + ", led for " + held(d.Sym, last.Held(s.asOf), last.HeldKnown())})
	d.Field("Last leader", who...)
	d.Field("Lost at", term.Span{term.Text, endText(s, last)})
	d.Field("Lost because", causeSpans(s, last)...)
}

// endText is when a term ended, as far as that was seen.
func endText(s *scene, t *election.Term) string {
	if t.SeenUntil.IsZero() {
		return term.Clock(t.End, s.now)
	}
	return "before " + term.Clock(t.End, s.now) + ", while Consul was out of reach"
}

// causeWait is how long the evidence of a cause may take.
const causeWait = 2 * time.Second

func causeSpans(s *scene, t *election.Term) []term.Span {
	if t.Cause == "" && s.asOf.Sub(t.End) < causeWait {
		return []term.Span{{term.Quiet, "looking for the cause"}}
	}
	spans := []term.Span{{term.Text, causeWords(t.Cause)}}
	if t.Evidence != "" && !byOperator(t.Cause) {
		spans = append(spans, term.Span{term.Quiet, ": " + oneLine(t.Evidence, 300)})
	}
	return spans
}

// valueLines is how many lines of a value the detail shows; Raw has them all.
const valueLines = 24

func valueDetail(d *term.Page, e *election.Election) {
	v := e.Pair.Value
	switch {
	case len(v) == 0:
		d.Field("Value", term.Span{term.Quiet, "empty"})
		return
	case len(v) > valueLimit:
		d.Field("Value", term.Span{term.Text, term.Size(len(v))}, term.Span{term.Quiet, "  see Raw"})
		return
	}
	if lines, ok := jsonFields(v); ok {
		kind := "JSON"
		if !e.Pair.Held() {
			kind += ", left by the last leader"
		}
		d.Field("Value", term.Span{term.Quiet, kind})
		for i, l := range lines {
			if i == valueLines {
				d.Add(term.Span{term.Quiet, term.Plural(len(lines)-i, "more line") + ", see Raw"})
				break
			}
			d.Field(l.label(), term.Span{term.Text, l.value})
		}
		return
	}
	if text, ok := plainText(v); ok {
		d.Field("Value", term.Span{term.Text, oneLine(text, 600)})
		return
	}
	d.Field("Value", term.Span{term.Text, term.Size(len(v)) + " of binary data"}, term.Span{term.Quiet, "  see Raw"})
}
