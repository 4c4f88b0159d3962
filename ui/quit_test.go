package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
)

func TestQuittingReportsRunningWrites(t *testing.T) {
	for _, again := range []string{"ctrl+c", "q"} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys("g", "space", "space", "r")
		first := d.keys("y")
		if cmd := d.keys("ctrl+c"); cmd != nil {
			t.Error("the first ctrl+c quits")
		}
		d.wants("2 actions in progress; press the key again to quit")
		d.now = d.now.Add(2 * noteTime)
		second := d.send(firstOf(t, first))
		if cmd := d.keys("ctrl+c"); cmd != nil {
			t.Error("an expired request to quit still counts")
		}
		d.wants("1 action in progress; press the key again to quit")
		if again == "q" {
			d.keys("esc")
		}
		if cmd := d.keys(again); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("the second %s does not quit", again)
		}
		left := d.m.log.Unfinished()
		if firstOf(t, second); len(d.op.released) != 1 {
			t.Error("a release started after the end")
		}
		var got []string
		for _, u := range left {
			got = append(got, u.Name+": "+u.Outcome.Summary())
		}
		want := []string{
			"auth: auth-2 on node-2 was released; it may already lead again",
			"billing: nothing was changed: not started, because the dashboard ended",
		}
		if !slices.Equal(got, want) {
			t.Errorf("unfinished: %q", got)
		}
	}
}

func TestQuittingWhileALeaderIsAwaited(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "r")
	d.perform(d.keys("y"))
	if cmd := d.keys("q"); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
}

func TestRunningWriteIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { fake(o).Operator = hangingOperator{} })
		d.keys("k", "r")
		firstOf(t, d.keys("y")) // the write still runs
		left := d.m.log.Unfinished()
		if len(left) != 1 || left[0].Outcome.Kind != insight.OutcomeUnknown || !strings.Contains(left[0].Outcome.Summary(), "may have been applied") {
			t.Errorf("unfinished: %+v", left)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // in synctest, the timeout of the action expires
	})
}

// hangingOperator returns only when its context is done.
type hangingOperator struct{}

func (hangingOperator) Release(ctx context.Context, _ election.Target) insight.Outcome {
	<-ctx.Done()
	return insight.Outcome{Kind: insight.OutcomeUnknown}
}

func (o hangingOperator) DestroySession(ctx context.Context, d election.Destroy) insight.Outcome {
	return o.Release(ctx, d.Target)
}

func TestEarlierKeysConfirmNothing(t *testing.T) {
	for _, ahead := range [][]string{{"r", "y"}, {"r", "tab", "enter"}, {"x", "y", "y"}} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys("k")
		d.hasty = true
		d.keys(ahead...)
		d.nothingDone(strings.Join(ahead, " "))
	}
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k")
	d.hasty = true
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		open := d.keys("r")
		d.wants("(Release)")
		d.keys("y")
		d.wants("Release billing", "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again.")
		msg := firstOf(t, open)
		if since := time.Since(began); since != 300*time.Millisecond {
			t.Errorf("the action was enabled after %s, want 300ms", since)
		}
		d.now = d.now.Add(kit.Settled)
		d.send(msg)
	})
	d.wants("y release")
	d.keys("right")
	d.send(snapshotMsg{func() *election.Snapshot {
		s := mixedSnapshot()
		s.Find(election.KeyID(keyOf("billing"))).Session.LockDelay = time.Minute
		s.Find(election.KeyID(keyOf("billing"))).Session.Behavior = election.BehaviorDelete
		return s
	}()})
	d.wants("[(Release)]")
	if d.keys("enter"); d.m.overlay == nil {
		t.Error("enter on the disabled action closed the dialog")
	}
	d.nothingDone("enter after a change of the text")
	if d.keys("esc"); d.m.overlay != nil {
		t.Error("esc does not cancel")
	}
}

// A session that leads several marked elections is destroyed once. Each election has its own outcome.
func TestElectionsThatShareASession(t *testing.T) {
	s := mixedSnapshot()
	auth := s.Find(election.KeyID(keyOf("auth")))
	for _, name := range []string{"billing", "orders"} {
		e := s.Find(election.KeyID(keyOf(name)))
		e.Session, e.Pair.Session = auth.Session, auth.Pair.Session
	}
	d := drive(t, s, 120, 40)
	d.mark("auth", "billing", "orders")
	d.keys("x")
	d.wants("Destroy the sessions of 3 elections", "auth ", "billing ", "orders ")
	d.perform(d.keys("y"))
	if len(d.op.destroyed) != 1 || len(d.actions()) != 3 {
		t.Errorf("destroyed %v, actions %v", d.op.destroyed, d.actions())
	}
	d.wants("Destroy the sessions of 3 elections", "auth-2 on node-2: its session", "billing-3 on node-2: its session", "orders-1 on node-2: its session")
}

// A confirmation removes the marks of the targets and no others, even if the filter has changed.
func TestOnlyTheMarksOfTheTargetsAreRemoved(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "/", "'billing", "enter", "r")
	d.filter("")
	d.keys("y")
	d.filter("auth")
	if visible, hidden := d.m.board.Marks(); visible != 1 || hidden != 0 {
		t.Errorf("%d marks of auth, want 1; %d others, want none", visible, hidden)
	}
}
