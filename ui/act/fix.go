package act

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Diagnosis is the problem with one election and the fix for it.
type Diagnosis struct {
	// Fix is nil if no problem was found.
	Fix *insight.Finding
	// Facts are the facts from which Fix was inferred.
	Facts insight.Facts
	// Destroy is the fix, if it has keys. Without keys, the fix needs no write of electop.
	Destroy election.Destroy
	// Ready is the earliest time at which the fix can be applied.
	Ready time.Time
}

// Diagnose reads the facts about an election of a snapshot and infers its problem.
type Diagnose func(ctx context.Context, s *election.Snapshot, e *election.Election) Diagnosis

// diagnoseTime is the timeout of a diagnosis, which may include a search of the whole store.
const diagnoseTime = 30 * time.Second

// fix is the dialog that shows why an election has no effective leader and applies the fix. It is bound to the state of
// the key that it diagnosed.
type fix struct {
	scene.Overlay
	s        *scene.Scene    // of the election's datacenter
	ctx      context.Context //nolint:containedctx // ends the diagnosis with the program
	keys     keys.Map
	diagnose Diagnose
	// by is the key or command that opened the dialog.
	by       string
	election *election.Election
	found    Diagnosis
	// changed is the reason why the diagnosis is outdated. It is empty if the diagnosis is current.
	changed string
}

// Fix opens the dialog for an election. If a diagnosis is unnecessary or impossible, it returns a note with the reason.
// s is the scene of the election's datacenter.
func Fix(ctx context.Context, e *election.Election, by string, diagnose Diagnose, k keys.Map, s *scene.Scene) scene.Action {
	reason := s.Refusal("fix")
	switch {
	case reason != "":
	case e == nil:
		reason = "No election is selected: there is nothing to fix."
	case e.Unreadable:
		reason = scene.OneLine(e.Name, 60) + " is not readable with this token. Run electop doctor to see the missing rule."
	case e.Recorded():
		reason = "Unavailable until " + scene.OneLine(e.Name, 60) + " is read: this data is from the history."
	}
	if reason != "" {
		return scene.Say{Role: kit.Delay, Text: reason}
	}
	if insight.FixNeeds(e, s.Now) == insight.NeedsNothing {
		text := scene.OneLine(e.Leader, 60) + " leads."
		switch {
		case e.IsSemaphore():
			text = "The key belongs to a semaphore, which has holders and no leader."
		case e.Session != nil && e.Session.TTL > 0:
			text += " If its process has ended, its session expires."
		}
		return scene.Say{Role: kit.Led, Text: scene.OneLine(e.Name, 60) + ": no vacancy to fix. " + text}
	}
	d := &fix{s: s, ctx: ctx, keys: k, diagnose: diagnose, by: by, election: e}
	d.Sheet = kit.Sheet{Title: "Fix " + scene.OneLine(e.Name, 40), Keys: k, Width: 84, Write: d.write}
	d.Update = d.update
	return scene.Open{Overlay: &d.Overlay, Cmd: d.start()}
}

// start diagnoses the election in the state that the newest snapshot contains.
func (d *fix) start() (cmd tea.Cmd) {
	live := d.s.Live
	if e := live.Find(d.election.ID()); e != nil {
		d.election = e
	}
	d.Task.Cancel()
	d.found, d.changed = Diagnosis{}, ""
	e := d.election
	d.Task, cmd = kit.Read(d.ctx, diagnoseTime, func(ctx context.Context, _ func(int, int)) (Diagnosis, error) { return d.diagnose(ctx, live, e), nil },
		func(found Diagnosis, _ error) tea.Cmd {
			d.found = found
			return nil
		})
	return cmd
}

// update compares the election with the newest snapshot.
func (d *fix) update(s *scene.Scene) scene.Action {
	d.s = s.In(d.election.Datacenter)
	was, now := d.election, d.s.Live.Find(d.election.ID())
	switch {
	case d.changed != "":
		return nil
	case now == nil:
		d.changed = "The election is no longer on the board."
	case now.Pair.Session == was.Pair.Session && (was.Pair.Held() || now.Exists == was.Exists && now.Pair.ModifyIndex == was.Pair.ModifyIndex):
		return nil
	case now.Exists && now.Pair.Held():
		d.changed = scene.OneLine(now.Leader, 60) + " leads now."
	default:
		d.changed = "The key was changed after it was read."
	}
	d.Task.Cancel()
	return nil
}

func (d *fix) offline() bool { return d.s.Live.Connection.State != election.Live }

func (d *fix) applies() bool {
	return !d.Task.Running() && len(d.found.Destroy.Keys) > 0 && d.changed == "" && !d.offline()
}

