package sessions

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Update handles a message and returns an action for the program.
func (v Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	if _, ok := msg.(scene.Report); ok { // a report is about elections
		return v, scene.Say{Role: kit.Delay, Text: scene.Covered + "."}
	}
	if s.Past != nil {
		return v, v.updatePast(msg, s)
	}
	action := v.update(msg, s)
	v.scroll(s)
	return v, action
}

// updatePast handles a message while the board shows the past. The history stores no sessions, so the list does not
// change.
func (v *Model) updatePast(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized, scene.Searched, scene.SearchTick, scene.Unmark:
		return v.update(msg, s)
	case scene.Choose:
		return scene.Say{Role: kit.Delay, Text: s.Refusal(msg.Kind)}
	case scene.Back:
		return scene.Pass{}
	}
	return nil
}

func (v *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		v.rect = msg.Rect
	case scene.Changed:
		v.refresh(s.Shown)
	case scene.Opened:
		v.open = false
		v.refresh(s.Shown)
	case scene.Searched:
		v.searched(msg, s)
	case scene.SearchTick:
		if msg.Of == v.scan.run {
			return run(msg.Of.Ticked())
		}
	case scene.Unmark:
		for _, t := range msg.Targets {
			if t.SessionOnly != nil {
				v.mark(false, t.Session)
			}
		}
	case scene.Filtered:
		v.filter = query.Parse(msg.Text, query.Sessions)
		v.refresh(s.Shown)
	case scene.GoTo:
		v.cursor = msg.ID
		v.relocate()
	default:
		return v.used(msg, s)
	}
	return nil
}

func (v *Model) used(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return v.pressed(msg, s)
	case scene.Clicked:
		return v.clicked(msg, s)
	case scene.Wheeled:
		if v.open {
			v.top += msg.Step
			break
		}
		v.moveTo(v.at.Index + msg.Step)
	case scene.Moved:
		v.moveTo(v.at.Index + msg.Step)
	case scene.SortBy:
		return v.sortBy(msg, s)
	case scene.Choose:
		return v.choose(msg, s)
	case scene.Back:
		return v.back(s)
	}
	return nil
}

// clicked selects the clicked session, or sorts by the clicked column. A second click on a column reverses the order.
func (v *Model) clicked(at scene.Clicked, s *scene.Scene) scene.Action {
	if at.Item != kit.Heading {
		v.moveTo(at.Index)
		return nil
	}
	for c := range columns {
		if key := slices.Index(SortKeys(), c.sortWord()); int(c) == at.Index && key >= 0 {
			return v.resort(sorting{key: key, reverse: v.sort.key == key && !v.sort.reverse}, s)
		}
	}
	return nil
}

// back undoes one step.
func (v *Model) back(s *scene.Scene) scene.Action {
	switch {
	case v.scan.running():
		v.scan.run.Stop()
	case v.open:
		v.open = false
	case !v.filter.Empty():
		v.filter = query.Filter{}
		v.refresh(s.Shown)
	case len(v.marks) > 0:
		v.marks = map[string]bool{}
	default:
		return scene.Pass{}
	}
	return nil
}

func (v *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	r := v.selected()
	switch k := &v.keys; {
	case key.Matches(msg, k.Scan):
		return v.toggleScan(s)
	case key.Matches(msg, k.Destroy):
		return v.choose(scene.Choose{Kind: election.ActionDestroy, By: msg.String()}, s)
	case key.Matches(msg, k.Release):
		return v.choose(scene.Choose{Kind: election.ActionRelease, By: msg.String()}, s)
	case v.open:
		v.readOn(msg)
	default:
		return v.listKey(msg, r, s)
	}
	return nil
}

func (v *Model) listKey(msg tea.KeyPressMsg, r *row, s *scene.Scene) scene.Action {
	if step, ok := v.keys.Step(msg, max(1, v.shownRows(s)), len(v.order)); ok {
		v.moveTo(v.at.Index + step)
		return nil
	}
	switch k := &v.keys; {
	case key.Matches(msg, k.Open):
		v.open, v.top = r != nil, 0
	case key.Matches(msg, k.Mark) && r != nil:
		v.mark(!v.marks[r.ses.ID], r.ses.ID)
		v.moveTo(v.at.Index + 1)
	case key.Matches(msg, k.Sort):
		return v.resort(sorting{key: (v.sort.key + 1) % len(SortKeys())}, s)
	case key.Matches(msg, k.Reverse):
		return v.resort(sorting{key: v.sort.key, reverse: !v.sort.reverse}, s)
	}
	return nil
}

