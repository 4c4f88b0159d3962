package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election/insight"
	"electop/ui/internal/plan"
)

// fakeDrain reports the given changes. It ends after the last change or when it is stopped.
type fakeDrain struct {
	changes [][]plan.Step
	stopped bool
	warning string
}

func (f *fakeDrain) Next() ([]plan.Step, bool) {
	if len(f.changes) == 0 {
		return nil, false
	}
	next := f.changes[0]
	f.changes = f.changes[1:]
	return next, len(f.changes) > 0
}

func (f *fakeDrain) Stop() { f.stopped = true }

func (f *fakeDrain) Warning() string { return f.warning }

// drainStep is a change of one election.
func drainStep(name string, status plan.Status, text string) plan.Step {
	return plan.Step{Key: keyOf(name), Status: status, Text: text, Since: testNow().Add(-2 * time.Second)}
}

// drains returns an option: the dashboard can drain node-2, which leads four elections of the fixture.
func drains(run *fakeDrain, asked *[]string) func(*Options) {
	return func(o *Options) {
		o.Drain = func(_ context.Context, node string, progress func(done, total int)) (DrainPlan, error) {
			*asked = append(*asked, node)
			progress(214, 214)
			if node == "node-9" {
				return DrainPlan{}, errors.New("no such node: node-9; Consul's nodes are node-1, node-2, node-3")
			}
			effect := insight.Effect{Key: "The key is unlocked.", Holder: "The client is notified at once.", Delay: "No lock-delay follows."}
			item := func(name, next string) DrainItem {
				e := mixedSnapshot().Find(keyOf(name))
				return DrainItem{Target: e.Target(), Name: name, Watched: true, Next: next, Effect: effect}
			}
			db := item("users", "")
			db.Name, db.Skip, db.Effect.Better = "db", "Patroni names its leader by the key's value, which a release keeps", "patronictl switchover db"
			shop := item("shop", "none was seen: it may stay vacant")
			shop.Name, shop.Watched = "lock/shop", false
			return DrainPlan{
				Node: node, Course: "Each election is released at most 20 times.", Gaps: []string{"This token cannot read all keys."},
				Items: []DrainItem{
					item("auth", "auth-1 on node-1"), item("billing", "billing-3 on node-3; 1 candidate on the drained node"),
					item("orders", "orders-1 on node-1"), shop, db,
				},
				Start: func() Drain { return run },
			}, nil
		}
	}
}

// planned opens the plan for node-2 on a row of that node.
func planned(t *testing.T, run *fakeDrain, w, h int, change ...func(*Options)) (d *driver, asked *[]string) {
	asked = new([]string)
	d = drive(t, mixedSnapshot(), w, h, append(change, drains(run, asked))...)
	d.keys("g")
	d.send(firstOf(t, d.keys("D")))
	return d, asked
}

// confirmDrain scrolls to the end of the plan and confirms it.
func (d *driver) confirmDrain() tea.Cmd {
	d.t.Helper()
	for range 100 {
		d.notice()
		if strings.Contains(d.text(), "y drain") {
			return d.keys("y")
		}
		d.keys("j")
	}
	d.t.Fatalf("the plan cannot be confirmed:\n%s", d.text())
	return nil
}

// notice sends the message that the latest text of the plan was visible long enough.
func (d *driver) notice() {
	if msg := d.m.focus.drain.Awaits(); msg != nil {
		d.send(msg)
	}
}

// someChanges returns the changes of a drain in which every result occurs.
func someChanges() [][]plan.Step {
	return [][]plan.Step{
		{drainStep("auth", plan.Moving, "1 release, no leader"), drainStep("billing", plan.Moving, "3 releases, led by billing-2 on node-2")},
		{
			drainStep("auth", plan.Moved, "auth-2 on node-2 → auth-1 on node-1 after 1.3s without a leader, 1 release"),
			drainStep("billing", plan.Stayed, "stayed, led by billing-2 on node-2: a session on node-2 led again after each of 20 releases"),
			drainStep("orders", plan.Moving, "1 release, led by orders-1 on node-1"),
		},
		{
			drainStep("orders", plan.Failed, "failed: denied"), drainStep("shop", plan.Vacant, "shop-2 on node-2 → no leader, 1 release: no candidate acquired the key within 15s"),
		},
	}
}

// planOf shows a plan that the user can confirm.
func planOf(t *testing.T, w, h int) *driver {
	d, _ := planned(t, &fakeDrain{}, w, h)
	d.notice()
	return d
}

