package ui

import (
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// dialog asks before an operator's action. It is bound to the holds it was
// opened with: it acts on exactly those, and refuses when they changed.
type dialog struct {
	kind election.ActionKind
	// targets are the visible ones, and the hidden ones if the user includes
	// them.
	targets []boundTarget
	// visible and hidden are the chosen targets that the filter shows and hides.
	visible, hidden []boundTarget
	includesHidden  bool
	// leaderless names marked elections that have no leader.
	leaderless []string
	// unmarked names the row under the cursor when all marks are hidden.
	unmarked string
	// bare says that the targets are sessions, whatever they hold.
	bare bool
	// falls are the keys known to go with the sessions that are destroyed.
	falls []fall
	// surveys says that the dashboard can read what stands around elections, wanted
	// around which it has to before the user may confirm.
	surveys bool
	wanted  []string
	survey  *survey // the latest, nil before the first
	search  *scene.Search
	// scanned are the keys that the search found, without the watched ones, which
	// the board has newer.
	scanned []election.Pair
	// beside are keys of the sessions that the survey found, without the watched ones.
	beside []election.Pair
	// canSearch says that the whole KV store can be searched.
	canSearch bool
	// offline says that Consul is not connected, so that the data is stale.
	offline bool
	// full says that no list is cut, cut that one is or would be, cutOthers that
	// this is one in the effects.
	full, cut, cutOthers bool
	// onAction says that the button that acts has the focus; Cancel has it at
	// first.
	onAction bool
	text     term.Reader
	// seen is text.seen and changes how often the visible text had changed when
	// it was laid out last, at now. noticed says that it is visible for noticeTime.
	seen, changes int
	noticed       bool
	now           time.Time
}

// fall is a key that falls with a session, or a semaphore's in which a slot gets
// free.
type fall struct {
	key, session string
	slot         bool
	// unwatched says that the key is outside the patterns.
	unwatched bool
}

// openDialog opens a dialog for the marked elections, or else the selected one.
func (m *Model) openDialog(kind election.ActionKind) {
	if reason := m.cannotAct(kind); reason != "" {
		m.say(term.Delay, reason)
		return
	}
	visible, hidden := m.table.Chosen(m.shown, m.asOf())
	d := &dialog{kind: kind, canSearch: m.search != nil}
	d.visible, d.leaderless = m.bindLed(visible)
	d.hidden, _ = m.bindLed(hidden)
	if len(d.visible)+len(d.hidden) == 0 {
		m.say(term.Delay, m.nothingToDo(kind, visible))
		return
	}
	if e := m.table.Selected(); len(visible) == 0 && e != nil {
		d.unmarked = scene.OneLine(e.Name, 60)
	}
	d.choose()
	m.showDialog(d)
}

// showDialog opens a dialog. What was last said is not about it.
func (m *Model) showDialog(d *dialog) {
	d.surveys, d.search = m.survey != nil, m.earlierSearch(d)
	m.dialog, m.mode, m.note = d, modeDialog, note{}
	m.checkDialog()
}

// choose makes the targets of what is visible and what the user includes.
func (d *dialog) choose() {
	d.targets = slices.Clone(d.visible)
	if d.includesHidden {
		d.targets = append(d.targets, d.hidden...)
	}
}

// cannotAct says why an action is not possible now, empty when it is.
func (m *Model) cannotAct(kind election.ActionKind) string { return m.scene().Refusal(kind) }

// nothingToDo says why none of the chosen elections can be acted on.
func (m *Model) nothingToDo(kind election.ActionKind, chosen []*election.Election) string {
	if len(chosen) != 1 {
		return "There is nothing to " + string(kind) + "."
	}
	name := scene.OneLine(chosen[0].Name, 60)
	switch {
	case scene.StandingOf(chosen[0], m.asOf()) == scene.StandsUnreadable:
		return name + " is not readable with this token: there is nothing to " + string(kind) + "."
	case scene.StandingOf(chosen[0], m.asOf()) != scene.StandsSemaphore:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	case kind == election.ActionDestroy:
		return name + " is a semaphore without a single holder: destroy one of its sessions in view 3."
	}
	return name + " is a semaphore: it has no single holder to release."
}

// checkDialog compares the open dialog with the newest snapshot.
func (m *Model) checkDialog() {
	d := m.dialog
	if d == nil {
		return
	}
	if d.offline = m.live.Connection.State != election.Live; d.offline {
		d.endSurvey() // it has failed, or is about a time before; the next begins with the connection
	}
	for i := range d.targets {
		t := &d.targets[i]
		t.changed, t.denied = d.changeOf(t.Target, m.live), m.rights.missing(d.kind, holdOf(t.Target))
		t.effect = insight.Effect{}
	}
	d.falls, d.scanned, d.beside, d.cutOthers = nil, nil, nil, false
	if d.search != nil && d.search.Over {
		d.scanned = unwatched(m.live, d.search.Found)
	}
	if d.kind == election.ActionDestroy {
		d.beside = besideWith(m.live, d.sessions(), d.survey.siblings())
		d.falls = fallsWith(m.live, d.standing(), d.beside)
	}
	d.wanted = d.wants()
	d.judge(m.live)
}

// judge finds out what the action does to each target, once all is known that
// has to be read for it.
func (d *dialog) judge(live *election.Snapshot) {
	if d.checking() {
		return
	}
	held := holdsOf(live, d.targets)
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed != "" || t.denied != "" {
			continue
		}
		t.effect = d.effectOf(t, held[t.Session], live)
		if _, stale := live.StaleSince(t.Key); stale && !d.bare && !d.offline { // offline, the dialog says so for all of them
			t.effect = insight.Effect{Refusal: "This data is stale: Consul does not respond to the query for this key."}
		}
	}
}

