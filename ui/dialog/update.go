package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Update handles a message and returns an action for the program.
func (d Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := d.update(msg, s)
	return d, action
}

func (d *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		survey := d.startSurvey()
		return scene.Run{Cmd: tea.Batch(survey, d.fit(s, msg.W, msg.H))}
	case scene.Changed:
		d.check(s)
	case scene.Refreshed:
		d.rebind(s)
	case scene.Searched:
		if msg.Of == d.search {
			msg.Of.Ended(msg)
			d.check(s)
		}
	case scene.SearchTick:
		if msg.Of == d.search {
			return scene.Run{Cmd: msg.Of.Ticked()}
		}
	case Surveyed:
		if msg.Of == d.survey {
			d.survey.ended(msg.Found, s.Live)
			d.check(s)
		}
	case *scene.Noticed:
		d.notice.Ended(msg)
	case scene.Wheeled:
		d.scroll(msg.Step)
	case tea.KeyPressMsg:
		return d.pressed(msg, s)
	}
	return nil
}

func (d *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	switch msg.String() {
	case "esc", "n", "q", "ctrl+c":
		if d.search.Running() {
			d.search.Stop()
			return nil
		}
		return d.cancel()
	case "left", "h", "right", "l", "tab", "shift+tab":
		d.onAction = !d.onAction && d.ready()
	case "y":
		return d.confirm()
	case "enter":
		if d.onAction {
			return d.confirm()
		}
		return d.cancel()
	case "space":
		d.toggleHidden(s)
	case "f":
		return d.toggleSearch(s)
	case "a":
		d.full = !d.full && d.cut
		d.check(s)
	case "c":
		return d.copyCommand(s)
	case "r":
		if !d.acts() {
			return d.refresh()
		}
	default:
		if step, ok := d.tools.Keys.Step(msg, max(1, d.text.Rows), len(d.text.Lines)); ok {
			d.scroll(step)
		}
	}
	return nil
}

// copyCommand copies the command that performs the same action as the dialog.
func (d *Model) copyCommand(s *scene.Scene) scene.Action {
	var keys, commands []string
	for _, t := range d.actionable() {
		if t.SessionOnly != nil {
			commands = append(commands, d.tools.Cluster.DestroySession(t.Session))
			continue
		}
		keys = append(keys, t.Key)
	}
	if len(keys) > 0 {
		commands = append(commands, d.tools.Cluster.Act(d.kind, keys, s.Patterns))
	}
	if len(commands) == 0 {
		return scene.Say{Role: kit.Delay, Text: "There is no command to copy: no action is possible."}
	}
	return scene.Copy{What: "command", Text: strings.Join(commands, " && ")}
}

// scroll moves by at most a page, so that it skips no line.
func (d *Model) scroll(step int) { d.text.Scroll(min(step, d.text.Rows)) }

func (d *Model) maySearch() bool {
	return d.tools.Search != nil && d.acts() && !d.checking() && d.kind == election.ActionDestroy &&
		(d.search == nil || d.search.Stopped || d.search.Err != nil || d.search.Earlier)
}

// toggleSearch starts or stops a search of the whole KV store for other affected keys.
func (d *Model) toggleSearch(s *scene.Scene) scene.Action {
	switch {
	case d.search.Running():
		d.search.Stop()
	case d.maySearch():
		var run tea.Cmd
		d.search, run = d.tools.Search(d.sessions(), s.Now) // a skipped target may become actionable
		return scene.Run{Cmd: tea.Batch(run, d.search.Ticked())}
	}
	return nil
}

// toggleHidden includes or excludes the targets that the filter hides. It stops the search, because the targets
// change.
func (d *Model) toggleHidden(s *scene.Scene) {
	if len(d.chosen.Hidden) == 0 {
		return
	}
	d.stopSearch()
	d.includesHidden = !d.includesHidden
	d.choose(s)
}

func (d *Model) stopSearch() {
	if d.search.Running() {
		d.search.Stop()
	}
}

// End cancels the search and the survey. A caller that closes the dialog must call End.
func (d *Model) End() {
	d.stopSearch()
	d.endSurvey()
}

func (d *Model) cancel() scene.Action {
	text := ""
	if d.acts() {
		text = "Cancelled: nothing was changed."
	}
	d.End()
	return scene.Close{Text: text}
}

// shown returns, for each session to destroy, the keys in the dialog.
func (d *Model) shown() map[string]election.Destroy {
	if d.kind != election.ActionDestroy {
		return nil
	}
	keys := map[string][]string{}
	for _, f := range d.affected {
		if !f.slot {
			keys[f.session] = append(keys[f.session], f.key)
		}
	}
	for _, p := range d.scanned {
		keys[p.Session] = append(keys[p.Session], p.Key)
	}
	all := map[string]election.Destroy{}
	for _, id := range d.sessions() {
		slices.Sort(keys[id])
		all[id] = election.Destroy{Keys: slices.Compact(keys[id]), Shown: d.now, Incomplete: !d.searchedAll()}
	}
	return all
}

// refresh cancels the search and the survey. The returned action ends a pause and discards the cached permissions.
func (d *Model) refresh() scene.Action {
	d.End()
	return scene.Refresh{Targets: d.Targets()}
}

// rebind binds the dialog to the current holds of the same keys. It ignores the cursor, because the cursor may have
// moved to another row.
func (d *Model) rebind(s *scene.Scene) {
	if !d.chosen.SessionOnly { // a session cannot have a newer hold
		d.chosen.Visible, d.chosen.Hidden = rebind(s, d.chosen.Visible), rebind(s, d.chosen.Hidden)
	}
	d.choose(s)
}

func (d *Model) confirm() scene.Action {
	switch {
	case d.ready():
		targets := make([]scene.Target, 0, len(d.targets))
		for _, t := range d.actionable() {
			targets = append(targets, t.Target)
		}
		d.End()
		return scene.Confirm{Kind: d.kind, Targets: targets, Shown: d.shown(), By: d.chosen.By}
	case d.acts() && d.checking():
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: electop is still reading sibling keys and sessions."}
	case d.read():
		return scene.TooSoon()
	}
	return nil
}
