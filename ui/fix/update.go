package fix

import (
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Update handles a message and returns an action for the program.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := m.update(msg, s)
	return m, action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		return m.fit(s, msg.W, msg.H)
	case scene.Changed:
		m.check(s)
	case scene.Refreshed:
		return m.start(s)
	case Diagnosed:
		if msg.Of == m.reading {
			m.reading, m.found = nil, msg.Found
			m.check(s)
		}
	case *scene.Noticed:
		m.notice.Ended(msg)
	case scene.Wheeled:
		m.scroll(msg.Step)
	case tea.KeyPressMsg:
		return m.pressed(msg, s)
	}
	return nil
}

func (m *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	switch msg.String() {
	case "esc", "n", "q", "ctrl+c":
		return m.cancel()
	case "left", "h", "right", "l", "tab", "shift+tab":
		m.onAction = !m.onAction && m.ready(s.Now)
	case "y":
		return m.confirm(s)
	case "enter":
		if m.onAction {
			return m.confirm(s)
		}
		return m.cancel()
	case "r":
		if m.reading == nil && !m.applies() {
			return scene.Refresh{}
		}
	default:
		if step, ok := m.keys.Step(msg, max(1, m.text.Rows), len(m.text.Lines)); ok {
			m.scroll(step)
		}
	}
	return nil
}

// scroll moves by at most a page, so that it skips no line.
func (m *Model) scroll(step int) { m.text.Scroll(min(step, m.text.Rows)) }

func (m *Model) cancel() scene.Action {
	text := ""
	if m.applies() {
		text = "Cancelled: nothing was changed."
	}
	m.End()
	return scene.Close{Text: text}
}

func (m *Model) confirm(s *scene.Scene) scene.Action {
	switch {
	case m.ready(s.Now):
		d := m.found.Destroy
		var targets []scene.Target
		for _, key := range d.Keys {
			if e := s.Live.In(m.election.Datacenter).Find(election.KeyID(key)); e != nil {
				targets = append(targets, s.Bind(e, false))
			}
		}
		return scene.Confirm{Kind: election.ActionDestroy, Targets: targets, Shown: map[string]election.Destroy{d.Session: d}, By: m.by}
	case m.reading != nil:
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: the diagnosis is still running."}
	case m.applies() && s.Now.Before(m.found.Ready):
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: until " + kit.ClockTime(m.found.Ready) + ", electop must see that the node check stays critical."}
	case m.applies() && m.text.Read():
		return scene.TooSoon()
	}
	return nil
}

// fit computes the layout of the text for a window. The action is disabled until every line has been visible.
func (m *Model) fit(s *scene.Scene, width, height int) scene.Action {
	w := min(boxWidth, width-4)
	page := &kit.Page{Width: w - kit.BoxSides, Sym: s.Sym}
	m.write(page, s)
	seen := m.text.Seen
	changed := m.text.Show(page.Lines, w, max(1, height-kit.BoxFrame-2))
	m.onAction = m.onAction && m.applies() && m.text.Read()
	if !changed && m.text.Seen <= seen {
		return nil
	}
	return scene.Run{Cmd: m.notice.Restart()}
}
