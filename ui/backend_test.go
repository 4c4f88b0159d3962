package ui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/ui/internal/uitest"
	"electop/ui/pages"
	"electop/ui/shell"
)

// studies is an option: the dashboard reads surroundings and sessions, and cannot search the store.
func studies(o *Options) {
	fake(o).onSurvey = func(context.Context, string, []string) []election.Surroundings { return nil } // the driver responds
}

// finds is an option: a search of the store finds the keys that a session holds.
func finds(complete bool, keys func(session string) []string) func(*Options) {
	return func(o *Options) {
		studies(o)
		fake(o).onHoldings = func(_ context.Context, _ string, sessions []string, progress func(int, int)) (found []election.Pair, all bool, err error) {
			progress(9800, 9800)
			for _, id := range sessions {
				for _, key := range keys(id) {
					found = append(found, election.Pair{Key: key, Session: id})
				}
			}
			return found, complete, nil
		}
	}
}

// searches is an option: a search finds two more keys of every session.
func searches(o *Options) {
	finds(false, func(string) []string { return []string{"locks/nightly", "locks/reindex"} })(o)
}

// scanned is an option: a leader holds keys outside the patterns, and an idle session holds many keys.
func scanned(complete bool) func(*Options) {
	return finds(complete, func(session string) (keys []string) {
		switch session {
		case sessionID(0):
			keys = []string{keyOf("auth"), "locks/nightly"}
		case "694d9e1c00004e99":
			keys = []string{"election/search"}
		case sessionID(320):
			keys = []string{"locks/report"}
		case sessionID(200):
			for i := range 252 {
				keys = append(keys, fmt.Sprintf("locks/%03d", i))
			}
		}
		return keys
	})
}

// runs records the commands that the dashboard runs.
type runs struct {
	all    []shell.Command
	script string // what the commands run instead
}

// runnable gives a dashboard three commands.
func runnable(r *runs) func(*Options) {
	return func(o *Options) {
		o.Commands.All = []pages.Command{
			{Name: "logs", Key: "l", About: "the latest log of the leader", Command: "ssh -- $ELECTOP_NODE journalctl -n 50 -u $ELECTOP_ELECTION_QUOTED"},
			{Name: "value", About: "the value, formatted", Command: "printf '%s' $ELECTOP_VALUE |\n\tjq ."},
			{Name: "restart", Key: "r", Confirm: true, Command: "ssh -- $ELECTOP_NODE sudo systemctl restart $ELECTOP_ELECTION_QUOTED"},
		}
		o.Commands.File = "/home/ana/.config/electop/config.yaml"
		o.Commands.Run = func(c shell.Command, _ string) *exec.Cmd {
			r.all = append(r.all, c)
			cmd := exec.Command("sh", "-c", r.script)
			cmd.Stdin = strings.NewReader("") // the keyboard of a test is not a file, so Run would wait for its end
			return cmd
		}
	}
}

func (b *backend) Discover(_ context.Context, _ string, progress func(int, int)) (pages.Found, error) {
	progress(10_040, 10_040)
	return pages.Found{Scanned: 10_040, FoundLocks: insight.FoundLocks{
		Locks: 11, Unwatched: 4, Groups: []insight.LockGroup{
			{Pattern: "jobs/*/.lock", Locked: 2, Unlocked: 1, Software: map[string]int{"consul lock": 3}, Keys: []string{"jobs/a/.lock", "jobs/b/.lock", "jobs/c/.lock"}, Excluded: []string{"!jobs/x/.lock"}},
			{Pattern: "service/*/leader", Locked: 6, Unlocked: 1, Watched: 7, Software: map[string]int{"Consul guide": 4, "Patroni": 3}, Keys: make([]string, 7)},
			{Pattern: "slots/.lock", Semaphores: 1, Software: map[string]int{"semaphore": 1}, Keys: []string{"slots/.lock"}},
		},
	}}, nil
}

