package board

import (
	"slices"

	"electop/election"
	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// choose requests an action. If the request has a filter, the targets are the elections with a leader that match it,
// regardless of marks and of the filter of the table. Otherwise they are the marked elections, or the selected one if
// no election is marked.
func (m *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	refuse := func(reason string) scene.Action { return scene.Say{Role: kit.Delay, Text: reason} }
	if reason := s.Refusal(c.Kind); reason != "" {
		return refuse(reason)
	}
	var visible, hidden []*election.Election
	e := m.Selected()
	if c.Filter != "" {
		f := query.Parse(c.Filter, query.Elections)
		if err := f.Check(); err != nil {
			return scene.Unknown(err)
		}
		visible = slices.DeleteFunc(f.On(s.Shown.Elections, s.Sessions(), facts(s)).Select(s.Shown.Elections), func(e *election.Election) bool {
			return scene.DisplayStateOf(e, s.AsOf) != scene.StateLed
		})
		if len(visible) == 0 {
			return refuse("No election with a leader matches " + scene.OneLine(c.Filter, 60) + ".")
		}
	} else {
		var out []string
		visible, out = m.list.Marked()
		for _, id := range out {
			if e := s.Shown.Find(election.ID(id)); e != nil {
				hidden = append(hidden, e)
			}
		}
		if e != nil && len(visible)+len(hidden) == 0 {
			visible = append(visible, e)
		}
	}
	slices.SortFunc(visible, election.Compare)
	slices.SortFunc(hidden, election.Compare)
	all := slices.Concat(visible, hidden)
	if i := slices.IndexFunc(all, (*election.Election).Recorded); i >= 0 {
		return refuse("Unavailable until " + scene.OneLine(all[i].Name, 60) + " is read: this data is from the history.")
	}
	ask := scene.Ask{Kind: c.Kind, By: c.By}
	for _, e := range visible {
		if scene.DisplayStateOf(e, s.AsOf) == scene.StateLed {
			ask.Targets = append(ask.Targets, s.Bind(e))
		} else {
			ask.Leaderless = append(ask.Leaderless, scene.OneLine(e.Name, 60))
		}
	}
	for _, e := range hidden {
		ask.Hidden = append(ask.Hidden, scene.OneLine(e.Name, 60))
	}
	switch {
	case len(ask.Targets) > 0:
		return ask
	case len(hidden) > 0:
		return refuse(scene.AllHidden)
	}
	return refuse(nothingToDo(c.Kind, visible, s))
}

// nothingToDo explains why none of the chosen elections can be a target.
func nothingToDo(kind election.ActionKind, chosen []*election.Election, s *scene.Scene) string {
	if len(chosen) != 1 {
		return "There is nothing to " + string(kind) + "."
	}
	name := scene.OneLine(chosen[0].Name, 60)
	switch state := scene.DisplayStateOf(chosen[0], s.AsOf); {
	case state == scene.StateUnreadable:
		return "This token cannot read " + name + ": its session is unknown, so electop cannot " + string(kind) + " it."
	case state != scene.StateSemaphore:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	case kind == election.ActionDestroy:
		return name + " is a semaphore, which can have several holders: destroy one of its sessions in view 3."
	}
	return name + " is a semaphore, which can have several holders: there is no single lock to release."
}
