package board

import (
	"net"
	"strings"
	"time"

	"electop/election"
	"electop/election/failure"
	"electop/election/insight"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

type row struct {
	state       scene.DisplayState
	sign        string
	signRole    term.Role
	name        term.Span
	mark        term.Span // sign after the name; empty if there is none
	leader      term.Span
	extra       term.Span // note next to the leader
	extraSign   string    // sign that is drawn if extra does not fit
	result      bool      // extra is the result of an action, and the leader is shortened to make it fit
	node        term.Span
	since       term.Span
	term        term.Span
	session     term.Span
	checks      insight.Tally
	checksKnown bool // the checks of the session can be counted
	// checksUnread is set if the checks could not be read.
	checksUnread bool
	changes      int
}

// rowContext holds the inputs of a row other than its election.
type rowContext struct {
	asOf   time.Time
	sym    *term.Symbols
	checks map[string]election.NodeChecks
	fullID bool
	// stale is set if this election is stale, but other parts of the board are current.
	stale bool
	// followed is the result of the latest action on this election. It is empty if there is none.
	followed string
}

func describe(e *election.Election, c rowContext) row {
	r := row{state: scene.DisplayStateOf(e, c.asOf), changes: e.Changes(c.asOf, query.ChangesWindow)}
	r.sign, r.signRole = r.state.Sign(c.sym)
	r.name = term.Span{term.Text, sanitize.Text(e.Name)}
	r.term = scene.TermSpan(e, c.sym)
	switch r.state {
	case scene.StateLed:
		r.describeLed(e, c)
	case scene.StateUnreadable:
		r.describeUnreadable(e, c)
	case scene.StateSemaphore:
		r.describeSemaphore(e, c)
	default:
		r.describeVacant(e, c)
	}
	if c.followed != "" && r.extraSign == "" {
		r.extra, r.result = term.Span{term.Accent, c.followed}, r.state == scene.StateLed
	}
	if e.Unaddressable {
		r.extra, r.extraSign = term.Span{term.Delay, "unaddressable"}, "!"
	}
	if c.stale {
		r.extra, r.extraSign = term.Span{term.Delay, "stale"}, "!"
	}
	if r.mark.Text == "" && r.state != scene.StateUnreadable && urgent(e, c.asOf) {
		r.mark = term.Span{term.Delay, c.sym.Urgent}
	}
	return r
}

func (r *row) describeLed(e *election.Election, c rowContext) {
	r.leader = term.Span{term.Text, e.Leader}
	r.extra = term.Span{term.Quiet, valueAddress(e.Pair.Value, e.Leader)}
	r.since = term.Span{term.Text, term.AtLeast(c.sym, term.Duration(c.asOf.Sub(e.Since)), e.SinceKnown)}
	r.session = term.Span{term.Quiet, scene.SessionText(e.Pair.Session, c.fullID)}
	r.node = term.Span{term.Quiet, "?"}
	if node := e.Node(); node != "" {
		r.node = term.Span{term.Text, scene.Clean(node)}
	}
	if e.Session != nil {
		r.checks, r.checksKnown = insight.TallyChecks(e.Session, c.checks), true
		r.checksUnread = c.checks[e.Session.Node].Err != ""
		r.warn(c.sym)
	}
	if e.Overwritten() {
		r.signRole = term.Delay
		r.extra, r.extraSign = term.Span{term.Delay, "overwritten"}, "!"
	}
	if f := failure.Of(e, c.checks); f.Current() {
		r.alarm(c.sym)
		r.extra, r.extraSign = term.Span{term.Bad, failure.Brief}, c.sym.Critical
	}
}

func (r *row) alarm(sym *term.Symbols) {
	r.name.Role, r.signRole, r.mark = term.Bad, term.Bad, term.Span{term.Bad, sym.Critical}
}

func (r *row) warn(sym *term.Symbols) {
	switch critical, warning := r.checks.Risk(); {
	case critical:
		r.alarm(sym)
	case warning:
		r.name.Role, r.signRole, r.mark = term.Delay, term.Delay, term.Span{term.Delay, sym.Warning}
	}
}

func (r *row) describeSemaphore(e *election.Election, c rowContext) {
	r.leader = term.Span{term.Text, semaphoreText(e)}
	r.node, r.since = term.Span{term.Faint, c.sym.Dash}, term.Span{term.Faint, c.sym.Dash}
	r.session, r.term = term.Span{term.Faint, c.sym.Dash}, term.Span{term.Faint, c.sym.Dash}
}

func (r *row) describeVacant(e *election.Election, c rowContext) {
	r.name.Role = r.signRole
	r.leader = term.Span{r.signRole, "no leader"}
	if r.state == scene.StateIdle {
		r.leader.Text = "idle"
	}
	if r.state == scene.StateLockDelay {
		r.leader.Text = delayLabel(e) + c.sym.Tilde + term.Duration(e.LockDelayUntil.Sub(c.asOf)+time.Second-1)
	}
	switch {
	case !e.Exists:
		r.extra = term.Span{term.Quiet, "key deleted"}
	case r.state == scene.StateVacant && !e.LockDelayUntil.IsZero():
		r.extra = term.Span{term.Quiet, "can be acquired"}
	}
	r.node = term.Span{term.Quiet, c.sym.Dash}
	if last := e.LastTerm(); last != nil && last.Node != "" {
		r.node.Text = "(" + scene.Clean(last.Node) + ")"
	}
	ago := term.Duration(c.asOf.Sub(e.VacantSince)) + " ago"
	r.since = term.Span{r.signRole, term.AtLeast(c.sym, ago, e.VacantSinceKnown)}
	r.session = term.Span{term.Faint, c.sym.Dash}
}

func (r *row) describeUnreadable(e *election.Election, c rowContext) {
	r.name.Role = term.Quiet
	r.leader = term.Span{term.Quiet, "unreadable"}
	if e.Leader != "" {
		r.extra = term.Span{term.Quiet, "was " + e.Leader}
	}
	r.node, r.since = term.Span{term.Faint, c.sym.Dash}, term.Span{term.Faint, c.sym.Dash}
	r.session = term.Span{term.Faint, c.sym.Dash}
}

// addressLimit is the maximum size of a value that is searched for an address, in bytes.
const addressLimit = 4096

// valueAddress returns the address[:port] in a JSON value. It returns "" if there is no address, or if the label of the
// leader contains the address.
func valueAddress(v []byte, leader string) string {
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
	if address = scene.Clean(address); strings.Contains(leader, address) {
		return ""
	}
	return address
}

// delayLabel returns the label of a lock-delay, with a question mark if the lock-delay is not certain.
func delayLabel(e *election.Election) string {
	if e.LockDelayDoubtful {
		return "lock-delay? "
	}
	return "lock-delay "
}
