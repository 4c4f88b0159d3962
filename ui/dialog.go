package ui

import (
	"slices"

	"electop/election"
)

// dialog asks before an operator's action. It is bound to the holds it was
// opened with: it acts on exactly those, and refuses when they changed.
type dialog struct {
	kind    election.ActionKind
	targets []boundTarget
	// bare says that the targets are sessions, whatever they hold.
	bare bool
	// falls are the keys known to go with the sessions that are destroyed.
	falls []fall
	// next tells who would probably lead next, nil when that is not told.
	next     []span
	software *election.Software
	search   *search
	// canSearch says that the whole KV store can be searched.
	canSearch bool
	// lost says that the link is lost, so that nobody knows what would be hit.
	lost bool
	// onAction says that the button that acts has the focus; Cancel has it at
	// first.
	onAction bool
	offset   int // first line shown
	insights insightCache
}

// boundTarget is a hold as it was when the dialog was opened, or a session.
type boundTarget struct {
	election.Target
	heldFor string
	// name is that of a session without an election.
	name string
	// changed says what became of the hold since, empty while it stands.
	changed string
	// denied is the rule that the token lacks, empty when it lacks none.
	denied string
}

// fall is a key that falls with a session, or a semaphore's in which a slot gets
// free.
type fall struct {
	key, session string
	slot         bool
	// unwatched says that the key stands beside the election that is looked at,
	// and is not watched itself.
	unwatched bool
}

// openDialog opens a dialog for the marked elections, or else the selected one.
func (m *Model) openDialog(kind election.ActionKind) {
	if reason := m.cannotAct(kind); reason != "" {
		m.say(roleDelay, reason)
		return
	}
	d := &dialog{kind: kind, canSearch: m.search != nil}
	for _, e := range m.chosen() {
		if standingOf(e, m.asOf()) != standsLed {
			continue
		}
		d.targets = append(d.targets, m.bind(e))
	}
	if len(d.targets) == 0 {
		m.say(roleDelay, m.nothingToDo(kind))
		return
	}
	if kind == election.ActionDestroy {
		d.targets = oneEachSession(d.targets)
	}
	m.showDialog(d)
}

// showDialog opens a dialog. What was last said is not about it.
func (m *Model) showDialog(d *dialog) {
	m.dialog, m.mode, m.note = d, modeDialog, note{}
	m.checkDialog()
}

// bind makes a target of a hold as it is now.
func (m *Model) bind(e *election.Election) boundTarget {
	held := atLeast(m.sym, duration(m.asOf().Sub(e.Since)), e.SinceKnown)
	return boundTarget{Target: e.Target(), heldFor: held}
}

// cannotAct says why an action is not possible now, empty when it is.
func (m *Model) cannotAct(kind election.ActionKind) string {
	word := string(kind)
	switch {
	case m.opts.ReadOnly:
		return "Read-only: " + word + " is switched off (--read-only)."
	case m.opts.Operator == nil:
		return "This screen only looks: there is no way to " + word + " from here."
	case m.live.Connection.State == election.Lost:
		return "Not while Consul does not answer: what is shown is old."
	}
	return ""
}

// chosen are the marked elections, or else the selected one.
func (m *Model) chosen() []*election.Election {
	if m.shown == nil {
		return nil
	}
	var es []*election.Election
	for _, e := range m.shown.Elections {
		if m.table.marks[e.ID()] {
			es = append(es, e)
		}
	}
	if e := m.table.selected(); len(es) == 0 && e != nil {
		es = append(es, e)
	}
	return es
}

func (m *Model) nothingToDo(kind election.ActionKind) string {
	es := m.chosen()
	if len(es) != 1 {
		return "There is nothing to " + string(kind) + "."
	}
	name := oneLine(es[0].Name, 60)
	switch {
	case standingOf(es[0], m.asOf()) != standsSemaphore:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	case kind == election.ActionDestroy:
		return name + " is a semaphore without a single holder: destroy one of its sessions in view 3."
	}
	return name + " is a semaphore: it has no single holder to release."
}

// oneEachSession keeps the first target of each session: a session can be
// destroyed once only.
func oneEachSession(targets []boundTarget) []boundTarget {
	seen := map[string]bool{}
	var kept []boundTarget
	for _, t := range targets {
		if !seen[t.Session] {
			kept = append(kept, t)
		}
		seen[t.Session] = true
	}
	return kept
}

// checkDialog compares the open dialog with what is known now.
func (m *Model) checkDialog() {
	d := m.dialog
	if d == nil {
		return
	}
	d.lost = m.live.Connection.State == election.Lost
	for i := range d.targets {
		t := &d.targets[i]
		t.changed, t.denied = d.changeOf(t.Target, m.live), m.rights.missing(d.kind, holdOf(t.Target))
	}
	if d.kind == election.ActionDestroy {
		d.falls = fallsWith(m.live, d.standing())
	}
	d.foresee(m)
	if !d.acts() {
		d.onAction = false
	}
}

