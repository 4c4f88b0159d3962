package ui

import (
	"context"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/uitest"
)

// fakeDiagnosis infers fixes from the sessions, checks and facts that the test sets.
type fakeDiagnosis struct {
	sessions []*election.Session
	checks   []election.Check
	facts    insight.Facts
}

func (x *fakeDiagnosis) option(o *Options) {
	fake(o).onDiagnose = func(_ context.Context, s *election.Snapshot, e *election.Election) Diagnosis {
		facts := x.facts
		facts.Now = testNow()
		checks := map[string]election.NodeChecks{}
		if e.Session != nil {
			checks[e.Session.Node] = election.NodeChecks{Checks: x.checks}
		}
		facts.Around = &election.Surroundings{At: testNow(), Key: e.Key(), Sessions: x.sessions}
		d := Diagnosis{Fix: insight.NewBoard(s.Elections, x.sessions).WithChecks(checks).Fix(e, facts), Facts: facts, Ready: testNow().Add(15 * time.Second)}
		if d.Fix != nil && d.Fix.Code == insight.LeaderFailed {
			d.Destroy = election.Destroy{Target: e.Target(), Keys: []string{e.Key()}, Shown: testNow()}
		}
		return d
	}
}

// newDiagnosis returns facts with a waiting api.Lock candidate of mail, whose flags it rejects, and the failed node of
// ledger.
func newDiagnosis() *fakeDiagnosis {
	checks := passing("node-4", "ledger-4", election.StatusPassing, "")
	checks[0].Status = election.StatusCritical
	return &fakeDiagnosis{
		sessions: []*election.Session{{ID: sessionID(600), Name: "mail-2", Node: "node-2", TTL: 15 * time.Second}},
		checks:   checks, facts: insight.Facts{Delay: insight.DelayNone},
	}
}

// diagnose opens the dialog and completes the diagnosis.
func (d *driver) diagnose() {
	d.t.Helper()
	d.send(firstOf(d.t, d.keys("f")))
}

// fixed opens the dialog about an election and presses keys. Some words are not keys but change the data.
func fixed(key string, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		x := newDiagnosis()
		snap := studiedSnapshot("")
		if key == keyOf("ledger") {
			snap = uitest.Failed("")
		}
		if e := snap.Find(election.KeyID(keyOf("mail"))); slices.Contains(keys, "flags") {
			e.Pair.Flags, e.LastSession = 42, &election.Session{ID: sessionID(601), Name: "Consul API Lock"}
		}
		d := drive(t, snap, w, h, x.option)
		d.open(key)
		for _, k := range keys {
			switch k {
			case "flags":
			case "none":
				x.sessions = []*election.Session{}
			case "reading":
				d.keys("f")
			case "f":
				if key == keyOf("search") {
					x.facts.Delay, x.sessions = insight.DelayActive, []*election.Session{}
				}
				d.diagnose()
			case "ready":
				d.now = d.now.Add(15 * time.Second)
				for range 30 {
					d.keys("pgdown")
				}
			default:
				d.keys(k)
			}
		}
		return d
	}
}

// openFailed opens ledger, whose leader's node has failed.
func openFailed(t *testing.T) *driver {
	d := drive(t, uitest.Failed(""), 120, 40, newDiagnosis().option)
	d.open(keyOf("ledger"))
	return d
}

