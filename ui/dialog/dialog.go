// Package dialog is the dialog in which the operator confirms a release or destroy.
package dialog

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/key"

	"electop/election"
	"electop/election/insight"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Model is a dialog. It acts only on the holds that it was opened with and skips holds that have changed since.
type Model struct {
	tools Tools
	kind  election.ActionKind
	// targets are the visible targets in chosen, and the hidden ones if includesHidden is set.
	chosen         scene.Chosen
	targets        []target
	includesHidden bool
	// affected lists the known keys of the sessions that a destroy ends.
	affected []affectedKey
	// wanted lists the keys to survey before the user can confirm.
	wanted []string
	survey *Survey       // the latest survey. It is nil if there is none.
	search *scene.Search // the latest search. It is nil if there is none.
	// scanned holds the unwatched keys that the search found.
	scanned []election.Pair
	// siblings holds the unwatched keys that the survey found.
	siblings []election.Pair
	// offline is set while there is no connection to Consul. The data is then stale.
	offline bool
	// rejected is set while Consul rejects the token.
	rejected bool
	// full disables the truncation of lists. cut is set if any list is longer than its limit. cutOthers is set if a
	// list of other elections before a warning is longer than its limit.
	full, cut, cutOthers bool
	// onAction is set while the action button has the focus. At first, Cancel has the focus.
	onAction bool
	text     kit.Reader
	// seen is the value of text.Seen at the latest layout. now is the time of that layout.
	seen   int
	now    time.Time
	notice scene.Notice
}

// Tools are the dependencies of a dialog.
type Tools struct {
	Keys keys.Map
	// Search is nil if the store cannot be searched. Survey is nil if surroundings cannot be read.
	Search scene.Searcher
	Survey Surveyor
	// Cluster holds the connection settings for the commands that the user copies.
	Cluster shell.Cluster
}

// affectedKey is a key that loses its lock, or a semaphore that loses a holder.
type affectedKey struct {
	key, session string
	slot         bool
	// unwatched is set for a key outside the patterns.
	unwatched bool
}

// New opens a dialog for the chosen targets, which are in one datacenter. s is the scene of this datacenter.
func New(ask scene.Ask, tools Tools, s *scene.Scene) Model {
	d := Model{tools: tools, kind: ask.Kind, chosen: ask.Chosen}
	d.choose(s)
	return d
}

// Keys returns the key bindings for the footer.
func (d Model) Keys(k keys.Map) []key.Binding {
	all := k.Dialog(d.search.Running(), d.maySearch())
	return slices.Insert(all, len(all)-2, k.Fixed.CopyCommand)
}

// Awaits returns the running survey, and the message that the text was visible for long enough. Each is nil if there is
// none. The user cannot confirm while either is not nil.
func (d Model) Awaits() (*Survey, *scene.Noticed) {
	survey := d.survey
	if survey != nil && survey.over {
		survey = nil
	}
	return survey, d.notice.Awaits()
}

// Datacenter returns the datacenter of the targets.
func (d Model) Datacenter() string {
	for _, t := range append(d.chosen.Visible[:len(d.chosen.Visible):len(d.chosen.Visible)], d.chosen.Hidden...) {
		return t.Datacenter
	}
	return ""
}

// Targets returns the holds or sessions that the dialog acts on.
func (d Model) Targets() []scene.Target {
	ts := make([]scene.Target, 0, len(d.targets))
	for i := range d.targets {
		ts = append(ts, d.targets[i].Target)
	}
	return ts
}

// choose collects the visible targets and, if the user included them, the hidden ones.
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

