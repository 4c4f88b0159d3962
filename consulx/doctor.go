package consulx

import (
	"context"
	"errors"
	"slices"

	"electop/election"
	"electop/election/sanitize"
)

// The statuses of a [Row].
const (
	StatusOK      = "ok"
	StatusLimited = "limited" // the function is only partly available, or unreliable
	StatusDenied  = "denied"
	StatusUnknown = "unknown" // Consul does not report whether the function is available
)

// Row is one line of a [Report]. All its fields are safe to print.
type Row struct {
	Subject string `json:"subject"`
	Status  string `json:"status"`
	Detail  string `json:"detail"`
	// Rule is the missing ACL rule. It is empty if no rule is missing.
	Rule string `json:"rule,omitempty"`
}

// Report lists what an address and a token can read and do.
type Report struct {
	Address string `json:"address"`
	Info
	Rows []Row `json:"rows"`
	// Error is the reason why the report is incomplete, without secrets.
	Error string `json:"error,omitempty"`
}

// Doctor checks, rule by rule, what this client can read and do. It writes nothing. It fails if Consul is
// unreachable.
func Doctor(ctx context.Context, c *Client, ps election.Patterns) (Report, error) {
	d := &doctor{ctx: ctx, client: c, report: Report{Address: c.Address(), Rows: []Row{}}}
	info, err := c.Info(ctx)
	if err != nil && !IsDenied(err) {
		return d.report, err
	}
	d.report.Info = info
	d.add("address", StatusOK, "", d.report.Address)
	if info.ConsensusLeader == "" && err == nil {
		d.agent(info, err)
		return d.report, nil // without a quorum, every read would time out
	}
	if !d.acls() {
		return d.report, nil // otherwise, every rule would be reported as missing
	}
	d.agent(info, err)
	for _, p := range ps {
		d.keys(p, ps)
	}
	d.sessions()
	d.catalog()
	d.actions(ps.Selecting())
	return d.report, d.failure
}

// doctor collects the rows of a report.
type doctor struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	client  *Client
	report  Report
	failure error
	open    bool // ACLs are off
}

func (d *doctor) add(subject, status, rule, detail string) {
	d.report.Rows = append(d.report.Rows, Row{
		Subject: sanitize.Line(subject, 200), Status: status, Rule: rule,
		Detail: sanitize.Line(d.client.Redact(detail), errorLength),
	})
}

// fails adds a row for a read that failed. If Consul is unreachable, it also stores the error for the whole report.
func (d *doctor) fails(subject, rule string, err error) {
	if IsDenied(err) {
		d.add(subject, StatusDenied, rule, Describe(err))
		return
	}
	if errors.Is(err, ErrUnreachable) && d.failure == nil {
		d.failure = err
	}
	d.add(subject, StatusUnknown, "", Describe(err))
}

// agent reports the agent's version and node.
func (d *doctor) agent(info Info, err error) {
	if info.Version == "" {
		d.add("agent", StatusLimited, rightTo("read", "agent", "").rule(), "version and node are not readable with this token; no other function of electop requires them")
	} else {
		d.add("agent", StatusOK, "", "Consul "+info.Version+" on node "+info.Node)
	}
	switch {
	case info.Datacenter != "":
		d.add("datacenter", StatusOK, "", info.Datacenter)
	case err != nil:
		d.fails("datacenter", "", err)
	default:
		d.add("datacenter", StatusUnknown, "", "Consul does not report it")
	}
	switch {
	case info.ConsensusLeader != "":
		d.add("consensus leader", StatusOK, "", info.ConsensusLeader)
	case err == nil:
		d.add("consensus leader", StatusDenied, "", "none: nothing can be read or written until Consul has a quorum")
	}
}

// acls adds a row about the state of ACLs and the token. It returns false if Consul rejects the token.
func (d *doctor) acls() (known bool) {
	token, _, err := d.client.api.ACL().TokenReadSelf(d.client.Read(d.ctx))
	err = d.client.Wrap(err)
	switch {
	case err == nil:
		name := token.AccessorID
		if token.Description != "" {
			name += " (" + token.Description + ")"
		}
		d.add("ACLs", StatusOK, "", "on, default policy "+d.policy()+"; token "+name)
	case errors.Is(err, errACLsOff):
		d.open = true
		d.add("ACLs", StatusOK, "", "off: every request has full access")
	case IsDenied(err) && d.client.anonymous:
		d.add("ACLs", StatusLimited, "", "on, default policy "+d.policy()+"; no token was given, so the anonymous token is used (CONSUL_HTTP_TOKEN, --token)")
	case IsDenied(err):
		d.add("ACLs", StatusDenied, "", Describe(err))
		return false
	default:
		d.fails("ACLs", "", err)
	}
	return true
}

