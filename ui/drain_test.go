package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
)

// fakeDrain reports the given changes. It ends after the last change or when it is stopped.
type fakeDrain struct {
	changes    [][]insight.Outcome
	stopped    bool
	unverified string
	plan       act.Plan
	destroy    bool
}

func (f *fakeDrain) Next() ([]insight.Outcome, bool) {
	if len(f.changes) == 0 {
		return nil, false
	}
	next := f.changes[0]
	f.changes = f.changes[1:]
	return next, len(f.changes) > 0
}

func (f *fakeDrain) Stop() { f.stopped = true }

func (f *fakeDrain) Unverified() string { return f.unverified }

// excluded returns the keys that the drain must skip because the user excluded them.
func (f *fakeDrain) excluded() (keys []string) {
	for _, i := range f.plan.Items {
		if i.Reason == "excluded in the plan" {
			keys = append(keys, i.Target.Key)
		}
	}
	return keys
}

// ledOn returns a leader of an election on a node.
func ledOn(leader, node string) insight.Holder {
	return insight.Holder{Leader: leader, Session: leader, Node: node}
}

// drainStep returns a change of one election.
func drainStep(name string, r insight.Outcome) insight.Outcome {
	target := mixedSnapshot().Find(election.KeyID(keyOf(name))).Target()
	target.Leader, target.Node = name+"-2", "node-2"
	r.Action, r.Target, r.Since = election.ActionDrain, target, testNow().Add(-2*time.Second)
	r.Here = r.New.Node == "node-2"
	return r
}

// candidates returns candidates whose sessions are on a node.
func candidates(node string, names ...string) (all []insight.Candidate) {
	for _, name := range names {
		all = append(all, insight.Candidate{Name: name, Session: &election.Session{Node: node}})
	}
	return all
}

// drains returns an option: the dashboard can drain node-2, which leads four elections of the fixture.
func drains(run *fakeDrain, asked *[]string) func(*Options) {
	return func(o *Options) {
		fake(o).onDrain = func(_ context.Context, _, node string, progress func(done, total int)) (act.Plan, error) {
			*asked = append(*asked, node)
			progress(214, 214)
			if node == "node-9" {
				return act.Plan{}, errors.New("no such node: node-9; Consul's nodes are node-1, node-2, node-3")
			}
			effect := insight.Effect{Key: "The key is unlocked.", Holder: "The client is notified immediately.", Delay: "No lock-delay follows."}
			last := insight.Effect{Key: "The session is destroyed.", Holder: "The client is notified immediately.", Delay: "Lock-delay 15s: no candidate can acquire the key for about 15s after the session ends."}
			item := func(name string, next ...insight.Candidate) *act.Item {
				e := mixedSnapshot().Find(election.KeyID(keyOf(name)))
				return &act.Item{Outcome: insight.Outcome{Action: election.ActionDrain, Target: e.Target(), Watched: true}, Next: next, Likely: len(next), Effect: effect, Last: last}
			}
			db, billing, shop := item("users"), item("billing", candidates("node-3", "billing-3")...), item("shop")
			db.Target.Election, db.Effect.Better = "db", "patronictl switchover db"
			db.Refuse("", "Patroni stores the leader's name in the key's value, and a release keeps the value")
			billing.Rivals, shop.Target.Election, shop.Watched = 1, "lock/shop", false
			run.plan = act.Plan{
				Nodes: []string{node}, Options: act.Defaults(), Incomplete: "This token cannot read all keys.",
				Items: []*act.Item{item("auth", candidates("node-1", "auth-1")...), billing, item("orders", candidates("node-1", "orders-1")...), shop, db},
				Start: func(destroy bool) act.Running { run.destroy = destroy; return run },
			}
			return run.plan, nil
		}
	}
}

// planned opens the plan for node-2 on a row of that node.
func planned(t *testing.T, run *fakeDrain, w, h int, change ...func(*Options)) (d *driver, asked *[]string) {
	asked = new([]string)
	d = drive(t, mixedSnapshot(), w, h, append([]func(*Options){drains(run, asked)}, change...)...)
	d.keys("g")
	d.send(firstOf(t, d.keys("D")))
	return d, asked
}

// confirmDrain confirms the plan.
func (d *driver) confirmDrain() tea.Cmd {
	d.t.Helper()
	return d.keys("y")
}

