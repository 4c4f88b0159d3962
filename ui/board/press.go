package board

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (m *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	if step, ok := m.keys.Step(msg, max(1, m.rows(m.rect.H)), len(m.order)); ok {
		m.moveTo(m.at.Index + step)
		return nil
	}
	if action, done := m.markKey(msg, s); done {
		return action
	}
	switch k := &m.keys; {
	case key.Matches(msg, k.NextTrouble):
		return m.jump(1, s)
	case key.Matches(msg, k.PrevTrouble):
		return m.jump(-1, s)
	case key.Matches(msg, k.Open) && m.Selected() != nil:
		return scene.Zoom{}
	case key.Matches(msg, k.ShorterLane):
		return m.zoomLanes(false)
	case key.Matches(msg, k.LongerLane):
		return m.zoomLanes(true)
	case key.Matches(msg, k.Sort):
		return m.nextSort(s)
	case key.Matches(msg, k.Reverse):
		return m.setSort(query.Order{Key: m.sort.Key, Reverse: !m.sort.Reverse}, s)
	case key.Matches(msg, k.Wide):
		m.wide = !m.wide
	case key.Matches(msg, k.Release):
		return m.choose(scene.Choose{Kind: election.ActionRelease, By: msg.String()}, s)
	case key.Matches(msg, k.Destroy):
		return m.choose(scene.Choose{Kind: election.ActionDestroy, By: msg.String()}, s)
	}
	return nil
}

// moveTo moves the cursor to row i, or to the nearest existing row.
func (m *Model) moveTo(i int) {
	m.at.MoveTo(i, len(m.order))
	m.cursor = ""
	if e := m.Selected(); e != nil {
		m.cursor = e.ID()
	}
}

// jump moves the cursor to the next election with a problem. step is 1 for down and -1 for up.
func (m *Model) jump(step int, s *scene.Scene) scene.Action {
	n := len(m.order)
	for k := 1; k <= n; k++ {
		i := ((m.at.Index+step*k)%n + n) % n
		if facts(s).ProblemRank(m.order[i]) < query.NoProblem {
			m.moveTo(i)
			return nil
		}
	}
	return scene.Say{Role: kit.Led, Text: "No election has a problem."}
}

func (m *Model) clicked(at scene.Clicked, s *scene.Scene) scene.Action {
	if at.Item == kit.Column {
		return m.sortByColumn(at.Index, s)
	}
	m.moveTo(at.Index)
	return nil
}
