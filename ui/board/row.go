package board

import (
	"net"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

type row struct {
	state       scene.DisplayState
	sign        string
	signRole    kit.Role
	name        kit.Span
	mark        kit.Span // sign after the name; empty if there is none
	leader      kit.Span
	extra       kit.Span // note next to the leader
	extraSign   string   // sign that is drawn if extra does not fit
	result      bool     // extra is the result of an action, and the leader is shortened to make it fit
	node        kit.Span
	since       kit.Span
	term        kit.Span
	session     kit.Span
	checks      insight.Tally
	checksKnown bool // the checks of the session can be counted
	// checksUnread is set if the checks could not be read.
	checksUnread bool
	changes      int
}

// rowContext holds the inputs of a row other than its election.
type rowContext struct {
	asOf   time.Time
	sym    *kit.Symbols
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
	r.name = kit.Span{kit.Text, sanitize.Text(e.Name)}
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
		r.extra, r.result = kit.Span{kit.Accent, c.followed}, r.state == scene.StateLed
	}
	if e.Unaddressable {
		r.extra, r.extraSign = kit.Span{kit.Delay, "unaddressable"}, "!"
	}
	if c.stale {
		r.extra, r.extraSign = kit.Span{kit.Delay, "stale"}, "!"
	}
	if r.mark.Text == "" && r.state != scene.StateUnreadable && urgent(e, c.asOf) {
		r.mark = kit.Span{kit.Delay, c.sym.Urgent}
	}
	return r
}

func (r *row) describeLed(e *election.Election, c rowContext) {
	r.leader = kit.Span{kit.Text, e.Leader}
	r.extra = kit.Span{kit.Quiet, valueAddress(e.Pair.Value, e.Leader)}
	r.since = kit.Span{kit.Text, kit.AtLeast(c.sym, kit.Duration(c.asOf.Sub(e.Since)), e.SinceKnown)}
	r.session = kit.Span{kit.Quiet, scene.SessionText(e.Pair.Session, c.fullID)}
	r.node = kit.Span{kit.Quiet, "?"}
	if node := e.Node(); node != "" {
		r.node = kit.Span{kit.Text, scene.Clean(node)}
	}
	if e.Session != nil {
		r.checks, r.checksKnown = insight.TallyChecks(e.Session, c.checks), true
		r.checksUnread = c.checks[e.Session.Node].Err != ""
		r.warn(c.sym)
	}
	if e.Overwritten() {
		r.signRole = kit.Delay
		r.extra, r.extraSign = kit.Span{kit.Delay, "overwritten"}, "!"
	}
	if f := insight.FailureOf(e, c.checks); f.Current() {
		r.alarm(c.sym)
		r.extra, r.extraSign = kit.Span{kit.Bad, insight.FailureBrief}, c.sym.Critical
	}
}

func (r *row) alarm(sym *kit.Symbols) {
	r.name.Role, r.signRole, r.mark = kit.Bad, kit.Bad, kit.Span{kit.Bad, sym.Critical}
}

func (r *row) warn(sym *kit.Symbols) {
	switch critical, warning := r.checks.Risk(); {
	case critical:
		r.alarm(sym)
	case warning:
		r.name.Role, r.signRole, r.mark = kit.Delay, kit.Delay, kit.Span{kit.Delay, sym.Warning}
	}
}

func (r *row) describeSemaphore(e *election.Election, c rowContext) {
	r.leader = kit.Span{kit.Text, semaphoreText(e)}
	r.node, r.since = kit.Span{kit.Faint, c.sym.Dash}, kit.Span{kit.Faint, c.sym.Dash}
	r.session, r.term = kit.Span{kit.Faint, c.sym.Dash}, kit.Span{kit.Faint, c.sym.Dash}
}

func (r *row) describeVacant(e *election.Election, c rowContext) {
	r.name.Role = r.signRole
	r.leader = kit.Span{r.signRole, "no leader"}
	if r.state == scene.StateIdle {
		r.leader.Text = "idle"
	}
	if r.state == scene.StateLockDelay {
		r.leader.Text = delayLabel(e) + c.sym.Tilde + kit.Duration(e.LockDelayUntil.Sub(c.asOf)+time.Second-1)
	}
	switch {
	case !e.Exists:
		r.extra = kit.Span{kit.Quiet, "key deleted"}
	case r.state == scene.StateVacant && !e.LockDelayUntil.IsZero():
		r.extra = kit.Span{kit.Quiet, "can be acquired"}
	}
	r.node = kit.Span{kit.Quiet, c.sym.Dash}
	if last := e.LastTerm(); last != nil && last.Node != "" {
		r.node.Text = "(" + scene.Clean(last.Node) + ")"
	}
	ago := kit.Duration(c.asOf.Sub(e.VacantSince)) + " ago"
	r.since = kit.Span{r.signRole, kit.AtLeast(c.sym, ago, e.VacantSinceKnown)}
	r.session = kit.Span{kit.Faint, c.sym.Dash}
}

func (r *row) describeUnreadable(e *election.Election, c rowContext) {
	r.name.Role = kit.Quiet
	r.leader = kit.Span{kit.Quiet, "unreadable"}
	if e.Leader != "" {
		r.extra = kit.Span{kit.Quiet, "was " + e.Leader}
	}
	r.node, r.since = kit.Span{kit.Faint, c.sym.Dash}, kit.Span{kit.Faint, c.sym.Dash}
	r.session = kit.Span{kit.Faint, c.sym.Dash}
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
