package dialog

import (
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// target is a target of the dialog and its current state.
type target struct {
	scene.Target
	// changed describes how the hold changed, empty if it did not.
	changed string
	// denied is the ACL rule that the token lacks, empty for none.
	denied string
	// effect is empty for a skipped target.
	effect insight.Effect
}

// rebind returns targets for the current holds of the same keys.
func rebind(s *scene.Scene, old []scene.Target) []scene.Target {
	bound := slices.Clone(old)
	for i, t := range bound {
		if e := s.Live.Find(t.Key); e != nil && scene.StandingOf(e, s.AsOf) == scene.StandsLed {
			bound[i] = s.Bind(e, t.Hidden)
		}
	}
	return bound
}

// changeOf describes how a target changed since the user selected it, empty if it did not.
func (d *Model) changeOf(t election.Target, live *election.Snapshot) string {
	if d.chosen.Bare {
		return sessionChange(t.Session, live.SessionList)
	}
	return changeOf(t, live.Find(t.Key))
}

// changeOf describes how a hold changed since the user selected it, empty if it did not.
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

// sessionChange describes the end of a session, empty if it exists or the list is incomplete.
func sessionChange(id string, list *election.SessionList) string {
	if list == nil || list.Err != "" || slices.ContainsFunc(list.Sessions, func(s *election.Session) bool { return s.ID == id }) {
		return ""
	}
	return "the session is gone"
}

// fallsWith lists the known keys of the targets' sessions: those of the targets first,
// unwatched keys last.
func fallsWith(live *election.Snapshot, targets []target, beside []election.Pair) []fall {
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

// besideWith lists the unwatched sibling keys that the sessions hold.
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
