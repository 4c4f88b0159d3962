package ui

import (
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
)

// detailDoc tells what an election is in, why, and what keeps it there.
func detailDoc(d *doc, s *scene, e *election.Election) {
	if e.Unaddressable {
		d.para(roleDelay, "This key is not UTF-8: Consul replaces such bytes, so that electop cannot act on it and other keys may look the same.")
	}
	staleDetail(d, s)
	switch standingOf(e, s.asOf) {
	case standsLed:
		ledDetail(d, s, e)
	case standsUnreadable:
		d.para(roleDelay, "The token may no longer read this key: what is shown is what was read before.")
		d.field("Last read", append([]span{{roleText, e.Leader}}, termSpans(d.sym, e)...)...)
		valueDetail(d, e)
	case standsSemaphore:
		semaphoreDetail(d, s, e)
	default:
		vacantDetail(d, s, e)
	}
	adviceDetail(d, s.insight(e).advice)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func ledDetail(d *doc, s *scene, e *election.Election) {
	if e.Overwritten() {
		d.para(roleDelay, "A client wrote this key without the lock while it is held (its LockIndex is 0): "+
			"the value may not be the leader's.")
	}
	riskDetail(d, s, e)
	d.field("Leader", append([]span{{roleStrong, e.Leader}}, termSpans(d.sym, e)...)...)
	since := []span{{roleText, sinceText(s, e.Since)}, {roleQuiet, "  for " + duration(s.asOf.Sub(e.Since))}}
	if !e.SinceKnown {
		since = []span{{roleText, clock(e.Since, s.now) + " or earlier"},
			{roleQuiet, "  " + d.sym.atLeast + duration(s.asOf.Sub(e.Since)) + "; it began " + unseenText(e)}}
	}
	d.field("Since", since...)
	sessionDetail(d, s, e)
	nextDetail(d, s, e)
	valueDetail(d, e)
	if last := e.LastTerm(); last != nil {
		d.head("Before")
		lastTermDetail(d, s, last)
	}
}

func termSpans(sym *symbols, e *election.Election) []span {
	return []span{{roleQuiet, "  term "}, termSpan(e, sym)}
}

// unseenText says why the beginning of the current term was not seen.
func unseenText(e *election.Election) string {
	if e.LastTerm() != nil {
		return "while Consul was out of reach"
	}
	return "before electop started"
}

func sinceText(s *scene, t time.Time) string { return clock(t, s.now) }

func sessionDetail(d *doc, s *scene, e *election.Election) {
	if e.Session == nil {
		why := whyUnread(s, e)
		d.field("Session", span{roleText, clean(e.Pair.Session)}, span{roleDelay, "  " + why})
		d.field("Checks", span{roleDelay, "not known"}, span{roleQuiet, "  its session: " + why})
		return
	}
	ses := e.Session
	name := []span{{roleText, clean(ses.ID)}}
	if ses.Name != "" {
		name = append(name, span{roleQuiet, "  " + clean(ses.Name)})
	}
	d.field("Session", name...)
	d.field("Node", span{roleText, clean(ses.Node)})
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
func sessionSettings(d *doc, s *scene, ses *election.Session) {
	if ses.TTL > 0 {
		d.field("TTL", span{roleText, ses.TTL.String()},
			span{roleQuiet, "  Consul ends it about " + (2 * ses.TTL).String() + " after the last renewal, later if Consul's leader changes"})
	} else {
		d.field("TTL", span{roleText, "none"}, span{roleQuiet, "  it ends when it is destroyed, a check fails or its node is removed"})
	}
	d.field("When lost", lostSpans(d.sym, ses)...)
	checksDetail(d, s, ses)
}

// lostSpans says what becomes of the key when the session ends.
func lostSpans(sym *symbols, ses *election.Session) []span {
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
	return []span{{roleText, what}, {roleQuiet, " (Behavior " + clean(ses.Behavior) + ") " + sym.dot + " " + delay}}
}

func checksDetail(d *doc, s *scene, ses *election.Session) {
	known, read := s.snap.Checks[ses.Node]
	label := "Checks"
	if len(ses.NodeChecks)+len(ses.ServiceChecks) == 0 {
		d.field(label, span{roleDelay, "none"}, span{roleQuiet, "  only its TTL, a destroy or the removal of its node ends this session"})
		return
	}
	if read && known.Err != "" {
		d.field(label, span{roleDelay, clean(known.Err)})
		label = ""
	}
	if !known.Until.IsZero() {
		d.field(label, span{roleDelay, "as of " + clock(known.Until, s.now) + ", " + duration(s.asOf.Sub(known.Until)) + " ago"})
		label = ""
	}
	for _, kind := range []struct {
		ids  []string
		word string
	}{{ses.NodeChecks, "node"}, {ses.ServiceChecks, "service"}} {
		for _, id := range kind.ids {
			d.field(label, checkSpans(d.sym, id, kind.word, known, whyMissing(known, read))...)
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
func checkSpans(sym *symbols, id, kind string, known election.NodeChecks, missing string) []span {
	c := findCheck(id, known)
	sign, r, word := checkSign(sym, c)
	switch {
	case c == nil && missing != "":
		word = missing
	case !known.Until.IsZero():
		r, word = roleQuiet, word+" then"
	}
	spans := []span{{r, sign + " "}, {roleText, clean(id)}, {roleQuiet, "  " + kind + " check, "}, {r, word}}
	if c != nil && c.Output != "" {
		output := roleQuiet
		if c.Status != election.StatusPassing && known.Until.IsZero() {
			output = roleText
		}
		spans = append(spans, span{output, "  " + oneLine(c.Output, 240)})
	}
	return spans
}

func vacantDetail(d *doc, s *scene, e *election.Election) {
	r := roleVacant
	if standingOf(e, s.asOf) == standsDelay {
		r = roleDelay
	}
	d.para(r, whyVacant(s, e))
	if last := e.LastTerm(); last != nil {
		d.blank()
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
func lastTermDetail(d *doc, s *scene, last *election.Term) {
	who := append(make([]span, 0, 3), span{roleStrong, last.Leader})
	if last.Node != "" && !election.NamesNode(last.Leader, last.Node) {
		who = append(who, span{roleText, " on " + clean(last.Node)})
	}
	who = append(who, span{roleQuiet, ", term " + termNumber(last.Number) + ", led for " + held(d.sym, last.Held(s.asOf), last.HeldKnown())})
	d.field("Last leader", who...)
	d.field("Lost at", span{roleText, endText(s, last)})
	d.field("Lost because", causeSpans(s, last)...)
}

// endText is when a term ended, as far as that was seen.
func endText(s *scene, t *election.Term) string {
	if t.SeenUntil.IsZero() {
		return clock(t.End, s.now)
	}
	return "before " + clock(t.End, s.now) + ", while Consul was out of reach"
}

// causeWait is how long the evidence of a cause may take.
const causeWait = 2 * time.Second

func causeSpans(s *scene, t *election.Term) []span {
	if t.Cause == "" && s.asOf.Sub(t.End) < causeWait {
		return []span{{roleQuiet, "looking for the cause"}}
	}
	spans := []span{{roleText, causeWords(t.Cause)}}
	if t.Evidence != "" && !byOperator(t.Cause) {
		spans = append(spans, span{roleQuiet, ": " + oneLine(t.Evidence, 300)})
	}
	return spans
}

// valueLines is how many lines of a value the detail shows; Raw has them all.
const valueLines = 24

func valueDetail(d *doc, e *election.Election) {
	v := e.Pair.Value
	switch {
	case len(v) == 0:
		d.field("Value", span{roleQuiet, "empty"})
		return
	case len(v) > valueLimit:
		d.field("Value", span{roleText, size(len(v))}, span{roleQuiet, "  see Raw"})
		return
	}
	if lines, ok := jsonFields(v); ok {
		kind := "JSON"
		if !e.Pair.Held() {
			kind += ", left by the last leader"
		}
		d.field("Value", span{roleQuiet, kind})
		for i, l := range lines {
			if i == valueLines {
				d.add(span{roleQuiet, plural(len(lines)-i, "more line") + ", see Raw"})
				break
			}
			d.field(l.label(), span{roleText, l.value})
		}
		return
	}
	if text, ok := plainText(v); ok {
		d.field("Value", span{roleText, oneLine(text, 600)})
		return
	}
	d.field("Value", span{roleText, size(len(v)) + " of binary data"}, span{roleQuiet, "  see Raw"})
}
