package scene

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
)

// textLimit is the maximum length in runes of a text from Consul on one line.
const textLimit = 400

// Clean sanitizes a text from Consul for one line of the screen.
func Clean(s string) string { return sanitize.Line(s, textLimit) }

// Short sanitizes a name for one line of the screen.
func Short(s string) string { return sanitize.Line(s, 60) }

// Held formats the length of a term.
func (s *Scene) Held(d time.Duration, known bool) string {
	if !known && d < time.Millisecond {
		return "an unknown time"
	}
	return s.AtLeast(election.FormatDuration(d), known)
}

// AtLeast marks the text of a duration as a lower bound unless the duration is known exactly.
func (s *Scene) AtLeast(text string, known bool) string {
	if known {
		return text
	}
	return s.Sym.AtLeast + text
}

// Clock formats a time as [kit.Dated] does, with seconds.
func (s *Scene) Clock(t time.Time) string { return kit.Dated(t, s.Now, true) }

// Ago formats the time since a moment.
func (s *Scene) Ago(t time.Time) string { return election.BriefDuration(s.Now.Sub(t)) }

// CauseWords returns the clause that explains why a term ended.
func CauseWords(c election.Cause) string {
	switch c {
	case election.Released:
		return "it was released"
	case election.CheckCritical:
		return "a check of its session went critical"
	case election.CheckGone:
		return "a check of its session was deregistered"
	case election.NodeGone:
		return "its node was deregistered"
	case election.SessionDestroyed:
		return "its session was destroyed"
	case election.SessionExpired:
		return "its session expired"
	case election.SessionExpiredOrDestroyed:
		return "its session expired or was destroyed"
	case election.KeyDeleted:
		return "the key was deleted"
	case election.OperatorRelease:
		return "electop released the lock"
	case election.OperatorDestroy:
		return "electop destroyed the leader's session"
	default:
		return "unknown"
	}
}

// Operator returns the user@host of the operator who ended a term with electop. It is empty if the evidence contains no
// operator.
func Operator(c election.Cause, evidence string) string {
	_, by, named := strings.Cut(evidence, " with electop by ")
	if !named || !c.ByOperator() {
		return ""
	}
	by, _, _ = strings.Cut(by, ", ")
	return sanitize.Line(by, 80)
}

// causeWait is the maximum expected time to find a cause.
const causeWait = 2 * time.Second

// CauseSpans describes why a term ended or which operator ended it.
func (s *Scene) CauseSpans(t *election.Term) []kit.Span {
	by, words := Operator(t.Cause, t.Evidence), CauseWords(t.Cause)
	if by == "" && t.Cause.ByOperator() {
		by = Clean(t.By)
	}
	switch {
	case t.Cause == "" && s.AsOf.Sub(t.End) < causeWait:
		return kit.Quiet.Spans("not known yet")
	case by != "":
		_, drain, _ := strings.Cut(t.Evidence, " with electop by "+by)
		return kit.Text.Spans(by + strings.TrimPrefix(words, "electop") + " with electop" + Clean(drain))
	case t.Evidence == "" || t.Cause.ByOperator():
		return kit.Text.Spans(words)
	}
	if t.Guess {
		words = "probably " + words
	}
	return []kit.Span{{kit.Text, words}, {kit.Quiet, ": " + sanitize.Line(t.Evidence, 300)}}
}

// TermText is [election.TermText] with "term ?" for an unknown number.
func TermText(number, createIndex uint64, session string) string {
	return strings.Replace(election.TermText(number, createIndex, session), "unknown", "?", 1)
}

// SessionText returns a session ID. It is shortened unless full is set.
func SessionText(id string, full bool) string {
	if full {
		return Clean(id)
	}
	return election.ShortID(id)
}

// Earlier returns the earlier of two times. It ignores a zero time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// TermSpan shows the number of the current term or, without a leader, of the latest term. A revision is named.
func (s *Scene) TermSpan(e *election.Election) kit.Span {
	switch {
	case e.Overwritten():
		return kit.Delay.Span(strings.TrimPrefix(TermText(e.Term, 0, ""), "term ") + "!")
	case e.Term == 0:
		return kit.Faint.Span(s.Sym.Dash)
	}
	number := strconv.FormatUint(e.Term, 10)
	if e.Store.Revisions {
		number = "rev " + number
	}
	return kit.Quiet.Span(number)
}

// TermSpans is [Scene.TermSpan] in a sentence.
func (s *Scene) TermSpans(e *election.Election) []kit.Span {
	label := "  term "
	if e.Store.Revisions {
		label = "  "
	}
	return []kit.Span{{kit.Quiet, label}, s.TermSpan(e)}
}