// check compares the targets with the newest snapshot.
func (d *Model) check(s *scene.Scene) {
	live := s.Live
	d.rejected = live.Connection.Refused
	if d.offline = live.Connection.State != election.Live; d.offline {
		d.endSurvey() // a survey without a connection is useless; a new one starts after the reconnect
	}
	d.targets = slices.Clone(d.targets)
	for i := range d.targets {
		t := &d.targets[i]
		t.changed, t.denied = d.changeOf(t.Target.Target, live), s.Missing(d.kind, t.Target.Target)
		t.effect = insight.Effect{}
	}
	d.affected, d.scanned, d.siblings, d.cutOthers = nil, nil, nil, false
	if d.search != nil && d.search.Over {
		d.scanned = unwatched(live, d.search.Found)
	}
	if d.kind == election.ActionDestroy {
		d.siblings = unwatchedSiblings(live, d.sessions(), d.survey.siblings())
		d.affected = affectedKeys(live, d.actionable(), d.siblings)
	}
	d.wanted = d.keysToSurvey()
	d.computeEffects(live)
	if d.kind == election.ActionDestroy { // again, without the targets that electop refuses
		d.affected = affectedKeys(live, d.actionable(), d.siblings)
	}
}

// computeEffects computes the effect on each target once the survey is complete.
func (d *Model) computeEffects(live *election.Snapshot) {
	if d.checking() {
		return
	}
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed != "" || t.denied != "" {
			continue
		}
		t.effect = d.effectOf(t, live)
		if _, stale := live.StaleSince(t.Key); stale && !d.chosen.SessionOnly && !d.offline { // when offline, one message covers all targets
			t.effect = insight.Effect{Refusal: "This data is stale: the query for this key fails."}
		}
	}
	if d.kind == election.ActionDestroy {
		d.addEffectsOnSessions(live)
	}
}

// heldBy lists the known keys of a target's session. For a slot, it lists the key of the semaphore.
func (d *Model) heldBy(t *target, live *election.Snapshot) []election.Pair {
	var pairs []election.Pair
	watched := map[string]bool{}
	for _, f := range d.affected {
		if e := live.Find(election.KeyID(f.key)); e != nil && f.session == t.Session {
			watched[f.key] = true
			p := e.Pair
			p.Session = t.Session
			pairs = append(pairs, p)
		}
	}
	pairs = appendHeld(pairs, d.siblings, t.Session, watched)
	return appendHeld(pairs, d.scanned, t.Session, watched)
}

// unwatched returns the KV pairs whose keys are not watched.
func unwatched(live *election.Snapshot, pairs []election.Pair) []election.Pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(p election.Pair) bool { return live.Find(election.KeyID(p.Key)) != nil })
}

// appendHeld appends the session's KV pairs whose keys are not in known.
func appendHeld(pairs, more []election.Pair, session string, known map[string]bool) []election.Pair {
	for _, p := range more {
		if p.Session == session && !known[p.Key] {
			known[p.Key] = true
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// searchedAll reports whether a search of the whole store has completed since the dialog was opened. An earlier
// search may have missed keys that were acquired later.
func (d *Model) searchedAll() bool {
	s := d.search
	return s != nil && s.Over && !s.Stopped && s.Err == nil && !s.Incomplete && !s.Earlier
}

// actionable returns the targets on which the dialog acts: unchanged, permitted and not refused by electop.
func (d *Model) actionable() []target {
	return slices.DeleteFunc(slices.Clone(d.targets), func(t target) bool { return t.skipped() != "" })
}

// refused reports whether electop refuses the action on every target.
func (d *Model) refused() bool {
	return len(d.targets) > 0 && !slices.ContainsFunc(d.targets, func(t target) bool { return t.effect.Refusal == "" })
}

// sessions lists the sessions of all targets.
func (d *Model) sessions() []string {
	var ids []string
	for _, t := range d.targets {
		if !slices.Contains(ids, t.Session) {
			ids = append(ids, t.Session)
		}
	}
	return ids
}

// acts reports whether the dialog can act on any target.
func (d *Model) acts() bool { return !d.offline && len(d.actionable()) > 0 }

// read reports whether the user has scrolled through the whole text.
func (d *Model) read() bool { return d.acts() && d.text.Read() }

func (d *Model) ready() bool { return d.read() && d.notice.Over() && !d.checking() }