func (d *dialog) changeOf(t election.Target, live *election.Snapshot) string {
	if d.bare {
		return sessionChange(t.Session, live.SessionList)
	}
	return changeOf(t, live.Find(t.Key))
}

// changeOf says how a hold differs from what was seen, empty when it does not.
func changeOf(t election.Target, e *election.Election) string {
	switch {
	case e == nil || !e.Exists:
		return "the key is gone"
	case e.Unreadable:
		return "the key may no longer be read"
	case !e.Pair.Held():
		return "nobody leads any more"
	case e.Pair.Session != t.Session:
		return oneLine(e.Leader, 60) + " leads now, term " + number(e.Term)
	case !t.SameHold(e.Pair):
		return "the same session leads another term"
	case e.Overwritten() && e.Pair.ModifyIndex != t.ModifyIndex:
		return "the key was written without the lock"
	}
	return ""
}

// sessionChange says that a session is gone. A list that could not be read says
// nothing.
func sessionChange(id string, list *election.SessionList) string {
	if list == nil || list.Err != "" || slices.ContainsFunc(list.Sessions, func(s *election.Session) bool { return s.ID == id }) {
		return ""
	}
	return "the session is gone"
}

// fallsWith lists the keys that the targets' sessions are known to hold, those of
// the targets first, those that are not watched last.
func fallsWith(live *election.Snapshot, targets []boundTarget) []fall {
	sessions, first := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		sessions[t.Session], first[t.Key] = true, true
	}
	var falls, others []fall
	for _, e := range live.Elections {
		others = append(others, slotsOf(e, sessions)...)
		switch f := (fall{key: e.Key(), session: e.Pair.Session}); {
		case !e.Exists || !e.Pair.Held() || !sessions[f.session]:
		case first[f.key]:
			falls = append(falls, f)
		default:
			others = append(others, f)
		}
	}
	return append(append(falls, others...), besideWith(live, sessions)...)
}

// besideWith lists what the sessions hold beside the election that is looked at,
// as far as that is not watched.
func besideWith(live *election.Snapshot, sessions map[string]bool) []fall {
	if live.Surroundings == nil {
		return nil
	}
	var falls []fall
	for _, p := range live.Surroundings.Siblings {
		if p.Held() && sessions[p.Session] && live.Find(p.Key) == nil {
			falls = append(falls, fall{key: p.Key, session: p.Session, unwatched: true})
		}
	}
	return falls
}

// slotsOf lists the sessions that hold a slot of a semaphore.
func slotsOf(e *election.Election, sessions map[string]bool) []fall {
	if !e.IsSemaphore() {
		return nil
	}
	var falls []fall
	for sem := election.ReadSemaphore(e, nil); sem != nil && len(sem.Holders) > 0; sem.Holders = sem.Holders[1:] {
		if id := sem.Holders[0].Session; sessions[id] {
			falls = append(falls, fall{key: e.Key(), session: id, slot: true})
		}
	}
	return falls
}

// foresee finds out who would be next and whose software this is, for a dialog
// about one election.
func (d *dialog) foresee(m *Model) {
	d.next, d.software = nil, nil
	e := m.live.Find(d.about())
	if e == nil {
		return
	}
	s := m.scene()
	s.snap = m.live
	in := d.insights.look(e, s.around(e), m.live.Elections, m.now)
	d.software = in.software
	if s.studies || in.around != nil {
		d.next = nextSpans(s, in)
	}
}

// about is the key of the only election that the dialog is about, empty when
// there are more or none.
func (d *dialog) about() string {
	switch {
	case len(d.targets) != 1:
		return ""
	case d.targets[0].Key != "":
		return d.targets[0].Key
	case len(d.falls) > 0 && !d.falls[0].slot && !d.falls[0].unwatched && (len(d.falls) == 1 || d.falls[1].unwatched):
		return d.falls[0].key
	}
	return ""
}

// listed reports a key that the dialog lists without a search.
func (d *dialog) listed(key string) bool {
	return slices.ContainsFunc(d.falls, func(f fall) bool { return f.key == key })
}

// standing are the targets that are still as they were and may be acted on.
func (d *dialog) standing() []boundTarget {
	var ts []boundTarget
	for _, t := range d.targets {
		if t.changed == "" && t.denied == "" {
			ts = append(ts, t)
		}
	}
	return ts
}

// acts reports whether there is anything left that the dialog may do.
func (d *dialog) acts() bool { return !d.lost && len(d.standing()) > 0 }