// someChanges returns the changes of a drain in which every result occurs.
func someChanges() [][]insight.Outcome {
	auth := insight.Outcome{Kind: insight.OutcomeMoved, Rounds: 1, New: ledOn("auth-1", "node-1"), Vacancy: 1300 * time.Millisecond, VacancyKnown: true}
	billing := insight.Outcome{Kind: insight.OutcomeStayed, Rounds: 20, New: ledOn("billing-2", "node-2"), Reason: "a session on node-2 led again after each of 20 releases"}
	shop := insight.Outcome{Kind: insight.OutcomeVacant, Rounds: 1, Reason: "no candidate acquired the key within 15s"}
	return [][]insight.Outcome{
		{drainStep("auth", insight.Outcome{Kind: insight.OutcomeMoving, Rounds: 1}), drainStep("billing", insight.Outcome{Kind: insight.OutcomeMoving, Rounds: 3, New: ledOn("billing-2", "node-2")})},
		{
			drainStep("auth", auth), drainStep("billing", billing),
			drainStep("orders", insight.Outcome{Kind: insight.OutcomeMoving, Rounds: 1, New: ledOn("orders-1", "node-1")}),
		},
		{drainStep("orders", insight.Outcome{Kind: insight.OutcomeFailed, Reason: "denied"}), drainStep("shop", shop)},
	}
}

// planOf shows a plan that the user can confirm.
func planOf(t *testing.T, w, h int) *driver {
	d, _ := planned(t, &fakeDrain{}, w, h)
	return d
}

// drained shows a drain after the first changes. It then presses keys.
func drained(changes int, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d, _ := planned(t, &fakeDrain{changes: someChanges()}, w, h)
		next := d.confirmDrain()
		for range changes {
			next = d.send(firstOf(t, next))
		}
		d.keys(keys...)
		return d
	}
}

func TestTheNodeOfTheRowIsDrained(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	d, asked := planned(t, run, 120, 36)
	if len(*asked) != 1 || (*asked)[0] != "node-2" {
		t.Fatalf("plans for %q", *asked)
	}
	d.wants("Drain node-2", "4 elections to move, 1 skipped", "auth", "next: auth-1 on node-1", "1 candidate on the drained node",
		"lock/shop", "none was seen: it may stay vacant; not watched", "Skipped db: Patroni", "patronictl switchover db", "cannot read all keys")
	cmd := d.confirmDrain()
	d.wants("Drain node-2", "0 of 4", "4 waiting, 1 skipped", "[ Hide ]", "x stop")
	next := d.send(firstOf(t, cmd))
	d.wants("moving   auth", "1 release, no leader for 2s", "2 moving, 2 waiting, 1 skipped")
	next = d.send(firstOf(t, next))
	d.wants("2 of 4", "1 moved, 1 stayed, 1 moving, 1 waiting, 1 skipped", "led by billing-2 on node-2: a session", "again after each of")
	d.send(firstOf(t, next))
	d.wants("4 of 4", "1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped", "complete", "[ Close ]")
	d.keys("c") // the way back
	d.wants("Copied the command: electop drain node-1 --include auth")
	d.keys("enter", "2")
	d.wants("drain: 1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped", "drain: auth-2 on node-2 → auth-1 on node-1")
	d.lacks("Patroni")
	d.keys("u")
	d.wants("Actions since electop started", "drain")
}

func TestElectionsAreExcludedInThePlan(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	d, _ := planned(t, run, 120, 36)
	d.wants("▌ [✓] auth", "space exclude", "x allow destroy", "y drain 4 elections")
	d.keys("j", "space")
	d.wants("▌ [ ] billing", "y drain 3 elections")
	d.keys("space", "space", "j", "j", "space")
	d.wants("[ ] lock/shop")
	d.keys("j", "space") // the next line is not an election
	d.wants("y drain 2 elections")
	d.keys("y")
	if keys := run.excluded(); !slices.Equal(keys, []string{keyOf("billing"), keyOf("shop")}) || run.destroy {
		t.Errorf("%q", keys)
	}
	d.wants("2 waiting, 3 skipped", "excluded in the plan")
}

func TestAPlanWithoutElectionsIsNotConfirmed(t *testing.T) {
	d, _ := planned(t, &fakeDrain{}, 120, 36)
	d.keys("space", "j", "space", "j", "space", "j", "space")
	d.keys("y")
	d.wants("Nothing was done: all elections are excluded.")
	d.keys("tab", "enter")
	if d.m.log.Draining() {
		t.Fatal("a drain without elections was confirmed")
	}
	d.wants("Cancelled: nothing was changed.")
}