func (v *Model) readOn(msg tea.KeyPressMsg) {
	step, _ := v.keys.Step(msg, max(1, v.rect.H-1), 1<<20)
	switch {
	case key.Matches(msg, v.keys.PaneDown):
		step = 1
	case key.Matches(msg, v.keys.PaneUp):
		step = -1
	}
	v.top += step
}

func (v *Model) resort(to sorting, s *scene.Scene) scene.Action {
	v.sort = to
	v.refresh(s.Shown)
	return scene.Sorted(to.word(), to.reverse)
}

func (v *Model) sortBy(msg scene.SortBy, s *scene.Scene) scene.Action {
	word, direction, _ := strings.Cut(strings.ToLower(msg.Text), " ")
	direction = strings.TrimSpace(direction)
	i := slices.IndexFunc(SortKeys(), func(w string) bool { return word != "" && strings.HasPrefix(w, word) })
	if reverse := "reverse"; i < 0 || !strings.HasPrefix(reverse, direction) {
		return scene.Say{Role: kit.Delay, Text: "Usage: :sort KEY [reverse]. Keys: " + strings.Join(SortKeys(), ", ") + "."}
	}
	return v.resort(sorting{key: i, reverse: direction != ""}, s)
}

// choose requests the destroy of sessions. If the request has a filter, the targets are the matching sessions.
// Otherwise they are the marked sessions or, without marks, the selected session.
func (v *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	kind := c.Kind
	refusal := s.Refusal(kind)
	switch {
	case kind == election.ActionRelease:
		refusal = "A session can be destroyed (x) but not released. Release an election in view 1."
	case refusal == "" && len(v.order) == 0 && len(v.marks) == 0:
		refusal = "There is no session to destroy."
	}
	if refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	if c.Filter != "" {
		return v.chooseMatching(c, s)
	}
	return scene.Ask{Kind: kind, Chosen: v.chosen(c.By, s)}
}

// chooseMatching requests the destroy of all sessions that match a filter.
func (v *Model) chooseMatching(c scene.Choose, s *scene.Scene) scene.Action {
	f, chosen := query.Parse(c.Filter, query.Sessions), scene.Chosen{SessionOnly: true, By: c.By}
	if err := f.Check(); err != nil {
		return scene.Unknown(err)
	}
	for i := range v.rows {
		if match(f, &v.rows[i]) {
			chosen.Visible = append(chosen.Visible, s.BindSession(v.rows[i].ses, false))
		}
	}
	if len(chosen.Visible) == 0 {
		return scene.Say{Role: kit.Delay, Text: "No session matches " + scene.OneLine(c.Filter, 60) + "."}
	}
	return scene.Ask{Kind: c.Kind, Chosen: chosen}
}

// chosen returns the marked sessions or, without marks, the selected session.
func (v *Model) chosen(by string, s *scene.Scene) scene.Chosen {
	c := scene.Chosen{SessionOnly: true, By: by}
	for i := range v.rows {
		switch r := &v.rows[i]; {
		case !v.marks[r.ses.ID]:
		case match(v.filter, r):
			c.Visible = append(c.Visible, s.BindSession(r.ses, false))
		default:
			c.Hidden = append(c.Hidden, s.BindSession(r.ses, true))
		}
	}
	if r := v.selected(); r != nil && len(c.Visible) == 0 {
		t := s.BindSession(r.ses, false)
		if len(c.Hidden) == 0 {
			c.Visible = append(c.Visible, t)
		} else {
			c.Unmarked = t.Label()
		}
	}
	return c
}

func (v *Model) searched(msg scene.Searched, s *scene.Scene) {
	if msg.Of != v.scan.run {
		return
	}
	msg.Of.Ended(msg)
	v.scan.ended()
	if s.Past == nil {
		v.refresh(s.Shown)
	}
}

// toggleScan starts or stops a scan of the store for keys of all listed sessions.
func (v *Model) toggleScan(s *scene.Scene) scene.Action {
	refusal := ""
	switch {
	case v.scan.running():
		v.scan.run.Stop()
		return nil
	case v.search == nil:
		refusal = "Unavailable: this dashboard cannot scan the store."
	case s.Live.Connection.State != election.Live:
		refusal = scene.StaleText(s.Live.Connection)
	case len(v.rows) == 0:
		refusal = "No scan is possible: no sessions are listed."
	}
	if refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	ids := make([]string, 0, len(v.rows))
	v.scan.asked = make(map[string]bool, len(v.rows))
	for i := range v.rows {
		id := v.rows[i].ses.ID
		ids, v.scan.asked[id] = append(ids, id), true
	}
	var search tea.Cmd
	v.scan.run, search = v.search(ids, s.Now)
	return run(tea.Batch(search, v.scan.run.Ticked()))
}

func run(cmd tea.Cmd) scene.Action { return scene.Run{Cmd: cmd} }
