package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/act"
	"electop/ui/kit"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// do carries out an action that a component returned.
func (m *Model) do(a scene.Action) tea.Cmd {
	switch a := a.(type) {
	case scene.Say:
		m.say(a.Role, a.Text)
	case scene.Copy:
		return m.copyText(a.What, a.Text)
	case scene.ShowElection:
		return m.showElection(a.ID)
	case scene.Zoom:
		m.focus.zoom = true
	case scene.Visit:
		return visit(m, a)
	case scene.ShowLanes:
		m.feed.lanes = a.Lanes
		m.renew()
	case scene.Ask:
		return ask(m, a)
	case scene.Confirm:
		m.closeOverlay("")
		return tea.Batch(m.log.Start(a), unmark(m, a.Targets))
	case scene.Refresh:
		m.out.rights.forget(a.Targets)
		m.note = note{}
		return m.pause(false)
	case scene.Drain:
		m.closeOverlay("")
		return m.log.StartDrain(a)
	case scene.Watch:
		return watch(m, a.Patterns)
	case scene.Close:
		m.closeOverlay(a.Text)
	case scene.Run:
		return a.Cmd
	case scene.WriteReport:
		return m.out.report.Start(a)
	case scene.ShowSince:
		return tea.Batch(m.show(viewEvents), send(m, &m.events, scene.Since(a)))
	case scene.Open:
		m.out.travel.Cancel()
		return m.cover(a.Overlay, a.Cmd)
	case scene.Pass:
		if m.focus.view != viewElections {
			return m.show(viewElections)
		}
		m.note = note{}
	case scene.All:
		var cmds []tea.Cmd
		for _, one := range a {
			cmds = append(cmds, m.do(one))
		}
		return tea.Batch(cmds...)
	}
	return nil
}

func ask(m *Model, a scene.Ask) tea.Cmd {
	names := datacentersOf(a.Targets)
	if m.scene.Several() && len(names) != 1 {
		return m.refuse("The chosen rows are in " + strings.Join(names, ", ") + ". An action is possible in only one datacenter at a time: select rows of one datacenter, for example with the filter dc:" + names[0] + ".")
	}
	in := m.scene.In(names[0])
	if reason := in.Refusal(a.Kind); reason != "" {
		return m.refuse(reason)
	}
	m.out.rights.forgetOld(m.feed.now)
	return m.do(scene.Open{Overlay: act.Confirm(a, m.out.tools(names[0]), in)})
}

