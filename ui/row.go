package ui

import (
	"net"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// standing is what an election is in, as the screen tells it apart.
type standing uint8

const (
	standsLed standing = iota
	standsDelay
	standsVacant
	standsSemaphore // a key that has several holders by design
	standsUnreadable
)

func standingOf(e *election.Election, asOf time.Time) standing {
	if e.Unreadable {
		return standsUnreadable
	}
	switch state := e.State(asOf); {
	case state == election.Led:
		return standsLed
	case e.IsSemaphore():
		return standsSemaphore
	case state == election.InLockDelay:
		return standsDelay
	default:
		return standsVacant
	}
}

// word is the standing in the vocabulary of the command line and the filter.
func (s standing) word() string {
	return [...]string{"led", "lock-delay", "vacant", "semaphore", "unreadable"}[s]
}

func (s standing) sign(sym *symbols) (string, role) {
	switch s {
	case standsLed:
		return sym.led, roleLed
	case standsDelay:
		return sym.delay, roleDelay
	case standsVacant:
		return sym.vacant, roleVacant
	case standsSemaphore:
		return sym.semaphore, roleTermB
	default:
		return sym.unreadable, roleQuiet
	}
}

// row is one election in the words of the table.
type row struct {
	stands      standing
	sign        string
	signRole    role
	name        span
	mark        span // a sign after the name, its text empty for none
	leader      span
	extra       span   // what is to be said beside the leader
	extraSign   string // the same where there is no room, empty if it may go
	node        span
	since       span
	term        span
	session     span
	checks      tally
	checksKnown bool // there is a session whose checks can be counted
	// checksUnread says that they could not be read.
	checksUnread bool
	changes      int
}

// rowContext is what turning an election into a row needs beside the election.
type rowContext struct {
	asOf   time.Time
	sym    *symbols
	checks map[string]election.NodeChecks
	fullID bool
	// stale says that the election is stale and others are not.
	stale bool
}

func describe(e *election.Election, c rowContext) row {
	r := row{stands: standingOf(e, c.asOf), changes: e.Changes(c.asOf, changesWindow)}
	r.sign, r.signRole = r.stands.sign(c.sym)
	r.name = span{roleText, sanitize.Text(e.Name)}
	r.term = termSpan(e, c.sym)
	switch r.stands {
	case standsLed:
		r.describeLed(e, c)
	case standsUnreadable:
		r.describeUnreadable(e, c)
	case standsSemaphore:
		r.describeSemaphore(e, c)
	default:
		r.describeVacant(e, c)
	}
	if e.Unaddressable {
		r.extra, r.extraSign = span{roleDelay, "unaddressable"}, "!"
	}
	if c.stale {
		r.extra, r.extraSign = span{roleDelay, "stale"}, "!"
	}
	if r.mark.text == "" && r.stands != standsUnreadable && judge(e, c.asOf).urgent {
		r.mark = span{roleDelay, c.sym.urgent}
	}
	return r
}

func (r *row) describeLed(e *election.Election, c rowContext) {
	r.leader = span{roleText, e.Leader}
	r.extra = span{roleQuiet, valueAddress(e)}
	r.since = span{roleText, atLeast(c.sym, duration(c.asOf.Sub(e.Since)), e.SinceKnown)}
	r.session = span{roleQuiet, sessionText(e.Pair.Session, c.fullID)}
	r.node = span{roleQuiet, "?"}
	if e.Session != nil {
		r.node = span{roleText, clean(e.Session.Node)}
		r.checks, r.checksKnown = tallyChecks(e.Session, c.checks), true
		r.checksUnread = c.checks[e.Session.Node].Err != ""
		r.warn(c.sym)
	}
	if e.Overwritten() {
		r.signRole = roleDelay
		r.extra, r.extraSign = span{roleDelay, "overwritten"}, "!"
	}
}

// termSpan is the number of the current term, or of the latest one while there is no
// leader, as every part of the screen shows it.
func termSpan(e *election.Election, sym *symbols) span {
	switch {
	case e.Overwritten():
		return span{roleDelay, termNumber(e.Term) + "!"}
	case e.Term == 0:
		return span{roleFaint, sym.dash}
	}
	return span{roleQuiet, number(e.Term)}
}

// termNumber writes the number of a term that had a leader. It is 0 if the key was
// written without the lock before electop first read it.
func termNumber(n uint64) string {
	if n == 0 {
		return "?"
	}
	return number(n)
}

// warn makes a leader that is about to fall meet the eye.
func (r *row) warn(sym *symbols) {
	switch critical, warning := r.checks.risk(); {
	case critical:
		r.name.role, r.signRole, r.mark = roleBad, roleBad, span{roleBad, sym.critical}
	case warning:
		r.name.role, r.signRole, r.mark = roleDelay, roleDelay, span{roleDelay, sym.warning}
	}
}

func (r *row) describeSemaphore(e *election.Election, c rowContext) {
	r.leader = span{roleText, judge(e, c.asOf).semaphore}
	r.node, r.since = span{roleFaint, c.sym.dash}, span{roleFaint, c.sym.dash}
	r.session, r.term = span{roleFaint, c.sym.dash}, span{roleFaint, c.sym.dash}
}

func (r *row) describeVacant(e *election.Election, c rowContext) {
	r.name.role = r.signRole
	r.leader = span{r.signRole, "no leader"}
	if r.stands == standsDelay {
		r.leader.text = doubt(e) + c.sym.tilde + duration(e.LockDelayUntil.Sub(c.asOf)+time.Second-1)
	}
	switch {
	case !e.Exists:
		r.extra = span{roleQuiet, "key deleted"}
	case r.stands == standsVacant && !e.LockDelayUntil.IsZero():
		r.extra = span{roleQuiet, "may be taken"}
	}
	r.node = span{roleQuiet, c.sym.dash}
	if last := e.LastTerm(); last != nil && last.Node != "" {
		r.node.text = "(" + clean(last.Node) + ")"
	}
	ago := duration(c.asOf.Sub(e.VacantSince)) + " ago"
	r.since = span{r.signRole, atLeast(c.sym, ago, e.VacantSinceKnown)}
	r.session = span{roleFaint, c.sym.dash}
}

func (r *row) describeUnreadable(e *election.Election, c rowContext) {
	r.name.role = roleQuiet
	r.leader = span{roleQuiet, "unreadable"}
	if e.Leader != "" {
		r.extra = span{roleQuiet, "was " + e.Leader}
	}
	r.node, r.since = span{roleFaint, c.sym.dash}, span{roleFaint, c.sym.dash}
	r.session = span{roleFaint, c.sym.dash}
}

func sessionText(id string, full bool) string {
	if full {
		return clean(id)
	}
	return election.ShortID(id)
}

// addressLimit is the largest value that is searched for an address.
const addressLimit = 4096

// valueAddress is the address[:port] in a JSON value, empty when there is none
// or when the label shows it already.
func valueAddress(e *election.Election) string {
	v := e.Pair.Value
	if len(v) == 0 || len(v) > addressLimit {
		return ""
	}
	address := election.JSONMember(v, "address")
	if address == "" {
		address = election.JSONMember(v, "addr")
	}
	if address == "" {
		return ""
	}
	if port := election.JSONMember(v, "port"); port != "" && !strings.Contains(address, ":") {
		address = net.JoinHostPort(address, port)
	}
	if address = clean(address); strings.Contains(e.Leader, address) {
		return ""
	}
	return address
}

// doubt names the lock-delay, with a question mark where it is not known whether
// one follows at all.
func doubt(e *election.Election) string {
	if e.LockDelayDoubtful {
		return "lock-delay? "
	}
	return "lock-delay "
}
