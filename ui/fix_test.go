package ui

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/fix"
	"electop/ui/internal/uitest"
)

// fakeDiagnosis infers fixes from the sessions, checks and facts that the test sets.
type fakeDiagnosis struct {
	sessions []*election.Session
	checks   []election.Check
	facts    insight.FixFacts
	unread   string // why the sessions cannot be read
	applied  []election.Target
	end      insight.Outcome
}

func (x *fakeDiagnosis) option(o *Options) {
	o.Diagnose = func(_ context.Context, s *election.Snapshot, e *election.Election) Diagnosis {
		facts := x.facts
		facts.Now, facts.Checks = testNow(), x.checks
		facts.Around = &election.Surroundings{At: testNow(), Key: e.Key(), Sessions: x.sessions, SessionsErr: x.unread}
		d := Diagnosis{Fix: insight.NewBoard(s.Elections, x.sessions).Fix(e, facts), Facts: facts}
		if d.Fix != nil && d.Fix.Kind != insight.FixManual && d.Fix.Kind != insight.FixWait {
			d.Apply = func(context.Context) insight.Outcome {
				x.applied = append(x.applied, e.Target())
				return x.end
			}
		}
		return d
	}
}

// newDiagnosis returns facts with a waiting api.Lock candidate and a critical check of the service of legacy.
func newDiagnosis() *fakeDiagnosis {
	return &fakeDiagnosis{
		sessions: []*election.Session{{ID: sessionID(600), Name: "Consul API Lock", Node: "node-2", TTL: 15 * time.Second}},
		checks:   passing("node-2", "legacy", election.StatusCritical, "connection refused"),
		facts:    insight.FixFacts{Delay: insight.DelayNone},
		end:      insight.Outcome{Kind: insight.OutcomeDone},
	}
}

// diagnose opens the dialog and completes the diagnosis.
func (d *driver) diagnose() {
	d.t.Helper()
	d.send(firstOf(d.t, d.keys("f")))
}

// notices advances the clock until the user can confirm the visible text.
func (d *driver) notices() {
	d.now = d.now.Add(300 * time.Millisecond)
	d.send(fix.Noticed{})
}

// fixed opens the dialog about an election and presses keys. Some words are not keys but change the data.
func fixed(key string, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		x := newDiagnosis()
		d := drive(t, studiedSnapshot(""), w, h, x.option)
		d.open(key)
		for _, k := range keys {
			switch k {
			case "none":
				x.sessions = []*election.Session{}
			case "reading":
				d.keys("f")
			case "f":
				if key == keyOf("search") {
					x.facts.Delay, x.sessions = insight.DelayActive, []*election.Session{}
				}
				d.diagnose()
			case "noticed":
				for range 30 {
					d.keys("pgdown")
				}
				d.notices()
			case "y":
				d.perform(d.keys("y"))
			case "led":
				d.now = d.now.Add(4 * time.Second)
				d.send(snapshotMsg{elected(studiedSnapshot(""), key, d.now)})
			default:
				d.keys(k)
			}
		}
		return d
	}
}

// elected returns a snapshot in which another session has acquired the key.
func elected(s *election.Snapshot, key string, at time.Time) *election.Snapshot {
	for i, e := range s.Elections {
		if e.Key() == key {
			n := *e
			n.Pair.Session, n.Pair.ModifyIndex = sessionID(600), e.Pair.ModifyIndex+2
			n.Pair.LockIndex = 1 // a write without the lock restarts the count
			n.Session, n.Leader, n.Term = testSession(600, n.Name, "node-2"), n.Name+"-2", 1
			n.Since, n.SinceKnown, n.VacantSince = at, true, time.Time{}
			n.Terms = append(append([]election.Term{}, e.Terms...), election.Term{
				Number: n.Term, CreateIndex: 40, Session: n.Pair.Session, Leader: n.Leader, Node: "node-2", Start: at, StartKnown: true,
			})
			s.Elections[i] = &n
		}
	}
	return s
}