// buttons returns the keys that work in the current state.
func (d *fix) buttons() []kit.Button {
	cancel := kit.Button{Key: "esc", Label: "Cancel", Hint: "cancel", Do: func() any { return scene.Close{Text: cancelled} }}
	switch {
	case d.applies():
		d.Edge = kit.Vacant
		return []kit.Button{cancel, {Key: "y", Label: "Apply", Hint: "apply", Acts: true, Off: d.s.Now.Before(d.found.Ready), Do: d.confirm}}
	case d.Task.Running():
		cancel.Do = func() any { return scene.Close{} }
		return []kit.Button{cancel, {Key: "y", Do: func() any {
			return scene.Say{Role: kit.Delay, Text: "Nothing was done: the diagnosis is still running."}
		}}}
	}
	again := func() any { return scene.All{scene.Refresh{}, scene.Run{Cmd: d.start()}} }
	return []kit.Button{{Key: "esc", Label: "Close"}, {Key: "r", Hint: "diagnose again", Do: again}}
}

func (d *fix) confirm() any {
	if d.s.Now.Before(d.found.Ready) {
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: until " + kit.ClockTime(d.found.Ready) + ", electop must see that the node check stays critical."}
	}
	destroy := d.found.Destroy
	var targets []scene.Target
	for _, key := range destroy.Keys {
		if e := d.s.Live.In(d.election.Datacenter).Find(election.KeyID(key)); e != nil {
			targets = append(targets, d.s.Bind(e))
		}
	}
	return scene.Confirm{Kind: election.ActionDestroy, Targets: targets, Shown: map[string]election.Destroy{destroy.Session: destroy}, By: d.by}
}

func (d *fix) write(page *kit.Page) {
	d.Edge = kit.Accent
	d.Buttons = d.buttons()
	d.writeState(page)
	page.Blank()
	switch held := d.election.Pair.Held(); {
	case d.offline():
		page.Para(kit.Bad, scene.StaleText(d.s.Live.Connection))
	case d.changed != "":
		page.Para(kit.Delay, d.changed)
	case d.Task.Running() && held:
		page.Para(kit.Accent, "Reading the checks of the leader's node and, if it has failed, every key that its session holds.")
	case d.Task.Running():
		page.Para(kit.Accent, "Reading sibling keys and all sessions, and testing for a lock-delay.")
	case d.found.Fix == nil && held:
		page.Para(kit.Led, "No failure found: Consul does not report that the leader's node has failed.")
		page.Para(kit.Text, "electop cannot determine whether the leader's process is running. If it has ended, press esc; then "+
			d.keys.Release.Help().Key+" releases the lock, or "+d.keys.Destroy.Help().Key+" destroys the leader's session.")
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
		page.Field("Datacenter", kit.Span{kit.Strong, scene.OneLine(e.Datacenter, 60)})
	}
	page.Field("Key", kit.Span{kit.Strong, sanitize.Text(e.Key())})
	if e.Exists && e.Pair.Held() {
		page.Field("Leader", kit.Span{kit.Strong, on(e.Leader, e.Node())})
		page.Field("Session", kit.Span{kit.Text, scene.Clean(e.Pair.Session)})
		return
	}
	since := kit.Clock(e.VacantSince, d.s.Now) // an age would change the text again and again, and each change disables the action
	if !e.VacantSinceKnown {
		since += " or earlier"
	}
	page.Field("No leader", kit.Span{kit.Vacant, "since " + since})
}

func (d *fix) writeFix(page *kit.Page) {
	f := d.found.Fix
	scene.ProblemField(page, f)
	page.Field("Why", kit.Span{kit.Text, f.Why})
	scene.FixField(page, f, d.s.Now)
	if d.applies() {
		keys := make([]string, 0, len(d.found.Destroy.Keys))
		for _, key := range d.found.Destroy.Keys {
			keys = append(keys, sanitize.Text(key))
		}
		page.Field("All keys", kit.Span{kit.Strong, strings.Join(keys, ", ")})
		page.Field("Not before", kit.Span{kit.Text, kit.ClockTime(d.found.Ready)}, kit.Span{kit.Quiet, "  electop must see that the node check stays critical"})
	}
	if d.election.Pair.Held() {
		return
	}
	probe := kit.Span{kit.Quiet, "the lock-delay was not tested"}
	switch facts := d.found.Facts; {
	case facts.DelayErr != "":
		probe = kit.Span{kit.Delay, "failed: " + scene.Clean(facts.DelayErr)}
	case facts.Delay == insight.DelayActive:
		probe = kit.Span{kit.Delay, "Consul rejects an acquire: a lock-delay is active"}
	case facts.Delay == insight.DelayNone:
		probe = kit.Span{kit.Text, "no lock-delay is active"}
	}
	page.Field("Probe", probe)
}