// policy returns the default policy. Consul reports it in every response and requires no permission for it.
func (d *doctor) policy() string {
	_, meta, err := d.client.api.Session().Info(NoSession, d.client.Read(d.ctx))
	if err != nil || meta.DefaultACLPolicy == "" {
		return "unknown"
	}
	return meta.DefaultACLPolicy
}

// may returns whether the token has a permission. known is false if Consul does not report it.
func (d *doctor) may(r right) (allowed, known bool) {
	if d.open {
		return true, true
	}
	answers, err := d.client.authorize(d.ctx, []right{r})
	return err == nil && answers[0].Allow, err == nil
}

// keys adds a row about the read permission for the keys of a pattern.
func (d *doctor) keys(p election.Pattern, ps election.Patterns) {
	subject, r := "keys "+p.String(), keyRight("read", p)
	if p.Excludes() {
		d.add(subject, StatusOK, "", "not watched")
		return
	}
	keys, meta, err := d.client.KeyNames(LiteralPrefix(p.Prefix()), d.client.Read(d.ctx))
	if err != nil {
		d.fails(subject, r.rule(), err)
		return
	}
	keys = slices.DeleteFunc(keys, func(key string) bool {
		_, selected := p.Match(key)
		return !selected || !ps.Selects(key)
	})
	d.read(subject, "election", len(keys), meta.ResultsFilteredByACLs, nil, r,
		"; with this token the response is empty even if elections exist")
}

// read adds a row about what a read returned. filtered is set if ACLs may have removed a part, which Consul does not report to
// a client without a token.
func (d *doctor) read(subject, kind string, found int, filtered bool, err error, r right, without string) {
	allowed, known := d.may(r)
	hidden := filtered || known && !allowed || !known && d.client.anonymous
	switch {
	case IsDenied(err), found == 0 && !Unanswered(err) && (hidden || err != nil):
		d.add(subject, StatusDenied, r.rule(), "none readable"+without)
	case Unanswered(err):
		d.fails(subject, r.rule(), err)
	case hidden || err != nil:
		d.add(subject, StatusLimited, r.rule(), election.Plural(found, kind)+" readable; others may be hidden")
	default:
		d.add(subject, StatusOK, "", election.Plural(found, kind)+" readable")
	}
}

func (d *doctor) sessions() {
	all, err := d.client.Sessions(d.ctx)
	d.read("sessions", "session", len(all), false, err, rightTo("read", "session", ""),
		"; electop shows the key's value as the leader, and the causes of losses are unknown")
}

func (d *doctor) catalog() {
	const without = "; losses caused by a check or a node cannot be explained"
	nodes, err := d.client.Nodes(d.ctx)
	d.read("nodes and their checks", "node", len(nodes), len(nodes) == 0, err, rightTo("read", "node", ""), without)
	d.action("service checks", rightTo("read", "service", ""), "requires read permission for services", without)
}

// actions adds rows for the permissions that release and destroy require.
func (d *doctor) actions(ps election.Patterns) {
	for _, p := range ps {
		unless := narrower + "keys"
		if p.Exact() {
			unless = ""
		}
		d.action("release "+p.String(), keyRight("write", p), "requires write permission on the key", unless)
	}
	d.action("destroy", rightTo("write", "session", ""), "requires session write permission for the name of the session's node", narrower+"nodes")
}

const narrower = "; a rule for a longer prefix may still allow this for some "

func (d *doctor) action(subject string, r right, needs, unless string) {
	switch allowed, known := d.may(r); {
	case d.open:
		d.add(subject, StatusOK, "", "allowed: ACLs are off")
	case !known:
		d.add(subject, StatusUnknown, "", needs+": "+r.rule())
	case allowed:
		d.add(subject, StatusOK, "", "allowed")
	default:
		d.add(subject, StatusDenied, r.rule(), needs+unless)
	}
}