// heldBy lists the keys that a session is known to hold, each slot of a semaphore
// as the semaphore's key.
func (d *dialog) heldBy(t *boundTarget, live *election.Snapshot) []election.Pair {
	var pairs []election.Pair
	watched := map[string]bool{}
	for _, f := range d.falls {
		if e := live.Find(f.key); e != nil && f.session == t.Session {
			watched[f.key] = true
			p := e.Pair
			p.Session = t.Session
			pairs = append(pairs, p)
		}
	}
	pairs = appendHeld(pairs, d.beside, t.Session, watched)
	return appendHeld(pairs, d.scanned, t.Session, watched)
}

// unwatched leaves out the pairs whose keys are watched.
func unwatched(live *election.Snapshot, pairs []election.Pair) []election.Pair {
	var kept []election.Pair
	for _, p := range pairs {
		if live.Find(p.Key) == nil {
			kept = append(kept, p)
		}
	}
	return kept
}

// appendHeld appends the pairs of a session whose keys are not among the known.
func appendHeld(pairs, more []election.Pair, session string, known map[string]bool) []election.Pair {
	for _, p := range more {
		if p.Session == session && !known[p.Key] {
			known[p.Key] = true
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// searchedAll reports that a search of the whole store was complete. One from
// before the dialog was opened says nothing about what was acquired since.
func (d *dialog) searchedAll() bool {
	s := d.search
	return s != nil && s.Over && !s.Stopped && s.Err == nil && !s.Incomplete && !s.Earlier
}

// standing are the targets that are still as they were and may be acted on.
func (d *dialog) standing() []boundTarget {
	var ts []boundTarget
	for _, t := range d.targets {
		if t.changed == "" && t.denied == "" && t.effect.Refusal == "" {
			ts = append(ts, t)
		}
	}
	return ts
}

// refused reports that electop carries the action out on none of the targets.
func (d *dialog) refused() bool {
	return len(d.targets) > 0 && !slices.ContainsFunc(d.targets, func(t boundTarget) bool { return t.effect.Refusal == "" })
}

// sessions are those of the targets, each once.
func (d *dialog) sessions() []string {
	var ids []string
	for _, t := range d.targets {
		if !slices.Contains(ids, t.Session) {
			ids = append(ids, t.Session)
		}
	}
	return ids
}

// acts reports whether there is anything left that the dialog may do.
func (d *dialog) acts() bool { return !d.offline && len(d.standing()) > 0 }

// read reports whether everything was visible, be it for a moment only.
func (d *dialog) read() bool { return d.acts() && d.text.Read() }

// ready reports whether the user may confirm.
func (d *dialog) ready() bool { return d.read() && d.noticed && !d.checking() }