// Doctor returns rows of each status. The first row shows how many checks have run.
func (b *backend) Doctor(ctx context.Context) ([]pages.Check, error) {
	b.d.called("doctor", "run")
	rows := []pages.Check{
		{Subject: "address", Status: "ok", Detail: "127.0.0.1:8500"},
		{Subject: "ACLs", Status: "limited", Detail: "on, default policy deny; no token was given, so the anonymous token is used (CONSUL_HTTP_TOKEN, --token)"},
		{Subject: "keys service/*/leader", Status: "denied", Detail: "none readable; with this token the response is empty even if elections exist", Rule: `key_prefix "service/" { policy = "read" }`},
		{Subject: "checks of services", Status: "unknown", Detail: `Consul does not report it; requires service_prefix "" { policy = "read" }`},
	}
	return rows, errors.Join(b.failure, ctx.Err())
}

// vaulted returns a history with the lock of Vault, which changed 40 minutes after the other elections.
func vaulted() *uitest.Moments {
	h := uitest.Incident()
	found := h.All[0]
	found.Election, found.Key, found.Leader = "vault/core/lock", "vault/core/lock", "vault-1"
	won := found
	won.Time, won.Leader, won.Session, won.Term, won.Initial, won.Gap = found.Time.Add(2*time.Hour), "vault-2", sessionID(90), 70, false, false
	h.All = append([]election.Event{found}, append(h.All, won)...)
	return h
}

// fakeDiagnosis infers fixes from sessions, checks and facts.
type fakeDiagnosis struct {
	sessions []*election.Session
	checks   []election.Check
	facts    insight.Facts
}

func (x *fakeDiagnosis) of(s *election.Snapshot, e *election.Election) act.Diagnosis {
	facts := x.facts
	facts.Now = testNow()
	checks := map[string]election.NodeChecks{}
	if e.Session != nil {
		checks[e.Session.Node] = election.NodeChecks{Checks: x.checks}
	}
	facts.Around = &election.Surroundings{At: testNow(), Key: e.Key(), Sessions: x.sessions}
	d := act.Diagnosis{Fix: insight.NewBoard(s.Elections, x.sessions).WithChecks(checks).Fix(e, facts), Facts: facts, Ready: testNow().Add(15 * time.Second)}
	if d.Fix != nil && d.Fix.Code == insight.LeaderFailed {
		d.Destroy = election.Destroy{Target: e.Target(), Keys: []string{e.Key()}, Shown: testNow()}
	}
	return d
}

// diagnosisOf returns a diagnosis. By default mail has a waiting candidate, which rejects its flags, and the node of
// ledger has failed.
func diagnosisOf(state string) *fakeDiagnosis {
	x := &fakeDiagnosis{
		sessions: []*election.Session{{ID: sessionID(600), Name: "mail-2", Node: "node-2", TTL: 15 * time.Second}},
		checks:   uitest.Passing("node-4", "ledger-4", election.StatusPassing, ""), facts: insight.Facts{Delay: insight.LockFree},
	}
	x.checks[0].Status = election.StatusCritical
	switch state {
	case "none":
		x.sessions = []*election.Session{}
	case "delay":
		x.sessions, x.facts.Delay = []*election.Session{}, insight.LockDelayed
	case "lacks":
		x.sessions, x.facts = []*election.Session{}, insight.Facts{DelayErr: "token lacks key:write"}
	case "passing":
		x.checks = uitest.Passing("node-2", "legacy", election.StatusPassing, "")
	case "unread":
		x.checks, x.facts.Unread = nil, "the checks of node-2 could not be read (no response)"
	}
	return x
}

// fakeDrain reports the given changes. It ends after the last change or when it is stopped.
type fakeDrain struct {
	changes    [][]act.Outcome
	unverified string
}

func (f *fakeDrain) Next() ([]act.Outcome, string, bool) {
	if len(f.changes) == 0 {
		return nil, f.unverified, false
	}
	next := f.changes[0]
	f.changes = f.changes[1:]
	return next, f.unverified, len(f.changes) > 0
}

// drainStep returns a change of one election.
func drainStep(name string, kind act.OutcomeKind, rounds int, holder, node, reason string) act.Outcome {
	target := mixedSnapshot().Find(election.KeyID(keyOf(name))).Target()
	target.Leader, target.Node = name+"-2", "node-2"
	r := act.Outcome{Action: election.ActionDrain, Target: target, Since: ago(2 * time.Second), Kind: kind, Rounds: rounds, Reason: reason, Here: node == "node-2"}
	if holder != "" {
		r.New = election.Holder{Leader: holder, Session: holder, Node: node}
	}
	return r
}

