package sessions_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/sessions"
)

// driver sends messages to the view.
type driver struct {
	t    *testing.T
	m    *sessions.Model
	s    *scene.Scene
	rect kit.Rect
	open *scene.Overlay // the open session
}

// drive shows a snapshot in a view of 120x33 cells.
func drive(t *testing.T, snap *election.Snapshot) *driver {
	d := &driver{t: t, s: uitest.Scene(snap, uitest.Now()), rect: kit.Rect{W: 120, H: 33}}
	d.m = sessions.New(ui.NewKeys(false, ui.Keys{}))
	d.send(scene.Resized{Rect: d.rect})
	d.show(snap)
	return d
}

func (d *driver) send(msg tea.Msg) (action scene.Action) {
	action = d.m.Update(msg, d.s)
	if o, opens := action.(scene.Open); opens {
		d.open = o.Overlay
	}
	return action
}

func (d *driver) show(snap *election.Snapshot) {
	before := d.s
	d.s = uitest.Scene(snap, before.Now)
	d.send(scene.Changed{Before: before})
}

func (d *driver) keys(names ...string) (action scene.Action) {
	for _, name := range names {
		action = d.send(uitest.Press(name))
	}
	return action
}

func (d *driver) destroy() scene.Action { return d.send(scene.Choose{Kind: election.ActionDestroy}) }

func (d *driver) filter(text string) { d.send(scene.Filtered{Text: text}) }

func (d *driver) view() []string { return d.m.View(d.s, uitest.Painter()) }

func (d *driver) text() string {
	lines := d.view()
	if d.open != nil {
		d.open.Update(d.s)
		d.open.Fit(d.s.Sym, d.rect.W, len(lines), d.s.Now)
		d.open.View(uitest.Painter(), lines, d.rect.W)
	}
	return ansi.Strip(strings.Join(lines, "\n"))
}