func TestDestroyIsAllowedInThePlan(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	d, _ := planned(t, run, 120, 36)
	d.wants("The drain destroys no sessions; x allows it to destroy sessions.")
	d.lacks("Lock-delay 15s")
	d.hasty = true
	d.keys("x")
	d.wants("Destroy is allowed. If a session on node-2 leads an election after 20 releases", "Lock-delay 15s: no candidate can acquire the key", "x forbid destroy", "(Drain)")
	if d.keys("y"); d.m.log.Draining() {
		t.Fatal("y confirmed the drain although the plan had just changed")
	}
	d.settle()
	d.keys("y")
	if !run.destroy || len(run.excluded()) > 0 {
		t.Errorf("%q", run.excluded())
	}
	again := planOf(t, 120, 36)
	again.keys("x", "x")
	again.lacks("Lock-delay 15s")
}

// longPlan adds 1,000 elections to the plan.
func longPlan(o *Options) {
	next := fake(o).onDrain
	fake(o).onDrain = func(ctx context.Context, _, node string, progress func(done, total int)) (act.Plan, error) {
		p, err := next(ctx, "", node, progress)
		for i := range 1000 {
			item := *p.Items[0]
			item.Target.Election, item.Target.Key = fmt.Sprintf("job-%03d", i), fmt.Sprintf("service/job-%03d/leader", i)
			p.Items = append(p.Items, &item)
		}
		return p, err
	}
}

func TestALongPlanIsConfirmedWithTheNumberOfElections(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	d, _ := planned(t, run, 120, 36, longPlan)
	d.wants("1004 elections to move, 1 skipped", "job-006")
	d.keys("space")
	d.confirmDrain()
	d.wants("Type 1003 to drain 1003 elections > _")
	d.keys("'1004", "enter")
	if d.m.log.Draining() {
		t.Fatal("another number confirmed the drain")
	}
	d.keys("esc")
	d.wants("y drain")
	d.keys("y", "'1003")
	d.wants("> 1003_")
	d.resize(100, 24) // the text is new
	d.lacks("Type 1003")
	d.confirmDrain()
	d.keys("'1003", "enter")
	if !d.m.log.Draining() {
		t.Error("the drain was not confirmed")
	}
}

func TestADrainIsStoppedAfterConfirmation(t *testing.T) {
	run := &fakeDrain{changes: someChanges()[:2]}
	run.changes = append(run.changes, []insight.Outcome{
		drainStep("orders", insight.Outcome{Kind: insight.OutcomeMoving, Rounds: 1, New: ledOn("orders-1", "node-1")}),
		drainStep("shop", insight.Outcome{Kind: insight.OutcomeWaiting, New: ledOn("shop-2", "node-2")}),
	})
	d, _ := planned(t, run, 120, 36)
	next := d.send(firstOf(t, d.confirmDrain()))
	d.keys("x")
	d.wants("Stop the drain?", "y yes", "n no")
	d.keys("n")
	d.lacks("Stop the drain?")
	d.keys("esc")
	d.wants("The drain continues; u shows it.")
	d.keys("u")
	if run.stopped {
		t.Fatal("the drain was stopped without a confirmation")
	}
	d.keys("x", "y")
	if d.wants("stopping"); !run.stopped {
		t.Fatal("y did not stop the drain")
	}
	next = d.send(firstOf(t, next))
	d.send(firstOf(t, next))
	d.wants("stopped", "2 of 4", "! interrupted  lock/shop", "● interrupted  orders", "interrupted before any release")
	d.lacks("complete")
}

func TestADrainThatIsNotVerifiedSaysSo(t *testing.T) {
	run := &fakeDrain{changes: someChanges(), unverified: "cannot reach Consul"}
	d, _ := planned(t, run, 120, 36)
	next := d.confirmDrain()
	for range 3 {
		d.lacks("not verified")
		next = d.send(firstOf(t, next))
	}
	d.wants("! Not verified whether node-2 leads an election: cannot reach Consul.")
	d.keys("enter", "2")
	d.wants("1 skipped; not verified whether node-2")
}

// The last read of a drain shows an election that the node acquired during the drain.
func TestAnElectionThatTheNodeAcquiresIsListed(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	late := drainStep("mail", insight.Outcome{Kind: insight.OutcomeStayed, New: ledOn("mail-1", "node-2"), Reason: "a session on the node acquired the key during the drain"})
	run.changes = append(run.changes, []insight.Outcome{late})
	d, _ := planned(t, run, 120, 36)
	next := d.confirmDrain()
	for range 4 {
		next = d.send(firstOf(t, next))
	}
	d.wants("2 stayed", "mail", "led by mail-1 on node-2: a session on the node")
}

