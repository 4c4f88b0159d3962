package board

import (
	"slices"

	"electop/election"
	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// choose requests an action. If the request has a filter, the targets are the elections that match it. Otherwise they
// are the marked elections, or the selected one if no election is marked.
func (m *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	kind := c.Kind
	if reason := s.Refusal(kind); reason != "" {
		return scene.Say{Role: kit.Delay, Text: reason}
	}
	if c.Filter != "" {
		return chooseMatching(c, s)
	}
	visible, hidden := m.marked(s)
	e := m.Selected()
	if e != nil && len(visible)+len(hidden) == 0 {
		visible = append(visible, e)
	}
	if text := unread(slices.Concat(visible, hidden)); text != "" {
		return scene.Say{Role: kit.Delay, Text: text}
	}
	ask := scene.Ask{Kind: kind, Chosen: scene.Chosen{By: c.By}}
	ask.Visible, ask.Leaderless = bindLed(visible, false, s)
	ask.Hidden, _ = bindLed(hidden, true, s)
	if len(ask.Visible)+len(ask.Hidden) == 0 {
		return scene.Say{Role: kit.Delay, Text: nothingToDo(kind, visible, s)}
	}
	if e != nil && len(visible) == 0 {
		ask.Unmarked = scene.OneLine(e.Name, 60)
	}
	return ask
}

// chooseMatching requests an action on the elections that match a filter and have a leader. It ignores marks and the
// filter of the table.
func chooseMatching(c scene.Choose, s *scene.Scene) scene.Action {
	f := query.Parse(c.Filter, query.Elections)
	if err := f.Check(); err != nil {
		return scene.Unknown(err)
	}
	matching := slices.DeleteFunc(f.On(s.Shown.Elections, s.Sessions(), facts(s)).Select(s.Shown.Elections), func(e *election.Election) bool {
		return scene.DisplayStateOf(e, s.AsOf) != scene.StateLed
	})
	if text := unread(matching); text != "" {
		return scene.Say{Role: kit.Delay, Text: text}
	}
	if len(matching) == 0 {
		return scene.Say{Role: kit.Delay, Text: "No election with a leader matches " + scene.OneLine(c.Filter, 60) + "."}
	}
	ask := scene.Ask{Kind: c.Kind}
	ask.Visible, _ = bindLed(matching, false, s)
	return ask
}

// unread returns a message if one of the elections has not been read from Consul yet. It returns "" if all were read.
func unread(es []*election.Election) string {
	if i := slices.IndexFunc(es, (*election.Election).Recorded); i >= 0 {
		return "Unavailable until " + scene.OneLine(es[i].Name, 60) + " is read: this data is from the history."
	}
	return ""
}

// marked returns the marked elections in key order: visible ones match the filter, hidden ones do not.
func (m Model) marked(s *scene.Scene) (visible, hidden []*election.Election) {
	for id := range m.marks {
		switch e := s.Shown.Find(id); {
		case e == nil:
		case m.match.Match(e):
			visible = append(visible, e)
		default:
			hidden = append(hidden, e)
		}
	}
	slices.SortFunc(visible, election.Compare)
	slices.SortFunc(hidden, election.Compare)
	return visible, hidden
}

func bindLed(es []*election.Election, hidden bool, s *scene.Scene) (bound []scene.Target, leaderless []string) {
	for _, e := range es {
		if scene.DisplayStateOf(e, s.AsOf) != scene.StateLed {
			leaderless = append(leaderless, scene.OneLine(e.Name, 60))
			continue
		}
		bound = append(bound, s.Bind(e, hidden))
	}
	return bound, leaderless
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
