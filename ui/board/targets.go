package board

import (
	"slices"

	"electop/election"
	"electop/election/query"
	"electop/ui/scene"
)

// choose requests an action on elections with a leader.
func (m *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	unread := ""
	action := m.Choose(c, "election with a leader", s, func(e *election.Election) (scene.Target, string) {
		if e.Recorded() {
			unread = scene.Short(e.Name)
		}
		return s.Bind(e), notLed(c.Kind, e, s)
	})
	if _, asks := action.(scene.Ask); asks && unread != "" {
		return scene.Refuse("Unavailable until " + unread + " is read: this data is from the history.")
	}
	return action
}

func (m *Model) matching(f query.Filter, s *scene.Scene) []*election.Election {
	all := f.On(s.Shown.Elections, s.Sessions(), facts(s)).Select(s.Shown.Elections)
	slices.SortFunc(all, election.Compare)
	return all
}

// notLed explains why an election cannot be a target. It returns "" if the election has a leader.
func notLed(kind election.ActionKind, e *election.Election, s *scene.Scene) string {
	name := scene.Short(e.Name)
	switch s.StateOf(e) {
	case scene.StateLed:
		return ""
	case scene.StateUnreadable:
		return "This token cannot read " + name + ": its session is unknown, so electop cannot " + string(kind) + " it."
	case scene.StateSemaphore:
		return name + " is a semaphore, which can have several holders: destroy one of its sessions in view 3."
	default:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	}
}
