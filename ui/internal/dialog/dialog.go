// Package dialog asks before an operator's action.
package dialog

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/key"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/keys"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// Model is a dialog. It is bound to the holds it was opened with: it acts on exactly
// those, and refuses when they changed.
type Model struct {
	tools Tools
	kind  election.ActionKind
	// chosen has the targets that the filter shows and hides; targets are the visible
	// ones, and the hidden ones if the user includes them.
	chosen         scene.Chosen
	targets        []target
	includesHidden bool
	// falls are the keys known to go with the sessions that are destroyed.
	falls []fall
	// wanted are the elections around which has to be read before the user may confirm.
	wanted []string
	survey *Survey       // the latest, nil before the first
	search *scene.Search // the latest, nil before the first
	// scanned are the keys that the search found, without the watched ones, which
	// the board has newer.
	scanned []election.Pair
	// beside are keys of the sessions that the survey found, without the watched ones.
	beside []election.Pair
	// offline says that Consul is not connected, so that the data is stale.
	offline bool
	// full says that no list is cut, cut that one is or would be, cutOthers that
	// this is one in the effects.
	full, cut, cutOthers bool
	// onAction says that the button that acts has the focus; Cancel has it at
	// first.
	onAction bool
	text     term.Reader
	// seen is text.Seen when it was laid out last, at now.
	seen int
	now  time.Time
	// change is the latest change of the visible text, noticed says that it has been
	// visible for noticeTime since.
	change  *Change
	noticed bool
}

// Tools are what a dialog works with.
type Tools struct {
	Keys keys.Map
	// Search is nil if the store cannot be searched, Survey if surroundings cannot be
	// read.
	Search scene.Searcher
	Survey Surveyor
}

// fall is a key that falls with a session, or a semaphore's in which a slot gets
// free.
type fall struct {
	key, session string
	slot         bool
	// unwatched says that the key is outside the patterns.
	unwatched bool
}

// New makes a dialog about what was chosen.
func New(ask scene.Ask, tools Tools, s *scene.Scene) Model {
	d := Model{tools: tools, kind: ask.Kind, chosen: ask.Chosen}
	d.choose(s)
	return d
}

// Keys are the keys of the footer.
func (d Model) Keys(k keys.Map) []key.Binding { return k.Dialog(d.search.Running(), d.maySearch()) }

// Awaits is what the dialog waits for before it may be confirmed: the survey that runs
// and the latest change of the text, each nil for none.
func (d Model) Awaits() (*Survey, *Change) {
	survey, change := d.survey, d.change
	if survey != nil && survey.over {
		survey = nil
	}
	if d.noticed {
		change = nil
	}
	return survey, change
}

// Targets are the holds or sessions that the dialog is about.
func (d Model) Targets() []scene.Target {
	ts := make([]scene.Target, 0, len(d.targets))
	for i := range d.targets {
		ts = append(ts, d.targets[i].Target)
	}
	return ts
}

// choose makes the targets of what is visible and what the user includes.
func (d *Model) choose(s *scene.Scene) {
	d.targets = nil
	for _, t := range d.chosen.Visible {
		d.targets = append(d.targets, target{Target: t})
	}
	for _, t := range d.chosen.Hidden {
		if d.includesHidden {
			d.targets = append(d.targets, target{Target: t})
		}
	}
	d.search = nil
	if d.kind == election.ActionDestroy {
		d.search = s.Earlier(d.sessions())
	}
	d.check(s)
}

// check compares the dialog with the newest snapshot.
func (d *Model) check(s *scene.Scene) {
	live := s.Live
	if d.offline = live.Connection.State != election.Live; d.offline {
		d.endSurvey() // it has failed, or is about a time before; the next begins with the connection
	}
	d.targets = slices.Clone(d.targets)
	for i := range d.targets {
		t := &d.targets[i]
		t.changed, t.denied = d.changeOf(t.Target.Target, live), s.Missing(d.kind, t.Target.Target)
		t.effect = insight.Effect{}
	}
	d.falls, d.scanned, d.beside, d.cutOthers = nil, nil, nil, false
	if d.search != nil && d.search.Over {
		d.scanned = unwatched(live, d.search.Found)
	}
	if d.kind == election.ActionDestroy {
		d.beside = besideWith(live, d.sessions(), d.survey.siblings())
		d.falls = fallsWith(live, d.standing(), d.beside)
	}
	d.wanted = d.wants()
	d.judge(live)
}

// judge finds out what the action does to each target, once all is known that
// has to be read for it.
func (d *Model) judge(live *election.Snapshot) {
	if d.checking() {
		return
	}
	held := scene.Led(live.Elections)
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed != "" || t.denied != "" {
			continue
		}
		t.effect = d.effectOf(t, held[t.Session], live)
		if _, stale := live.StaleSince(t.Key); stale && !d.chosen.Bare && !d.offline { // offline, the dialog says so for all of them
			t.effect = insight.Effect{Refusal: "This data is stale: Consul does not respond to the query for this key."}
		}
	}
}

// heldBy lists the keys that a session is known to hold, each slot of a semaphore
// as the semaphore's key.
func (d *Model) heldBy(t *target, live *election.Snapshot) []election.Pair {
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
	return slices.DeleteFunc(slices.Clone(pairs), func(p election.Pair) bool { return live.Find(p.Key) != nil })
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
func (d *Model) searchedAll() bool {
	s := d.search
	return s != nil && s.Over && !s.Stopped && s.Err == nil && !s.Incomplete && !s.Earlier
}

// standing are the targets that are still as they were and may be acted on.
func (d *Model) standing() []target {
	return slices.DeleteFunc(slices.Clone(d.targets), func(t target) bool { return t.skipped() != "" })
}

// refused reports that electop carries the action out on none of the targets.
func (d *Model) refused() bool {
	return len(d.targets) > 0 && !slices.ContainsFunc(d.targets, func(t target) bool { return t.effect.Refusal == "" })
}

// sessions are those of the targets, each once.
func (d *Model) sessions() []string { return sessionsOf(d.targets) }

func sessionsOf(targets []target) []string {
	var ids []string
	for _, t := range targets {
		if !slices.Contains(ids, t.Session) {
			ids = append(ids, t.Session)
		}
	}
	return ids
}

// acts reports whether there is anything left that the dialog may do.
func (d *Model) acts() bool { return !d.offline && len(d.standing()) > 0 }

// read reports whether everything was visible, be it for a moment only.
func (d *Model) read() bool { return d.acts() && d.text.Read() }

// ready reports whether the user may confirm.
func (d *Model) ready() bool { return d.read() && d.noticed && !d.checking() }
