package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/act"
	"electop/ui/kit"
)

// The target of a release is the hold that the dialog showed.
func TestReleaseIsBoundToItsTarget(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "r")
	d.perform(d.keys("y"))
	if want := mixedSnapshot().Find(election.KeyID(keyOf("billing"))).Target(); len(d.op.released) != 1 || d.op.released[0] != want {
		t.Fatalf("released %+v, want %+v", d.op.released, want)
	}
	d = drive(t, snapshotOf("studied"), 120, 36, searches)
	d.keys("3", "g", "x")
	id := d.m.sessions.Selected().ID
	d.perform(d.keys("y"))
	if len(d.op.destroyed) != 1 || d.op.destroyed[0].Key != "" || d.op.destroyed[0].Session != id {
		t.Errorf("destroyed %+v, want only the session %s", d.op.destroyed, id)
	}
}

// In a window that is too small, only the keys that quit have an effect.
func TestKeysOfInvisibleElementsDoNothing(t *testing.T) {
	for _, size := range [][2]int{{30, 8}, {39, 24}, {80, 9}, {0, 0}, {1, 1}} {
		d := drive(t, mixedSnapshot(), size[0], size[1])
		for _, keys := range []string{
			"r y", "x y", "r tab enter", "space j space", ": 'release enter y", "/ 'web enter", "2", "3 f", "p", "?", "c k", "u", "enter", "s", "esc", "ctrl+z",
		} {
			if cmd := d.keys(strings.Fields(keys)...); cmd != nil {
				t.Errorf("%s at %v returns a command", keys, size)
			}
		}
		d.send(clickAt(3, 3))
		d.send(tea.MouseWheelMsg{X: 3, Y: 3, Button: tea.MouseWheelDown})
		d.send(tea.PasteMsg{Content: "r"})
		d.nothingDone("blind keys")
		d.resize(120, 36)
		if got := d.text(); got != drive(t, mixedSnapshot(), 120, 36).text() {
			t.Errorf("the keys at %v changed the screen:\n%s", size, got)
		}
		d.resize(30, 8)
		if d.keys("q") == nil || d.keys("ctrl+c") == nil {
			t.Error("q or ctrl+c does not quit at 30x8")
		}
	}
}

// A confirmation is possible 300 ms after the text appeared.
func TestActionsAreEnabledAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys("k")
		d.hasty = true
		began, open := time.Now(), d.keys("r")
		d.wants("(Release)")
		msg := firstOf(t, open)
		if since := time.Since(began); since != 300*time.Millisecond {
			t.Errorf("the action was enabled after %s, want 300ms", since)
		}
		d.now = d.now.Add(kit.Settled)
		d.send(msg)
		d.wants("y release")
	})
}

// unfinished returns the writes that the end of the dashboard interrupts, with their outcomes.
func (d *driver) unfinished() (all []string) {
	for _, u := range d.m.log.Unfinished() {
		all = append(all, fmt.Sprint(u.Name, ": ", u.Outcome.Kind, ", ", u.Outcome.Summary()))
	}
	return all
}

func TestUnfinishedWritesAreReported(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "r")
	second := d.send(firstOf(t, d.keys("y")))
	d.keys("ctrl+c")
	d.wants("1 action in progress; press the key again to quit")
	got := d.unfinished()
	if firstOf(t, second); len(d.op.released) != 1 {
		t.Error("a release started after the end")
	}
	if want := []string{
		"auth: done, auth-2 on node-2 was released; it may already lead again",
		"billing: failed, nothing was changed: not started, because the dashboard ended",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	_, all := scripts(t)
	d = play(t, all, "a drain without a connection counts no time", 120, 36)
	if got := strings.Join(d.unfinished(), "\n"); strings.Count(got, "\n") != 3 || !strings.Contains(got, "auth: unknown") || !strings.Contains(got, "orders: failed") {
		t.Error(got)
	}
	if d = play(t, all, "a hidden drain continues", 120, 36); len(d.unfinished()) != 0 {
		t.Errorf("%q", d.unfinished())
	}
}

func TestRunningWriteIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { fake(o).Operator = hangingOperator{} })
		d.keys("k", "r")
		firstOf(t, d.keys("y")) // the write still runs
		if left := d.unfinished(); len(left) != 1 || !strings.HasPrefix(left[0], "billing: unknown") || !strings.Contains(left[0], "may have been applied") {
			t.Errorf("unfinished: %q", left)
		}
		time.Sleep(5 * time.Minute) //nolint:forbidigo // in synctest, the timeout of the action expires
	})
}

// hangingOperator returns only when its context is done.
type hangingOperator struct{}

func (hangingOperator) Act(ctx context.Context, _ election.ActionKind, _ election.Destroy) act.Outcome {
	<-ctx.Done()
	return act.Outcome{Kind: act.OutcomeUnknown}
}