// drained shows a drain after the first changes. It then presses keys.
func drained(changes int, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d, _ := planned(t, &fakeDrain{changes: someChanges()}, w, h)
		next := d.confirmDrain()
		for range changes {
			next = d.send(next())
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
	next := d.send(cmd())
	d.wants("moving   auth", "1 release, no leader for 2s", "2 moving, 2 waiting, 1 skipped")
	next = d.send(next())
	d.wants("2 of 4", "1 moved, 1 stayed, 1 moving, 1 waiting, 1 skipped", "led by billing-2 on node-2: a session", "again after each of")
	d.send(next())
	d.wants("4 of 4", "1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped", "complete", "[ Close ]")
	d.keys("enter", "2")
	d.wants("drain: 1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped", "drain: auth-2 on node-2 → auth-1 on node-1")
	d.lacks("Patroni")
	d.keys("u")
	d.wants("Actions since electop started", "drain")
}

func TestAPlanMustBeVisibleBeforeItIsConfirmed(t *testing.T) {
	run := &fakeDrain{}
	d, _ := planned(t, run, 80, 14)
	d.wants("scroll down to enable Drain", "(Drain)")
	d.notice()
	if d.keys("y"); d.m.log.Draining() != "" {
		t.Fatal("confirmed before the end was visible")
	}
	d.keys("G", "y") // a jump is limited to a page, and the text is new
	if d.m.log.Draining() != "" {
		t.Fatal("confirmed before the user could notice the text")
	}
	d.confirmDrain()
	if d.m.log.Draining() != "node-2" {
		t.Error("not confirmed")
	}
}

func TestADrainIsStoppedAfterConfirmation(t *testing.T) {
	run := &fakeDrain{changes: someChanges()[:2]}
	run.changes = append(run.changes, []plan.Step{{Key: keyOf("orders"), Status: plan.Interrupted, Text: "interrupted before a release"}})
	d, _ := planned(t, run, 120, 36)
	next := d.send(d.confirmDrain()())
	d.keys("x")
	d.wants("Stop the drain?", "y stop", "n continue")
	d.keys("n")
	d.lacks("Stop the drain?")
	d.keys("esc", "j")
	d.lacks("Stop the drain?")
	if run.stopped {
		t.Fatal("stopped without confirmation")
	}
	d.keys("esc", "y")
	if d.wants("stopping"); !run.stopped {
		t.Fatal("not stopped")
	}
	next = d.send(next())
	d.send(next())
	d.wants("stopped", "3 of 4", "interrupted before a release")
	d.lacks("complete")
}

func TestTheWarningOfADrainIsShown(t *testing.T) {
	run := &fakeDrain{changes: someChanges(), warning: "the result was not verified: cannot reach Consul"}
	d, _ := planned(t, run, 120, 36)
	next := d.confirmDrain()
	for range 3 {
		d.lacks("not verified")
		next = d.send(next())
	}
	d.wants("! The result was not verified: cannot reach Consul.")
	d.keys("enter", "2")
	d.wants("1 skipped; the result was not verified")
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
	d.wants("1 drain is still running; press again to quit.")
	d.keys("D")
	if d.wants("[ Hide ]"); len(*asked) != 1 {
		t.Error("a second drain is planned")
	}
	d.keys("enter", "u")
	d.wants("[ Hide ]")
	d.keys("enter")
	for range 3 {
		next = d.send(next())
	}
	d.wants("Drain node-2: 1 moved, 1 stayed, 1 vacant, 1 failed, 1 skipped")
	if left := d.m.log.Unfinished(); len(left) != 0 {
		t.Errorf("unfinished: %+v", left)
	}
}

func TestQuittingReportsADrain(t *testing.T) {
	d, _ := planned(t, &fakeDrain{changes: someChanges()}, 120, 36)
	d.send(d.confirmDrain()())
	kinds := map[string]insight.OutcomeKind{}
	for _, u := range d.m.log.Unfinished() {
		kinds[u.Name] = u.Outcome.Kind
	}
	if len(kinds) != 4 || kinds["auth"] != insight.OutcomeUnknown || kinds["orders"] != insight.OutcomeFailed {
		t.Errorf("%v", kinds)
	}
}

func TestElsewhereANodeIsChosen(t *testing.T) {
	asked := new([]string)
	d := drive(t, mixedSnapshot(), 120, 36, drains(&fakeDrain{}, asked)) // the cursor is on a vacant election
	d.keys("D")
	d.wants("Drain a node", "node-1  leads", "node-2  leads", "Other nodes: :drain NODE")
	d.keys("j")
	d.send(firstOf(t, d.keys("enter")))
	if len(*asked) != 1 || (*asked)[0] != "node-2" {
		t.Errorf("plans for %q", *asked)
	}
	d.keys("esc")
	d.wants("Cancelled: nothing was changed.")
	d.send(firstOf(t, d.keys(":", "'drain node-9", "enter")))
	d.wants("Cannot plan the drain: no such node: node-9", "[ Close ]")
	d.keys("enter", "2", "D")
	d.wants("Drain a node")
}

// Without the right to release the row's election, the key for its node is grey. The plan says what the token may do.
func TestTheDrainKeyIsGreyWithoutRights(t *testing.T) {
	d := drive(t, mixedSnapshot(), 160, 36, drains(&fakeDrain{}, new([]string)))
	d.open(keyOf("billing"))
	pair := mixedSnapshot().Find(keyOf("billing")).Pair
	enabled := func() bool { return greyed(d.m.keys, d.m.scene, d.m.selectedTarget()).Drain.Enabled() }
	if !enabled() {
		t.Fatal("grey without a reason")
	}
	d.send(rightsMsg{hold{pair.Key, pair.Session}, denied(pair.Key)})
	if enabled() {
		t.Error("not grey")
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
	d.notice()
	if d.keys("y"); d.m.log.Draining() != "" {
		t.Error("confirmed without a connection")
	}
	d.wants("Unavailable while Consul is unreachable")
}

func TestAWindowThatIsTooSmallCancelsAPlan(t *testing.T) {
	d, _ := planned(t, &fakeDrain{}, 120, 36)
	d.notice()
	d.resize(30, 8)
	d.keys("y")
	d.resize(120, 36)
	d.wants("Cancelled: the window became too small.")
	if d.m.log.Draining() != "" {
		t.Error("confirmed in a window that is too small")
	}
}