func TestFixIsAppliedAfterConfirmation(t *testing.T) {
	d := openFailed(t)
	d.wants("f fix…")
	cmd := d.keys("f")
	d.wants("Fix ledger", "Reading sibling keys, sessions and checks", "[ Cancel ]")
	d.keys("y")
	d.send(firstOf(t, cmd))
	d.wants("Problem      leader failed", "Then destroy session", election.ShortID(sessionID(10))+" on node-4", "All keys     "+keyOf("ledger"), "Not before   12:01:24", "(Apply)")
	d.keys("y")
	d.wants("Nothing was done: until 12:01:24, electop must see that the node check stays critical.")
	d.now = d.now.Add(15 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("y apply")
	d.hasty = true
	d.send(firstOf(t, d.keys("esc", "f")))
	d.keys("y") // pressed before the text was visible long enough
	d.wants("Nothing was done: the text appeared or changed only a moment ago.")
	d.hasty = false
	d.keys("enter") // Cancel has the focus
	d.wants("Cancelled: nothing was changed.")
	d.diagnose()
	confirmed := d.keys("tab", "enter")
	d.lacks("Fix ledger")
	d.wants("ledger: waiting for Consul's response")
	d.perform(confirmed)
	if len(d.op.destroyed) != 1 || d.op.destroyed[0].Session != sessionID(10) || !slices.Equal(d.op.destroyed[0].Keys, []string{keyOf("ledger")}) || d.op.destroyed[0].Shown != testNow() {
		t.Fatalf("destroyed %+v", d.op.destroyed)
	}
	d.send(snapshotMsg{released(uitest.Failed(""), keyOf("ledger"), false)})
	d.wants("ledger: ledger-4 → no leader yet")
	d.keys("u")
	d.wants("destroy  ledger-4 → no leader yet")
}

func TestFixDependsOnTheDiagnosedState(t *testing.T) {
	d := openFailed(t)
	d.diagnose()
	d.now = d.now.Add(15 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("y apply")
	d.send(snapshotMsg{released(uitest.Failed(""), keyOf("ledger"), false)})
	d.wants("The key was changed after it was read.", "[ Close ]", "r diagnose again")
	d.keys("y")
	d.send(snapshotMsg{uitest.Failed("")}) // the key again has the diagnosed state
	d.keys("y")
	d.send(firstOf(t, d.keys("r")))
	d.wants("y apply")
	d.send(snapshotMsg{lostSnapshot()})
	d.wants("Unavailable while Consul is unreachable", "[ Close ]")
	d.keys("y", "esc")
	d.lacks("Fix ledger")
	d.keys("f")
	d.wants("Unavailable while Consul is unreachable")
	if len(d.op.destroyed) != 0 {
		t.Fatalf("destroyed %v", d.op.destroyed)
	}
}

func TestFixExplainsProblemsWithoutAWrite(t *testing.T) {
	for name, want := range map[string][]string{
		"search": {"lock delay", "Wait until the lock-delay ends, in about 9s.", "~12:01:18", "Consul rejects an acquire: a lock-delay is active", "[ Close ]"},
		"mail":   {"no candidate", "No leader for 4m", "No candidate was seen.", "failed: token lacks", "[ Close ]"},
	} {
		x := newDiagnosis()
		x.sessions, x.facts = []*election.Session{}, insight.Facts{DelayErr: "token lacks key:write"}
		if name == "search" {
			x.facts = insight.Facts{Delay: insight.DelayActive}
		}
		d := drive(t, mixedSnapshot(), 120, 36, x.option)
		d.open(keyOf(name))
		d.diagnose()
		d.wants(want...)
		d.keys("y", "tab", "enter")
		d.lacks("Fix " + name)
		if len(d.actions()) != 0 {
			t.Error("an action started although the fix has nothing to apply")
		}
	}
}

func TestFixOfAHealthyElection(t *testing.T) {
	x := newDiagnosis()
	x.checks = passing("node-2", "legacy", election.StatusPassing, "")
	d := drive(t, studiedSnapshot(""), 120, 36, x.option)
	for name, want := range map[string]string{
		"auth": "auth: no vacancy to fix. auth-2 leads. If its process has ended, its session expires.",
		"jobs": "jobs: no vacancy to fix. The key belongs to a semaphore", "web": "web is not readable with this token. Run electop doctor",
	} {
		d.open(keyOf(name))
		if msg := firstOf(t, tea.Batch(d.keys("f"), func() tea.Msg { return nil })); msg != nil && d.m.overlay != nil {
			t.Error("a dialog opened")
		}
		d.wants(want)
	}
	d.open(keyOf("legacy"))
	d.lacks("f fix…")
	d.diagnose()
	d.wants("Fix legacy", "No failure found: Consul does not report that the leader's node has failed.", "r releases the lock", "[ Close ]")
}

func TestFixOfALeaderThatMayHaveFailed(t *testing.T) {
	x := newDiagnosis()
	x.checks, x.facts.Unread = nil, "the checks of node-2 could not be read (no response)"
	d := drive(t, studiedSnapshot(""), 120, 36, x.option)
	d.open(keyOf("legacy"))
	d.diagnose()
	d.wants("Fix legacy", "Problem      unknown", "It is unknown whether the leader has failed", "could not be read (no response).", "electop doctor", "[ Close ]")
	d.lacks("Nothing to fix")
	d.keys("esc")
	d.lacks("f fix…")
	s := studiedSnapshot("")
	s.Find(election.KeyID(keyOf("auth"))).Session = nil
	d = drive(t, s, 120, 36, x.option)
	x.facts.Unread = "its session could not be read"
	d.open(keyOf("auth"))
	d.diagnose()
	d.wants("Fix auth", "Problem      unknown", "its session could not", "be read.")
	d.lacks("othing to fix")
}

func TestFixIsDisabled(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, newDiagnosis().option, func(o *Options) { o.ReadOnly = true })
	d.keys("f")
	d.wants("Read-only: fix is disabled (--read-only).")
	d = recall(t, uitest.Yesterday(), 120, 36, newDiagnosis().option)
	d.travels("[")
	d.keys("f")
	d.wants("This is the past: fix is disabled. Press esc to return to now.")
}

func TestSeveralActionsAreFollowed(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.open(keyOf("billing"))
	d.keys("r")
	d.perform(d.keys("y"))
	d.open(keyOf("auth"))
	d.keys("r")
	d.perform(d.keys("y"))
	d.now = d.now.Add(2 * time.Second)
	d.send(snapshotMsg{released(released(mixedSnapshot(), keyOf("auth"), false), keyOf("billing"), false)})
	d.wants("1 other waiting", "auth: auth-2 → no leader yet, 2s")
	d.send(snapshotMsg{released(takenOver(mixedSnapshot(), keyOf("auth")), keyOf("billing"), false)})
	d.now = d.now.Add(31 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("billing: billing-3 → no leader yet, 33s")
}