// A survey ends with its dialog, and after its timeout.
func TestTheSurveyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var of context.Context
		d := drive(t, snapshotOf("studied"), 120, 36, func(o *Options) {
			fake(o).onSurvey = func(ctx context.Context, _ string, keys []string) []election.Surroundings {
				of = ctx
				<-ctx.Done()
				return []election.Surroundings{{Key: keys[0], SiblingsErr: "sibling keys: timeout"}}
			}
		})
		d.unanswered = true
		d.mark("auth", "billing", "users")
		for _, key := range []string{"esc", "q"} {
			late := d.keys("r")
			result := make(chan struct{})
			go func() {
				defer close(result)
				firstOf(t, late)
			}()
			synctest.Wait()
			d.keys(key)
			d.wants("Cancelled: nothing was changed.")
			if <-result; of.Err() == nil || d.m.overlay != nil {
				t.Errorf("%s: the survey or the dialog continues", key)
			}
		}
		cmd, began := d.keys("r"), time.Now()
		for d.m.overlay.Task.Running() {
			cmd = d.send(firstOf(t, cmd))
		}
		if d.wants("sibling keys: timeout"); time.Since(began) != 10*time.Second {
			t.Errorf("ended after %s", time.Since(began))
		}
		if keys := keyOf("auth") + " " + keyOf("billing") + " " + keyOf("users"); !slices.Equal(d.calls["survey"], []string{keys, keys, keys}) {
			t.Errorf("surveys of %q, want one of all targets for each dialog", d.calls["survey"])
		}
	})
}

// asks returns an option: Consul responds to requests for permissions.
func asks(r *election.MissingRules) func(*Options) {
	return func(o *Options) {
		fake(o).onRights = func(context.Context, election.Target) (election.MissingRules, error) { return *r, nil }
	}
}

// answer runs the requests for permissions among the commands of a batch, sends the results and counts the requests.
func (d *driver) answer(cmd tea.Cmd) int {
	d.t.Helper()
	before := len(d.calls["rights"])
	for cmd != nil {
		msg, ok := firstOf(d.t, cmd).(kit.TaskMsg)
		if !ok {
			break
		}
		if cmd = d.send(msg); len(d.calls["rights"]) > before+1000 {
			d.t.Fatal("the requests do not end")
		}
	}
	return len(d.calls["rights"]) - before
}

func TestMissingRights(t *testing.T) {
	r := denied(keyOf("billing"))
	d := drive(t, snapshotOf("studied"), 120, 36, asks(&r))
	if n := d.answer(d.keys("g")); n != 1 || d.calls["rights"][0] != "auth" {
		t.Fatalf("asked %q", d.calls["rights"])
	}
	d.wants("(r) release", "(x) destroy")
	d.answer(d.keys("j"))
	d.keys("k", "j", "k", "j")
	if n := len(d.calls["rights"]); n != 2 {
		t.Errorf("%d requests, want 2, because the permissions are cached", n)
	}
	d.keys("r")
	d.wants("Missing ACL rule:", `key "service/billing/leader" { policy = "write" }`, "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts without the permission")
	}
	r = nil
	d.answer(d.keys("r")) // refresh
	d.wants("[ Cancel ]", "y release")
	d.keys("esc")
	d.lacks("(r) release")
	d.now = d.now.Add(2 * time.Minute)
	if cmd := d.send(tickMsg(d.now)); cmd == nil || len(d.calls["rights"]) != 3 {
		t.Errorf("%d requests, want a third one because the permissions expired", len(d.calls["rights"]))
	}
}

// One request is in progress at a time. A dialog with many targets reads the permissions of the first 200 once. The
// selection reads again after a minute.
func TestRightsOfManyTargetsAreRequestedOnce(t *testing.T) {
	d := drive(t, snapshotOf("crowd:230"), 120, 36, asks(&election.MissingRules{}))
	first := d.keys("g")
	if cmd := d.keys("j", "j", "j", "j", "j"); cmd != nil {
		t.Error("a second request started while the first one was in progress")
	}
	d.answer(first)
	if all := d.calls["rights"]; all[len(all)-1] != d.selected() {
		t.Errorf("requested the permissions for %q, want %s", all, d.selected())
	}
	d.keys("a")
	d.hasty = true
	if n := d.answer(d.keys("r")); n < 198 || n > 200 {
		t.Errorf("%d requests for %d targets, want 200 at most", n, len(d.m.overlay.Targets))
	}
	d.now = d.now.Add(2 * rightsAge)
	if n := d.answer(d.send(tea.ResumeMsg{})); n != 0 {
		t.Errorf("the open dialog sent %d more requests", n)
	}
	if n := d.answer(d.keys("esc")); n != 1 {
		t.Errorf("%d requests for the selection after its permissions expired, want 1", n)
	}
	d.filter("nothing matches")
	if n := d.answer(d.send(tea.ResumeMsg{})); n != 0 {
		t.Errorf("%d requests without a selection", n)
	}
}