// drainOf returns a drain in which every result occurs.
func drainOf(d *driver, kind string) *act.Running {
	moved := drainStep("auth", act.OutcomeMoved, 1, "auth-1", "node-1", "")
	moved.Vacancy, moved.VacancyKnown = 1400*time.Millisecond, true
	moving := drainStep("orders", act.OutcomeMoving, 1, "orders-1", "node-1", "")
	f := &fakeDrain{changes: [][]act.Outcome{
		{drainStep("auth", act.OutcomeMoving, 1, "", "", ""), drainStep("billing", act.OutcomeMoving, 3, "billing-2", "node-2", "")},
		{moved, drainStep("billing", act.OutcomeStayed, 20, "billing-2", "node-2", "a session on node-2 led again after each of 20 releases"), moving},
		{drainStep("orders", act.OutcomeFailed, 0, "", "", "denied"), drainStep("shop", act.OutcomeVacant, 1, "", "", "no candidate acquired the key within 15s")},
	}}
	switch kind {
	case "stopped":
		f.changes[2] = []act.Outcome{moving, drainStep("shop", act.OutcomeWaiting, 0, "shop-2", "node-2", "")}
	case "unverified":
		f.unverified = "cannot reach Consul"
	case "late":
		f.changes = append(f.changes, []act.Outcome{drainStep("mail", act.OutcomeStayed, 0, "mail-1", "node-2", "a session on the node acquired the key after the plan was made; drain again")})
	}
	return &act.Running{Next: f.Next, Stop: func() { d.called("stop", "node-2") }}
}

// PlanDrain plans the drain of node-2, which leads four elections of the fixture.
func (b *backend) PlanDrain(_ context.Context, _ string, nodes []string, progress func(int, int)) (act.Plan, error) {
	node := nodes[0]
	b.d.called("plan", node)
	progress(214, 214)
	if node == "node-9" {
		return act.Plan{}, errors.New("no such node: node-9; Consul's nodes are node-1, node-2, node-3")
	}
	effect := insight.Effect{Key: "The key is unlocked.", Holder: "The client is notified immediately.", Delay: "No lock-delay follows."}
	last := insight.Effect{Key: "The session is destroyed.", Holder: "The client is notified immediately.", Delay: "Lock-delay 15s: no candidate can acquire the key for about 15s after the session ends."}
	item := func(name, next, node string) *act.Item {
		i := &act.Item{Effect: effect, Last: last}
		i.Action, i.Target, i.Watched = election.ActionDrain, mixedSnapshot().Find(election.KeyID(keyOf(name))).Target(), true
		if next != "" {
			i.Next, i.Likely = []insight.Candidate{{Name: next, Session: &election.Session{Node: node}}}, 1
		}
		return i
	}
	db, billing, shop := item("users", "", ""), item("billing", "billing-3", "node-3"), item("shop", "", "")
	db.Target.Election, db.Effect.Better = "db", "patronictl -c FILE switchover db"
	db.Refuse("", "Patroni stores the leader's name in the key's value, and a release keeps the value. Use patronictl -c FILE switchover db")
	billing.Rivals, shop.Target.Election, shop.Watched = 1, "lock/shop", false
	p := act.Plan{
		Nodes: []string{node}, Options: act.Defaults(), Incomplete: "This token cannot read all keys.",
		Items: []*act.Item{item("auth", "auth-1", "node-1"), billing, item("orders", "orders-1", "node-1"), shop, db},
	}
	if b.drainKind == "long" {
		for i := range 1000 {
			next := *p.Items[0]
			next.Target.Election, next.Target.Key = fmt.Sprintf("job-%03d", i), fmt.Sprintf("service/job-%03d/leader", i)
			p.Items = append(p.Items, &next)
		}
	}
	p.Start = func(destroy bool) *act.Running {
		text := node
		if destroy {
			text += " with destroy"
		}
		for _, i := range p.Items {
			if i.Reason == "excluded in the plan" {
				text += " without " + i.Target.Key
			}
		}
		b.d.called("drain", text)
		return drainOf(b.d, b.drainKind)
	}
	return p, nil
}
