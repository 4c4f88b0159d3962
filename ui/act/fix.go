package act

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	engine "electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// diagnoseTime is the timeout of a diagnosis, which may include a search of the whole store.
const diagnoseTime = 30 * time.Second

// fix is the dialog that shows why an election has no effective leader and applies the fix. It is bound to the state of
// the key that it diagnosed.
type fix struct {
	scene.Overlay
	*Log
	s        *scene.Scene // of the election's datacenter
	election *election.Election
	found    engine.Diagnosis
	// changed is the reason why the diagnosis is outdated. It is empty if the diagnosis is current.
	changed string
}

// Fix opens the dialog for an election. If a diagnosis is unnecessary or impossible, it returns a note with the reason.
func (l *Log) Fix(e *election.Election) scene.Action {
	s, name := l.Scene(), ""
	if e != nil {
		s, name = s.In(e.Datacenter), scene.Short(e.Name)
	}
	reason := s.Refusal("fix")
	switch {
	case reason != "":
	case e == nil:
		reason = "No election is selected: there is nothing to fix."
	case e.Unreadable:
		reason = name + " is not readable with this token. Run electop doctor to see the missing rule."
	case e.Recorded():
		reason = "Unavailable until " + name + " is read: this data is from the history."
	case insight.FixNeeds(e, s.Now) != insight.NeedsNothing:
	case e.IsSemaphore():
		reason = name + ": no vacancy to fix. The key belongs to a semaphore, which has holders and no leader."
	default:
		reason = name + ": no vacancy to fix. " + scene.Short(e.Leader) + " leads. If its process has ended, its session expires."
		for _, a := range l.Scene().Insight().Advice {
			if a.Urgent {
				reason = name + ": no vacancy to fix, but see the pane: " + a.Why + "."
			}
		}
		if failed := insight.FailureOf(e, s.Live.ChecksOf(e)); failed.Current() {
			reason = name + ": " + failed.Why()
		}
	}
	if reason != "" {
		return scene.Refuse(reason)
	}
	d := &fix{Log: l, s: s, election: e}
	d.Sheet = kit.Sheet{Title: "Fix " + scene.Short(e.Name), Width: 84, Write: d.write}
	d.Task = kit.Read(l.Ctx, diagnoseTime, func(ctx context.Context) kit.Apply {
		found := l.Diagnose(ctx, s.Live, e)
		return func() tea.Cmd {
			if d.found = found; found.Facts.Delay == insight.LockFree {
				return l.Do(scene.Probed{Election: e})
			}
			return nil
		}
	})
	return &d.Overlay
}

// update compares the election with the newest snapshot.
func (d *fix) update() {
	d.s = d.S.In(d.election.Datacenter)
	was, now := d.election, d.s.Live.Find(d.election.ID())
	switch {
	case d.changed != "":
	case now == nil:
		d.changed = "The election is no longer on the board."
	case now.Pair.Session == was.Pair.Session && (was.Pair.Held() || now.Exists == was.Exists && now.Pair.ModifyIndex == was.Pair.ModifyIndex):
	case now.Held():
		d.changed = scene.Short(now.Leader) + " leads now."
	default:
		d.changed = "The key was changed after it was read."
	}
	d.follow()
}

// follow updates the times in the texts about an election without a leader, and the candidates that have ended. Its fix
// needs no write, so that the changes do not disable an action.
func (d *fix) follow() {
	f, facts := d.found.Fix, d.found.Facts
	if f == nil || facts.Around == nil {
		return
	}
	around := *facts.Around
	if s := d.s.Live.Surroundings; s != nil {
		around.Ended = s.Ended
	}
	facts.Now, facts.Around = d.s.Now, &around
	if now := insight.NewBoard(d.s.Live.Elections, around.Sessions).Fix(d.election, facts); now != nil && now.Code == f.Code {
		fix := *f // its wait ends as diagnosed
		fix.Why, fix.Fix = now.Why, now.Fix
		d.found.Fix = &fix
	}
}