func TestADrainWithoutAConnectionCountsNoTime(t *testing.T) {
	d, _ := planned(t, &fakeDrain{changes: someChanges()}, 120, 36)
	d.send(firstOf(t, d.confirmDrain()))
	d.wants("no leader for 2s")
	d.send(snapshotMsg{lostSnapshot()})
	d.wants("1 release, no leader")
	d.lacks("no leader for")
}

func TestAHiddenDrainContinues(t *testing.T) {
	run := &fakeDrain{changes: someChanges()}
	d, asked := planned(t, run, 120, 36)
	next := d.confirmDrain()
	d.keys("enter")
	d.wants("The drain continues; u shows it.")
	d.now = d.now.Add(noteTime)
	d.send(tickMsg(d.now))
	d.wants("Drain node-2: 4 waiting, 1 skipped")
	d.keys("q")
	d.wants("4 actions in progress; press the key again to quit.")
	d.keys("D")
	if d.wants("[ Hide ]"); len(*asked) != 1 {
		t.Error("D planned a second drain during a drain")
	}
	d.keys("enter", "u")
	d.wants("[ Hide ]")
	d.keys("enter")
	for range 3 {
		next = d.send(firstOf(t, next))
	}
	d.wants("Drain node-2: 1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped")
	if left := d.m.log.Unfinished(); len(left) != 0 {
		t.Errorf("unfinished: %+v", left)
	}
}

func TestQuittingReportsADrain(t *testing.T) {
	d, _ := planned(t, &fakeDrain{changes: someChanges()}, 120, 36)
	d.send(firstOf(t, d.confirmDrain()))
	kinds := map[string]insight.OutcomeKind{}
	for _, u := range d.m.log.Unfinished() {
		kinds[u.Name] = u.Outcome.Kind
	}
	if len(kinds) != 4 || kinds["auth"] != insight.OutcomeUnknown || kinds["orders"] != insight.OutcomeFailed {
		t.Errorf("%v", kinds)
	}
}

func TestElsewhereTheNodeIsTyped(t *testing.T) {
	asked := new([]string)
	d := drive(t, mixedSnapshot(), 120, 36, drains(&fakeDrain{}, asked)) // the cursor is on a vacant election
	d.keys("D")
	d.wants("No leader is selected. Select one, or use :drain NODE")
	d.send(firstOf(t, d.keys(":", "'drain node-9", "enter")))
	d.wants("Cannot plan the drain: no such node: node-9", "[ Close ]")
	if len(*asked) != 1 {
		t.Errorf("plans for %q", *asked)
	}
}

// Without permission to release the election of the row, the key that drains its node is grey. The plan shows which
// elections the token may release.
func TestTheDrainKeyIsGreyWithoutRights(t *testing.T) {
	d := drive(t, mixedSnapshot(), 160, 36, drains(&fakeDrain{}, new([]string)))
	d.open(keyOf("billing"))
	pair := mixedSnapshot().Find(election.KeyID(keyOf("billing"))).Pair
	enabled := func() bool { return !strings.Contains(d.text(), "(D) drain") }
	if !enabled() {
		t.Fatal("D is grey although no permission is missing")
	}
	d.learn(mixedSnapshot().Find(election.KeyID(pair.Key)).Target(), denied(pair.Key))
	if enabled() {
		t.Error("D is not grey although a permission is missing")
	}
}

func TestADrainIsRefused(t *testing.T) {
	asked := new([]string)
	readOnly := drive(t, mixedSnapshot(), 120, 36, drains(&fakeDrain{}, asked), func(o *Options) { o.ReadOnly = true })
	readOnly.keys("g", "D")
	readOnly.wants("Read-only: drain is disabled (--read-only).")
	lost := drive(t, lostSnapshot(), 120, 36, drains(&fakeDrain{}, asked))
	lost.keys("g", "D")
	lost.wants("Unavailable while Consul is unreachable")
	past := inThePast(120, 36)(t, "at 03:12:25")
	past.keys("D")
	past.wants("This is the past: drain is disabled. Press esc to return to now.")
	drive(t, mixedSnapshot(), 120, 36).keys("g", "D")
	if len(*asked) != 0 {
		t.Errorf("plans for %q", *asked)
	}
	d, _ := planned(t, &fakeDrain{}, 120, 36)
	d.send(snapshotMsg{lostSnapshot()})
	if d.keys("y"); d.m.log.Draining() {
		t.Error("y confirmed the drain without a connection")
	}
	d.wants("Unavailable while Consul is unreachable")
}
