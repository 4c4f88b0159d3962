package dialog

import (
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/ui/scene"
)

// target is an election or session of the dialog and its current state.
type target struct {
	scene.Target
	// changed describes how the hold changed. It is empty if the hold did not change.
	changed string
	// denied is the ACL rule that the token lacks. It is empty if no missing rule is known.
	denied string
	// effect is empty if changed or denied is set, and until the survey is complete.
	effect insight.Effect
}

// rebind returns targets for the current holds of the same keys.
func rebind(s *scene.Scene, old []scene.Target) []scene.Target {
	bound := slices.Clone(old)
	for i, t := range bound {
		if e := s.Live.Find(t.ID()); e != nil && scene.DisplayStateOf(e, s.AsOf) == scene.StateLed {
			bound[i] = s.Bind(e, t.Hidden)
		}
	}
	return bound
}

// changeOf describes how a target has changed since the user selected it. It returns "" if the target is unchanged.
func (d *Model) changeOf(t election.Target, live *election.Snapshot) string {
	if d.chosen.SessionOnly {
		return sessionChange(t.Session, live.SessionList)
	}
	return changeOf(t, live.Find(t.ID()))
}

// changeOf describes how a hold has changed since the user selected it. It returns "" if the hold is unchanged.
func changeOf(t election.Target, e *election.Election) string {
	switch {
	case e == nil || !e.Exists:
		return "the key was deleted"
	case e.Unreadable:
		return "the token can no longer read the key"
	case !e.Pair.Held():
		return "the election no longer has a leader"
	case e.Pair.Session != t.Session:
		return scene.OneLine(e.Leader, 60) + " leads now, term " + scene.Number(e.Term)
	case !t.SameHold(e.Pair):
		return "the same session leads in a new term"
	case e.Overwritten() && e.Pair.ModifyIndex != t.ModifyIndex:
		return "the key was written without the lock"
	}
	return ""
}

// sessionChange explains why a session is no longer listed. It returns "" if the session is listed or the list was not
// read.
func sessionChange(id string, list *election.SessionList) string {
	if list == nil || list.Err != "" || slices.ContainsFunc(list.Sessions, func(s *election.Session) bool { return s.ID == id }) {
		return ""
	}
	if list.Partial {
		return "the session ended, or the token can no longer read it"
	}
	return "the session no longer exists"
}

// affectedKeys lists the known keys of the targets' sessions. The keys of the targets are first, and unwatched
// keys are last.
func affectedKeys(live *election.Snapshot, targets []target, siblings []election.Pair) []affectedKey {
	sessions, first := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		sessions[t.Session], first[t.Key] = true, true
	}
	var affected, others []affectedKey
	for _, e := range live.Elections {
		others = append(others, slotsOf(e, sessions)...)
		switch f := (affectedKey{key: e.Key(), session: e.Pair.Session}); {
		case !e.Exists || !e.Pair.Held() || !sessions[f.session]:
		case first[f.key]:
			affected = append(affected, f)
		default:
			others = append(others, f)
		}
	}
	affected = append(affected, others...)
	for _, p := range siblings {
		if sessions[p.Session] {
			affected = append(affected, affectedKey{key: p.Key, session: p.Session, unwatched: true})
		}
	}
	return affected
}

// unwatchedSiblings lists the unwatched sibling keys that the sessions hold.
func unwatchedSiblings(live *election.Snapshot, sessions []string, siblings []election.Pair) []election.Pair {
	wanted, known := make(map[string]bool, len(sessions)), map[string]bool{}
	for _, id := range sessions {
		wanted[id] = true
	}
	var unwatched []election.Pair
	for _, p := range siblings {
		if p.Held() && wanted[p.Session] && !known[p.Key] && live.Find(election.KeyID(p.Key)) == nil {
			known[p.Key] = true
			unwatched = append(unwatched, p)
		}
	}
	return unwatched
}

// slotsOf lists the slots of a semaphore that the sessions hold.
func slotsOf(e *election.Election, sessions map[string]bool) []affectedKey {
	if !e.IsSemaphore() {
		return nil
	}
	var affected []affectedKey
	for sem := election.ReadSemaphore(e, nil); sem != nil && len(sem.Holders) > 0; sem.Holders = sem.Holders[1:] {
		if id := sem.Holders[0].Session; sessions[id] {
			affected = append(affected, affectedKey{key: e.Key(), session: id, slot: true})
		}
	}
	return affected
}