func (d *driver) wants(parts ...string) {
	d.t.Helper()
	for _, part := range parts {
		if text := d.text(); !strings.Contains(text, part) {
			d.t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func (d *driver) lacks(parts ...string) {
	d.t.Helper()
	for _, part := range parts {
		if text := d.text(); strings.Contains(text, part) {
			d.t.Errorf("%q is in:\n%s", part, text)
		}
	}
}

// row returns the first line that contains a text.
func (d *driver) row(text string) string {
	for _, line := range d.view() {
		if line = ansi.Strip(line); strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// said returns the note of an action.
func said(action scene.Action) string {
	say, _ := action.(scene.Say)
	return say.Text
}

// Checks change without a change of a session or an election.
func TestTheMarkOfAFailedLeaderFollowsTheChecks(t *testing.T) {
	failed := uitest.Failed("")
	with := func(change func(*election.NodeChecks)) *election.Snapshot {
		snap, checks := *failed, failed.Checks["node-4"]
		checks.Checks = slices.Clone(checks.Checks)
		change(&checks)
		snap.Checks = maps.Clone(failed.Checks)
		snap.Checks["node-4"] = checks
		return &snap
	}
	passing := with(func(n *election.NodeChecks) { n.Checks[0].Status = election.StatusPassing })
	outdated := with(func(n *election.NodeChecks) { n.Until = uitest.Now() })
	d := drive(t, passing)
	for _, c := range []struct {
		snap *election.Snapshot
		want string
	}{{passing, "● ledger "}, {failed, "✗ ledger "}, {passing, "● ledger "}, {failed, "✗ ledger "}, {outdated, "● ledger "}} {
		d.show(c.snap)
		if row := d.row("ledger"); !strings.Contains(row, c.want) {
			t.Errorf("the row is %q, want %q", row, c.want)
		}
	}
	d.show(failed)
	d.filter("ledger")
	d.keys("enter")
	d.wants("ledger on node-4", "✗ The leader's node node-4 has failed (serfHealth is critical)")
}

// listed returns a snapshot whose session list contains the sessions of auth and billing and an idle one.
func listed(seen ...election.Seen) *election.Snapshot {
	s := uitest.Mixed()
	idle := uitest.Session(400, "idle", "node-4")
	all := []*election.Session{s.Find("service/auth/leader").Session, s.Find("service/billing/leader").Session, idle}
	s.SessionList = &election.SessionList{At: uitest.Now(), Sessions: all, FirstSeen: map[string]election.Seen{}}
	for i, first := range seen {
		s.SessionList.FirstSeen[all[i].ID] = first
	}
	return s
}

func ago(d time.Duration) time.Time { return uitest.Now().Add(-d) }

func TestSessionAgeDoesNotBeginWithTheView(t *testing.T) {
	opened := election.Seen{At: uitest.Now()}
	d := drive(t, listed(opened, opened, election.Seen{At: ago(12 * time.Minute)}))
	// auth led before electop started, and billing was elected later. The sessions of both are at least as old as
	// their terms. The idle session was in earlier lists.
	d.wants("≥2d04h", "≥3m12s", "≥12m00s")
	d.lacks("≥0s")
	d.filter("idle")
	d.keys("enter")
	d.wants("First seen", "11:49:09", "≥12m00s; Consul does not record")
}

// A session that led before, or that resembles the session of a leader, may be a waiting candidate.
func TestWaitingSessionsAreNoOrphans(t *testing.T) {
	for what, change := range map[string]func(s *election.Snapshot, left []*election.Session){
		"only two sessions": func(s *election.Snapshot, _ []*election.Session) {
			s.SessionList.Sessions = slices.DeleteFunc(slices.Clone(s.SessionList.Sessions), func(x *election.Session) bool { return x.ID == uitest.SessionID(320) })
		},
		"the name of the holder's": func(s *election.Snapshot, _ []*election.Session) {
			s.Find("service/auth/leader").Session.Name = "report-cron"
		},
		"a service check like the holder's": func(_ *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				ses.ServiceChecks = []string{"service:auth-7"}
			}
		},
		"former leaders": func(s *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				e := s.Find("service/auth/leader")
				uitest.AddTerm(e, 1, 3*time.Hour, 2*time.Hour, election.Released, "")
				e.Terms[0].Session = ses.ID
			}
		},
		"the name of an election": func(_ *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				ses.Name = "waits for auth-host17"
			}
		},
	} {
		s := uitest.Studied("")
		var left []*election.Session
		for _, ses := range s.SessionList.Sessions {
			if ses.Name == "report-cron" {
				left = append(left, ses)
			}
		}
		change(s, left)
		if got := drive(t, s).row("orphan"); got != "" {
			t.Errorf("%s: possible waiters are listed as orphans: %q", what, got)
		}
	}
}

func TestSortAndFilter(t *testing.T) {
	d := drive(t, uitest.Studied(""))
	if got := said(d.send(scene.SortBy{Text: "ttl reverse"})); got != "Sorted by ttl, reversed." {
		t.Error(got)
	}
	if got := said(d.send(scene.SortBy{Text: "term"})); !strings.HasPrefix(got, "Usage: :sort KEY [reverse]. Keys: name, node, state, holds, age, ttl.") {
		t.Error(got)
	}
	d.filter("state:idle node:node-3")
	lines := strings.Join(d.view(), "\n")
	if n := strings.Count(lines, "node-3"); n == 0 || n != strings.Count(lines, "node-") || n != strings.Count(lines, "no watched key") {
		t.Errorf("the filter shows:\n%s", ansi.Strip(lines))
	}
	if got := d.m.Result(d.s); !strings.HasSuffix(got, " of 20 sessions") || got == "20 of 20 sessions" {
		t.Error(got)
	}
}

func TestTheCursorFollowsItsSession(t *testing.T) {
	d := drive(t, uitest.Studied(""))
	d.filter("users")
	d.filter("")
	id := d.m.Cursor()
	for range 6 {
		d.keys("s")
	}
	d.keys("S")
	s := uitest.Studied("")
	s.SessionList.Sessions = slices.Delete(slices.Clone(s.SessionList.Sessions), 0, 2)
	d.show(s)
	if got := d.m.Selected(); got == nil || got.ID != id || got.Name != "users" {
		t.Errorf("the cursor is on the session %v, want users", got)
	}
}

// The marked sessions are chosen, except for hidden ones. Without marks, the selected session is chosen.
func TestChoosing(t *testing.T) {
	d := drive(t, uitest.Studied(""))
	if got := said(d.keys("r")); !strings.Contains(got, "can be destroyed (x) but not released") {
		t.Error(got)
	}
	ask := d.destroy().(scene.Ask)
	if len(ask.Targets) != 1 || ask.Targets[0].Session != d.m.Cursor() || ask.Targets[0].SessionOnly == nil {
		t.Errorf("%+v", ask)
	}
	d.filter("cron")
	d.keys("g", "space", "space")
	if ask = d.destroy().(scene.Ask); len(ask.Targets) != 2 {
		t.Errorf("%+v", ask)
	}
	d.filter("users")
	if got := said(d.destroy()); got != scene.AllHidden {
		t.Error(got)
	}
	if shown, hidden := d.m.Marks(); shown != 0 || hidden != 2 {
		t.Errorf("%d and %d marked", shown, hidden)
	}
	d.send(scene.Unmark{Targets: ask.Targets[:1]})
	if _, hidden := d.m.Marks(); hidden != 1 {
		t.Errorf("%d marked", hidden)
	}
	d.s.ReadOnly = true
	if got := said(d.destroy()); !strings.Contains(got, "Read-only: destroy is disabled") {
		t.Error(got)
	}
}

func TestBack(t *testing.T) {
	d := drive(t, uitest.Studied(""))
	d.keys("space")
	d.filter("users")
	for range 2 { // the filter, then the mark
		if action := d.send(scene.Back{}); action != nil {
			t.Fatalf("%#v", action)
		}
	}
	if shown, hidden := d.m.Marks(); shown+hidden > 0 {
		t.Error("a mark remains")
	}
	if _, ok := d.send(scene.Back{}).(scene.Pass); !ok {
		t.Error("Back did not return Pass although there was nothing to undo")
	}
}
