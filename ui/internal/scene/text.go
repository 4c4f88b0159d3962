package scene

import (
	"strconv"
	"time"

	"electop/election/sanitize"
	"electop/ui/internal/term"

	"electop/election"
)

// Number writes a number without groups.
func Number(n uint64) string { return strconv.FormatUint(n, 10) }

// textLimit is the longest text from Consul that is considered for one line.
const textLimit = 400

// Clean makes a text from Consul fit for one line of the screen.
func Clean(s string) string { return OneLine(s, textLimit) }

// OneLine is [sanitize.Line], which looks at every rune, with a short way for
// what nearly every text is: short printable ASCII.
func OneLine(s string, limit int) string {
	if isPlain(s, limit) {
		return s
	}
	return sanitize.Line(s, limit)
}

// isPlain reports printable ASCII of at most limit characters without blanks at
// its ends.
func isPlain(s string, limit int) bool {
	if len(s) > limit || s == "" || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Held writes how long a leader led. Below a second it is precise: "0s" would read
// as no time at all.
func Held(sym *term.Symbols, d time.Duration, known bool) string {
	switch {
	case !known && d < time.Millisecond:
		return "an unknown time"
	case d < time.Second:
		return term.AtLeast(sym, term.Precise(d), known)
	}
	return term.AtLeast(sym, term.Duration(d), known)
}

// causeTexts are the vocabulary's word for a cause, and a clause that says why a term
// ended.
func causeTexts(c election.Cause) (label, clause string) {
	switch c {
	case election.Released:
		return "released", "it was released"
	case election.CheckCritical:
		return "check critical", "a check of its session went critical"
	case election.CheckGone:
		return "check gone", "a check of its session was deregistered"
	case election.NodeGone:
		return "node gone", "its node was deregistered"
	case election.SessionDestroyed:
		return "session destroyed", "its session was destroyed"
	case election.SessionExpiredOrDestroyed:
		return "session expired or destroyed", "its session expired or was destroyed"
	case election.KeyDeleted:
		return "key deleted", "the key was deleted"
	case election.OperatorRelease:
		return "released by electop", "electop released it"
	case election.OperatorDestroy:
		return "destroyed by electop", "electop destroyed its session"
	default:
		return "cause unknown", "not known"
	}
}

// CauseWords says as a clause why a term ended.
func CauseWords(c election.Cause) string {
	_, clause := causeTexts(c)
	return clause
}

// CauseLabel is the vocabulary's word for a cause, as it stands in lists.
func CauseLabel(c election.Cause) string {
	label, _ := causeTexts(c)
	return label
}

// ByOperator reports causes whose words say everything: their evidence is that
// this program did it.
func ByOperator(c election.Cause) bool {
	return c == election.OperatorRelease || c == election.OperatorDestroy
}

// TermNumber writes the number of a term that had a leader. It is 0 if the key was
// written without the lock before electop first read it.
func TermNumber(n uint64) string {
	if n == 0 {
		return "?"
	}
	return Number(n)
}

// SessionText is the ID of a session, short unless full.
func SessionText(id string, full bool) string {
	if full {
		return Clean(id)
	}
	return election.ShortID(id)
}

// Earlier is the first of two moments; the zero time is none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// TermSpan is the number of the current term, or of the latest one while there is no
// leader, as every part of the screen shows it.
func TermSpan(e *election.Election, sym *term.Symbols) term.Span {
	switch {
	case e.Overwritten():
		return term.Span{term.Delay, TermNumber(e.Term) + "!"}
	case e.Term == 0:
		return term.Span{term.Faint, sym.Dash}
	}
	return term.Span{term.Quiet, Number(e.Term)}
}