// datacentersOf returns the datacenters of targets, each once.
func datacentersOf(targets []scene.Target) []string {
	var names []string
	for _, t := range targets {
		names = append(names, scene.OneLine(t.Datacenter, 60))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// note is a message that the footer shows until a deadline.
type note struct {
	role  kit.Role
	text  string
	until time.Time
	// unseen is true if the window was too small to show the note.
	unseen bool
	// quitUntil is the deadline for a second request to quit.
	quitUntil time.Time
}

// Display times of notes and of errors.
const (
	noteTime  = 6 * time.Second
	errorTime = 20 * time.Second
)

// say shows a note. An empty text removes the displayed note, unless it is an error. While the screen shows an error,
// say appends other notes to the error.
func (m *Model) say(r kit.Role, text string) {
	now := m.feed.now
	if text == "" {
		if m.note.role != kit.Bad {
			m.note.until = now
		}
		return
	}
	if m.note.role == kit.Bad && r != kit.Bad && now.Before(m.note.until) {
		text = m.note.text + "  " + m.scene.Sym.Dot + "  " + text
		r = kit.Bad
	}
	stay := noteTime
	if r == kit.Bad {
		stay = errorTime
	}
	m.note = note{role: r, text: text, until: now.Add(stay), unseen: m.window.tooSmall, quitUntil: m.note.quitUntil}
}

// refuse says why a request is not carried out.
func (m *Model) refuse(text string) tea.Cmd {
	m.say(kit.Delay, text)
	return nil
}

// copyText copies text with the terminal sequence OSC 52. It rejects text with control characters, because a shell
// could execute them when the user pastes the text.
func (m *Model) copyText(what, text string) tea.Cmd {
	plain := text
	if what == "value" {
		plain = strings.NewReplacer("\n", "", "\t", "").Replace(text)
	}
	switch {
	case text == "":
		return m.refuse("There is no " + what + " to copy.")
	case sanitize.Text(plain) != plain:
		return m.refuse("The " + what + " contains control or invisible characters: it was not copied.")
	}
	shown := 60
	if strings.HasSuffix(what, "command") {
		shown = 200
	}
	m.say(kit.Led, "Copied the "+what+": "+scene.OneLine(text, shown))
	return tea.SetClipboard(text)
}

// quit returns the command that quits. While writes are in progress, it requires a second request within noteTime,
// because quitting loses the outcomes of the writes.
func (m *Model) quit() tea.Cmd {
	text := m.log.Running()
	if text == "" || m.feed.now.Before(m.note.quitUntil) {
		return tea.Quit
	}
	m.say(kit.Delay, text)
	m.note.quitUntil = m.feed.now.Add(noteTime)
	return nil
}

func (m *Model) show(v view) tea.Cmd {
	m.focus.view, m.focus.zoom = v, false
	m.renew()
	return m.toView(scene.Opened{})
}

// showElection selects an election in the Elections view. It clears a filter that hides the election.
func (m *Model) showElection(id string) tea.Cmd {
	if m.scene.Shown.Find(election.ID(id)) == nil {
		return m.refuse("This election is not on the board.")
	}
	return tea.Batch(m.show(viewElections), send(m, &m.board, scene.GoTo{ID: id, Reveal: true}), send(m, &m.detail, scene.Back{}))
}

// pause freezes the board, or resumes it with the newest snapshot.
func (m *Model) pause(on bool) tea.Cmd {
	if m.feed.past != nil {
		return m.refuse("This is the past: pause is disabled. Press esc to return to now.")
	}
	m.feed.pause(on)
	return m.changed()
}

func (m *Model) togglePause() tea.Cmd { return m.pause(!m.feed.paused) }

// visit shows the board at a past moment. A nil moment is the present.
func visit(m *Model, a scene.Visit) tea.Cmd {
	m.feed.visit(a.Past)
	if m.note.role != kit.Bad { // the note is about the previous moment
		m.note = note{quitUntil: m.note.quitUntil}
	}
	cmd := m.changed()
	if a.Cursor != "" {
		cmd = tea.Batch(cmd, send(m, &m.board, scene.GoTo{ID: a.Cursor}))
	}
	return cmd
}

func unmark(m *Model, targets []scene.Target) tea.Cmd {
	u := scene.Unmark{Targets: targets}
	return tea.Batch(send(m, &m.board, u), send(m, &m.sessions, u))
}

// openFix opens the fix dialog for the selected election. If a diagnosis is unnecessary or impossible, it shows the
// reason in the footer.
func openFix(m *Model, by, _ string) tea.Cmd {
	if m.focus.view != viewElections {
		return m.refuse(scene.Covered + ".")
	}
	in := m.scene
	if in.Selected != nil {
		in = in.In(in.Selected.Datacenter)
	}
	return m.do(act.Fix(m.ctx, m.scene.Selected, by, m.opts.Backend.Diagnose, m.keys, in))
}

// openDrain shows the drain in progress, if there is one. Otherwise it shows the plan for the given node, or a list
// of nodes if node is empty.
func openDrain(m *Model, node string) tea.Cmd {
	if m.log.Draining() {
		return m.log.Show()
	}
	datacenter := selectedDatacenter(m)
	return m.do(act.Drain(m.ctx, m.opts.Backend.PlanDrain, datacenter, node, m.keys, m.scene.In(datacenter)))
}

// selectedDatacenter returns the datacenter of the selected election or session. The default is the first datacenter.
func selectedDatacenter(m *Model) string {
	switch e, session := m.scene.Selected, m.sessions.Selected(); {
	case m.focus.view == viewSessions && session != nil:
		return session.Datacenter
	case e != nil:
		return e.Datacenter
	}
	return m.scene.Live.Datacenters()[0].Datacenter
}

// selectedNode returns the node of the selected leader or session, or "" if neither is selected.
func selectedNode(m *Model) string {
	switch e := m.scene.Selected; {
	case m.focus.view == viewSessions && m.sessions.Selected() != nil:
		return m.sessions.Selected().Node
	case m.focus.view == viewElections && e != nil && scene.DisplayStateOf(e, m.scene.AsOf) == scene.StateLed:
		return e.Node()
	}
	return ""
}

// closeOverlay closes the open overlay and shows text as a note, unless text is empty.
func (m *Model) closeOverlay(text string) {
	if m.overlay != nil {
		m.overlay.End()
		m.overlay = nil
	}
	m.focus.mode = modeBoard
	if text != "" {
		m.say(kit.Quiet, text)
	}
}

// cover opens an overlay and closes the one that was open. cmd starts what the overlay reads.
func (m *Model) cover(o *scene.Overlay, cmd tea.Cmd) tea.Cmd {
	m.closeOverlay("")
	m.overlay, m.note = o, note{}
	return cmd
}

// fitOverlay passes the newest scene to the open overlay and lays it out.
func (m *Model) fitOverlay() tea.Cmd {
	o := m.overlay
	if o == nil {
		return nil
	}
	var cmd tea.Cmd
	if o.Update != nil {
		cmd = m.do(o.Update(m.scene))
	}
	return tea.Batch(cmd, o.Fit(m.scene.Sym, m.window.w, m.window.h, m.scene.Now))
}

// resized stores the window size. It closes overlays that no longer fit, because a key press must not act on an
// invisible overlay.
func (m *Model) resized(width, height int) tea.Cmd {
	was := m.window.tooSmall || m.window.w == 0
	m.window.w, m.window.h, m.window.tooSmall = width, height, tooSmall(width, height)
	switch small := m.window.tooSmall; {
	case small == was:
	case !small:
		if m.note.unseen {
			m.say(m.note.role, m.note.text)
		}
	case m.overlay != nil:
		m.closeOverlay("")
		m.say(kit.Delay, cancelledText)
	case m.focus.mode == modePrompt && m.focus.prompt.Kind == prompt.Filter: // the filter remains active, and the banner shows it
		m.focus.mode = modeBoard
	case m.focus.mode == modePrompt, m.focus.mode == modeCopy:
		m.focus.mode = modeBoard
		m.say(kit.Delay, cancelledText)
	}
	return nil
}

const cancelledText = "Cancelled: the window became too small."
