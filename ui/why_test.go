package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
)

func TestStudyFollowsTheSelection(t *testing.T) {
	var o outside
	d := drive(t, studiedSnapshot(""), 120, 36, o.options)
	d.keys("g", "j", "2", "1", "3", "x", "esc", "1")
	want := []string{
		"service/mail/leader", "service/auth/leader", "service/billing/leader", "", "service/billing/leader", "",
		"service/billing/leader",
	}
	if !slices.Equal(o.studied, want) {
		t.Errorf("studied %q, want %q", o.studied, want)
	}
	if !slices.Equal(o.listings, []bool{true, false}) {
		t.Errorf("WatchSessions received %v, want true and then false", o.listings)
	}
}

// answer runs the requests for permissions among the commands of a batch and sends the results.
func (d *driver) answer(cmd tea.Cmd) {
	d.t.Helper()
	for cmd != nil {
		msg, ok := firstOf(d.t, cmd).(kit.TaskMsg)
		if !ok {
			return
		}
		cmd = d.send(msg)
	}
}

func TestMissingRights(t *testing.T) {
	o := outside{rights: denied("service/billing/leader")}
	d := drive(t, studiedSnapshot(""), 120, 36, o.options)
	d.answer(d.keys("g"))
	if len(o.asked) != 1 || o.asked[0].Key != "service/auth/leader" {
		t.Fatalf("asked %+v", o.asked)
	}
	d.wants("(r) release", "(x) destroy")
	d.answer(d.keys("j"))
	d.keys("k", "j", "k", "j")
	if len(o.asked) != 2 {
		t.Errorf("%d requests, want 2, because the permissions are cached", len(o.asked))
	}
	d.keys("r")
	d.wants("Missing ACL rule:", `key "service/billing/leader" { policy = "write" }`, "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts without the permission")
	}
	o.rights = election.Rights{Known: true, Release: true, Destroy: true}
	d.answer(d.keys("r")) // refresh
	d.wants("[ Cancel ]", "y release")
	d.keys("esc")
	d.lacks("(r) release")
	d.now = d.now.Add(2 * time.Minute)
	if cmd := d.send(tickMsg(d.now)); cmd == nil || len(o.asked) != 3 {
		t.Errorf("%d requests, want a third one because the permissions expired", len(o.asked))
	}
}

func TestHostileRules(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 80, 24, searches)
	d.keys("g")
	e := d.m.board.Selected()
	d.learn(e.Target(), election.Rights{Known: true, DestroyRule: strings.Repeat("key \"\x1b[2J世\u202e\" ", 30)})
	d.keys("x")
	checkFrame(t, d, 80, 24, "a hostile rule")
}

func TestRightsAreRequestedOneAtATime(t *testing.T) {
	var o outside
	d := drive(t, crowd(100), 120, 36, o.options)
	first := d.keys("g")
	if cmd := d.keys("j", "j", "j", "j", "j"); cmd != nil {
		t.Error("a second request started while the first one was in progress")
	}
	if first == nil {
		t.Fatal("no request after the selection changed")
	}
	next := d.send(first())
	if next == nil {
		t.Fatal("no request for the selected hold")
	}
	d.answer(next)
	if last := o.asked[len(o.asked)-1]; last.Election != d.selected() {
		t.Errorf("requested the permissions for %s, want %s", last.Election, d.selected())
	}
}

// A dialog with many targets reads the permissions of the first 200 once. The selection reads again after a minute.
func TestRightsOfManyTargetsAreRequestedOnce(t *testing.T) {
	var o outside
	d := drive(t, crowd(1100), 120, 36, o.options)
	answer := func(cmd tea.Cmd) (requests int) {
		t.Helper()
		for before := len(o.asked); cmd != nil; requests = len(o.asked) - before {
			if cmd = d.send(firstOf(t, cmd)); len(o.asked) > before+1000 {
				t.Fatal("the requests do not end")
			}
		}
		return requests
	}
	answer(d.keys("g"))
	d.keys("a")
	first := answer(d.keys("r"))
	if targets := len(d.m.overlay.Targets()); targets < 1000 || first < 199 || first > 200 {
		t.Errorf("%d requests for %d targets, want 200 at most", first, targets)
	}
	d.now = d.now.Add(2 * rightsAge)
	if n := answer(d.send(tea.ResumeMsg{})); n != 0 {
		t.Errorf("the open dialog sent %d more requests", n)
	}
	if n := answer(d.keys("esc")); n != 1 {
		t.Errorf("%d requests for the selection after its permissions expired, want 1", n)
	}
	d.filter("nothing matches")
	if n := answer(d.send(tea.ResumeMsg{})); n != 0 {
		t.Errorf("%d requests without a selection", n)
	}
}

func TestSessionsView(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, searches)
	d.keys("3")
	d.wants("Sessions  20, 9 hold a watched key  3 orphans?", "a slot of jobs", "no watched key", "orphan? 3 alike")
	d.keys("/", "'cron", "enter", "space", "x")
	d.wants("Destroy session report-cron")
	d.perform(d.keys("y"))
	if len(d.op.destroyed) != 1 || d.op.destroyed[0].Key != "" || d.op.destroyed[0].Session == "" {
		t.Errorf("destroyed %+v", d.op.destroyed)
	}
	d.wants("report-cron ", ": destroyed")
	d.keys("esc", "r")
	d.wants("A session can be destroyed (x) but not released.")
	d.keys("G", "enter")
	d.wants("First seen", "Holds", "service/web/leader", "[ Close ]")
	d.keys("esc", "esc")
	if d.m.view != viewElections {
		t.Error("esc does not return to the list")
	}
}
