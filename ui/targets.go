package ui

import (
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// boundTarget is a hold as it was when the dialog was opened, or a session.
type boundTarget struct {
	election.Target
	heldFor string
	// session is set for a session without an election.
	session *election.Session
	// hidden says that the filter hides it.
	hidden bool
	// changed says what became of the hold since, empty while it stands.
	changed string
	// denied is the rule that the token lacks, empty when it lacks none.
	denied string
	// effect is what the action does; empty for a target that it skips.
	effect insight.Effect
}

// label names a target in one short text.
func (t *boundTarget) label() string {
	switch {
	case t.Election != "":
		return scene.OneLine(t.Election, 60)
	case t.session != nil && t.session.Name != "":
		return "session " + scene.OneLine(t.session.Name, 40)
	}
	return "session " + election.ShortID(t.Session)
}

// title names a target in a list, where several sessions may have one name.
func (t *boundTarget) title() string {
	if t.session != nil && t.session.Name != "" {
		return scene.OneLine(t.session.Name, 40) + " " + election.ShortID(t.Session)
	}
	return t.label()
}

// holdsOf lists the elections that each target's session leads.
func holdsOf(live *election.Snapshot, targets []boundTarget) map[string][]*election.Election {
	held := make(map[string][]*election.Election, len(targets))
	for _, t := range targets {
		held[t.Session] = nil
	}
	for _, e := range live.Elections {
		if all, wanted := held[e.Pair.Session]; wanted && e.Exists && e.Pair.Held() {
			held[e.Pair.Session] = append(all, e)
		}
	}
	return held
}

// bindLed makes targets of the elections that are led, and names the others.
func (m *Model) bindLed(es []*election.Election) (bound []boundTarget, leaderless []string) {
	for _, e := range es {
		if scene.StandingOf(e, m.asOf()) != scene.StandsLed {
			leaderless = append(leaderless, scene.OneLine(e.Name, 60))
			continue
		}
		bound = append(bound, m.bind(e))
	}
	return bound, leaderless
}

// bind makes a target of a hold as it is now.
func (m *Model) bind(e *election.Election) boundTarget {
	return boundTarget{Target: e.Target(), heldFor: scene.Held(m.sym, m.asOf().Sub(e.Since), e.SinceKnown), hidden: !m.table.Shows(e, m.asOf())}
}

// rebind looks up the same keys in the newest snapshot.
func (m *Model) rebind(old []boundTarget) []boundTarget {
	bound := make([]boundTarget, 0, len(old))
	for _, t := range old {
		if e := m.live.Find(t.Key); e != nil && scene.StandingOf(e, m.asOf()) == scene.StandsLed {
			t = m.bind(e)
		}
		bound = append(bound, t)
	}
	return bound
}

// changeOf says how a target differs from what was seen, empty when it does not.
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
		return "the key was deleted"
	case e.Unreadable:
		return "the key is not readable any more"
	case !e.Pair.Held():
		return "it has no leader any more"
	case e.Pair.Session != t.Session:
		return scene.OneLine(e.Leader, 60) + " leads now, term " + scene.Number(e.Term)
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
func fallsWith(live *election.Snapshot, targets []boundTarget, beside []election.Pair) []fall {
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
	falls = append(falls, others...)
	for _, p := range beside {
		if sessions[p.Session] {
			falls = append(falls, fall{key: p.Key, session: p.Session, unwatched: true})
		}
	}
	return falls
}

// besideWith lists what the sessions hold beside the elections that were surveyed,
// as far as that is not watched.
func besideWith(live *election.Snapshot, sessions []string, siblings []election.Pair) []election.Pair {
	wanted, known := make(map[string]bool, len(sessions)), map[string]bool{}
	for _, id := range sessions {
		wanted[id] = true
	}
	var beside []election.Pair
	for _, p := range siblings {
		if p.Held() && wanted[p.Session] && !known[p.Key] && live.Find(p.Key) == nil {
			known[p.Key] = true
			beside = append(beside, p)
		}
	}
	return beside
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