func (d *fix) confirm() any {
	if d.s.Now.Before(d.found.Ready) {
		return scene.Refuse("Nothing was done: until " + kit.ClockTime(d.found.Ready) + ", electop must see that the node check stays critical.")
	}
	destroy := d.found.Destroy
	var targets []scene.Target
	for _, key := range destroy.Keys {
		if e := d.s.Live.FindKey(key); e != nil {
			targets = append(targets, d.s.Bind(e))
		}
	}
	return scene.Confirm{Kind: election.ActionDestroy, Targets: targets, Shown: map[string]election.Destroy{destroy.Session: destroy}}
}

func (d *fix) write(page *kit.Page) {
	d.update()
	d.writeState(page)
	page.Blank()
	d.Edge, d.Buttons = kit.Accent, []kit.Button{{Key: "r", Hint: "refresh", Do: func() any {
		return scene.All{scene.Refresh{}, d.Fix(cmp.Or(d.s.Live.Find(d.election.ID()), d.election))}
	}}}
	switch held := d.election.Pair.Held(); {
	case d.s.Live.Connection.State != election.Live:
		page.Para(kit.Bad, d.s.StaleText())
	case d.changed != "":
		page.Para(kit.Delay, d.changed)
	case d.Task.Running():
		d.Buttons = []kit.Button{{Key: "esc", Label: "Cancel"}}
		page.Para(kit.Accent, "Reading sibling keys, sessions and checks, testing for a lock-delay and, if the leader's node has failed, searching the store.")
	case d.found.Fix == nil && held:
		page.Para(kit.Led, "No failure found: Consul does not report that the leader's node has failed.")
		page.Para(kit.Text, "electop cannot determine whether the leader's process is running. If it has ended, press esc; then "+
			d.Keys.Release.Help().Key+" releases the lock, or "+d.Keys.Destroy.Help().Key+" destroys the leader's session.")
	case d.found.Fix == nil:
		page.Para(kit.Led, "Nothing to fix: a session has acquired the key.")
	default:
		d.writeFix(page)
	}
}

// writeState describes the election as it was diagnosed.
func (d *fix) writeState(page *kit.Page) {
	e := d.election
	if d.s.Several() {
		page.Field("Datacenter", kit.Strong.Span(scene.Short(e.Datacenter)))
	}
	page.Field("Key", kit.Strong.Span(sanitize.Text(e.Key())))
	if e.Held() {
		page.Field("Leader", kit.Strong.Span(on(e.Target())))
		page.Value("Session", scene.Clean(e.Pair.Session))
		return
	}
	since := d.s.Clock(e.VacantSince) // an age would change the text again and again, and each change disables the action
	if !e.VacantSinceKnown {
		since += " or earlier"
	}
	page.Field("No leader", kit.Vacant.Span("since "+since))
}

func (d *fix) writeFix(page *kit.Page) {
	f := d.found.Fix
	scene.ProblemField(page, f)
	page.Value("Why", f.Why)
	scene.FixField(page, f, d.s.Now)
	if f.Command != "" {
		d.Buttons = append(d.Buttons, kit.Button{Key: "c", Hint: "copy the command", Do: func() any {
			return scene.Copy{What: "command", Text: d.Cluster(d.election.Datacenter).Consul(f.Command, d.election.Datacenter)}
		}})
	}
	if len(d.found.Destroy.Keys) > 0 {
		d.Edge = kit.Vacant
		early := d.s.Now.Before(d.found.Ready)
		d.Buttons = []kit.Button{cancel(), {Key: "y", Label: "Apply", Hint: "apply", Acts: true, Off: early, Do: d.confirm}}
		page.Field("All keys", kit.Strong.Span(sanitize.Text(strings.Join(d.found.Destroy.Keys, ", "))))
		if early {
			page.Value("Not before", kit.ClockTime(d.found.Ready), "electop must see that the node check stays critical")
		}
	}
	if err := d.found.Facts.DelayErr; err != "" {
		page.Field("Probe", kit.Delay.Span("failed: "+scene.Clean(err)))
	}
}