func TestFixIsAppliedAfterConfirmation(t *testing.T) {
	x := newDiagnosis()
	d := drive(t, mixedSnapshot(), 120, 36, x.option)
	d.wants("f fix…") // the cursor is on the vacant election mail
	cmd := d.keys("f")
	d.wants("Fix mail", "Reading sibling keys and all sessions", "[ Cancel ]")
	d.keys("y")
	d.wants("Nothing was done: the diagnosis is still running.")
	d.send(firstOf(t, cmd))
	d.wants("Problem      lock flags", "Existing key does not match lock", "Write the same value with flags 3304740253564472344",
		"no lock-delay is active", "(Apply)")
	d.keys("y") // enter was pressed before the text was visible long enough
	d.wants("Nothing was done: the text appeared or changed only a moment ago.")
	d.notices()
	d.wants("y apply")
	d.keys("enter") // Cancel has the focus
	d.wants("Cancelled: nothing was changed.")
	d.diagnose()
	d.notices()
	confirmed := d.keys("tab", "enter")
	d.lacks("Fix mail")
	d.wants("mail: waiting for Consul's response")
	d.perform(confirmed)
	if len(x.applied) != 1 || x.applied[0].Key != keyOf("mail") || len(d.op.released)+len(d.op.destroyed) != 0 {
		t.Fatalf("applied %v", x.applied)
	}
	d.now = d.now.Add(2 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("mail: fixed, no leader yet, 2s", "no leader  fixed")
	d.now = d.now.Add(2 * time.Second)
	d.send(snapshotMsg{elected(mixedSnapshot(), keyOf("mail"), d.now)})
	d.wants("mail: mail-2 leads after 4s", "after 4s")
	d.keys("u")
	d.wants("Actions since electop started", "● mail  fix      f  mail-2 leads after 4s")
	d.keys("esc")
	d.lacks("Actions since")
}

func TestFixOfAHolderThatIsGone(t *testing.T) {
	x := newDiagnosis()
	d := drive(t, studiedSnapshot(""), 120, 36, x.option)
	d.open(keyOf("legacy"))
	d.diagnose()
	d.notices()
	d.wants("Fix legacy", "orphaned session", "Then destroy session", election.ShortID(sessionID(8)), "y apply")
	d.perform(d.keys("y"))
	s := released(studiedSnapshot(""), keyOf("legacy"), false)
	s.Find(election.KeyID(keyOf("legacy"))).LockDelayUntil = testNow().Add(15 * time.Second)
	d.send(snapshotMsg{s})
	d.wants("legacy: legacy-2 → no leader yet", "lock-delay for about")
	d.now = testNow().Add(20 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("the lock-delay should have ended")
	d.keys("u")
	d.wants("destroy  f  legacy-2 → no leader yet")
}

func TestFixDependsOnTheDiagnosedState(t *testing.T) {
	x := newDiagnosis()
	d := drive(t, mixedSnapshot(), 120, 36, x.option)
	d.diagnose()
	d.notices()
	d.send(snapshotMsg{elected(mixedSnapshot(), keyOf("mail"), testNow())})
	d.wants("mail-2 leads now.", "[ Close ]", "r diagnose again")
	d.keys("y")
	d.send(snapshotMsg{mixedSnapshot()}) // the key again has the diagnosed state
	d.keys("y")
	if len(x.applied) != 0 {
		t.Fatalf("applied %v", x.applied)
	}
	d.send(firstOf(t, d.keys("r")))
	d.notices()
	d.send(snapshotMsg{lostSnapshot()})
	d.wants("Unavailable while Consul is unreachable", "[ Close ]")
	d.keys("y", "esc")
	d.lacks("Fix mail")
	d.keys("f")
	d.wants("Unavailable while Consul is unreachable")
	if len(x.applied) != 0 {
		t.Fatalf("applied %v", x.applied)
	}
}

func TestFixWithUnknownResult(t *testing.T) {
	x := newDiagnosis()
	x.end = insight.Outcome{Kind: insight.OutcomeUnknown, Reason: "no response: timeout"}
	d := drive(t, mixedSnapshot(), 120, 36, x.option)
	d.diagnose()
	d.notices()
	d.perform(d.keys("y"))
	d.keys("u")
	d.wants("unknown whether the fix was applied: no response: timeout; no leader now", "1 waiting")
	left := d.m.log.Unfinished()
	if len(left) != 1 || left[0].Outcome.Action != election.ActionFix {
		t.Errorf("unfinished %v", left)
	}
}

func TestFixExplainsProblemsWithoutAWrite(t *testing.T) {
	for name, want := range map[string][]string{
		"search": {"lock delay", "Wait until the lock-delay ends, in about 9s.", "~12:01:18", "Consul rejects an acquire: a lock-delay is active", "[ Close ]"},
		"mail":   {"no candidate", "has no candidate: the election has had no leader", "2026-11-20T11:57:07Z", "failed: token lacks", "[ Close ]"},
	} {
		x := newDiagnosis()
		x.sessions, x.facts = []*election.Session{}, insight.FixFacts{DelayErr: "token lacks key:write"}
		if name == "search" {
			x.facts = insight.FixFacts{Delay: insight.DelayActive}
		}
		d := drive(t, mixedSnapshot(), 120, 36, x.option)
		d.open(keyOf(name))
		d.diagnose()
		d.notices()
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
		if msg := firstOf(t, tea.Batch(d.keys("f"), func() tea.Msg { return nil })); msg != nil && d.m.focus.fix != nil {
			t.Error("a dialog opened")
		}
		d.wants(want)
	}
	d.open(keyOf("legacy"))
	d.lacks("f fix…")
	d.diagnose()
	d.wants("Fix legacy", "No failure found: neither serfHealth", "has failed", "r releases the lock", "[ Close ]")
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
	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys("f")
	d.wants("Unavailable: this dashboard cannot apply fixes.")
	d = recall(t, uitest.Yesterday(), 120, 36, newDiagnosis().option)
	d.travels("[")
	d.keys("f")
	d.wants("This is the past: fix is disabled. Press esc to return to now.")
}

func TestFixCommand(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, newDiagnosis().option)
	d.send(firstOf(t, d.keys(":", "'fix", "enter")))
	d.notices()
	d.perform(d.keys("y"))
	d.keys("u")
	d.wants("fix      :fix  fixed, no leader yet")
}

func TestFixInASmallWindow(t *testing.T) {
	x := newDiagnosis()
	d := drive(t, mixedSnapshot(), 40, 10, x.option)
	d.diagnose()
	d.notices()
	d.keys("y")
	d.wants("more lines below")
	for range 40 {
		d.keys("j")
	}
	d.notices()
	d.wants("y apply")
	d.resize(30, 8)
	d.resize(80, 24)
	d.wants("Cancelled: the window became too small.")
	d.keys("y")
	if len(x.applied) != 0 {
		t.Fatalf("applied %v", x.applied)
	}
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
	d.wants("2 actions waiting", "u lists them", "auth: auth-2 → no leader yet, 2s", "no leader  released")
	d.send(snapshotMsg{released(takenOver(mixedSnapshot(), keyOf("auth")), keyOf("billing"), false)})
	d.wants("auth-9  after 1.3s", "no leader  released")
	d.resize(100, 36) // the leader is shortened
	d.wants("after 1.3s")
	d.resize(120, 36)
	d.now = d.now.Add(31 * time.Second)
	d.send(tickMsg(d.now))
	d.lacks("after 1.3s")
	d.wants("billing: billing-3 → no leader yet, 33s")
}

// The end of a range removes the note about it.
func TestTheNoteAboutARangeEndsWithIt(t *testing.T) {
	for _, end := range []string{"V", "esc", "a", "space"} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys("g", "V", "j")
		d.wants("Move to mark rows")
		d.keys(end)
		if d.lacks("Move to mark rows"); end != "esc" {
			d.wants("marked")
		}
	}
}
