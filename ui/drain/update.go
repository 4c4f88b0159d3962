package drain

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/scene"
)

// Update handles a message and returns an action for the program.
func (d Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := d.update(msg, s)
	return d, action
}

func (d *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case Open:
		d.datacenter, d.where = msg.Datacenter, ""
		if s.Several() {
			d.where = " in " + scene.OneLine(msg.Datacenter, 40)
		}
		return d.open(msg.Node, s)
	case scene.Resized:
		return scene.Run{Cmd: d.fit(s, msg.W, msg.H)}
	case Planned:
		d.planned(msg)
	case Tick:
		if msg.of == d.read {
			return scene.Run{Cmd: msg.of.tick()}
		}
	case *scene.Noticed:
		d.notice.Ended(msg)
	case scene.Clicked:
		d.at.MoveTo(msg.Index, len(d.nodes))
	case scene.Wheeled:
		d.move(msg.Step)
	case tea.KeyPressMsg:
		return d.pressed(msg, s)
	}
	return nil
}

func (d *Model) planned(msg Planned) {
	msg.of.over = true
	switch {
	case msg.of != d.read:
	case msg.err != nil:
		d.stage, d.err = failed, msg.err
	default:
		d.stage, d.plan = planned, msg.plan
	}
}

func (d *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	if d.typed != nil {
		return d.typing(msg, s)
	}
	switch name := msg.String(); {
	case name == "esc", name == "n", name == "q", name == "ctrl+c":
		return d.cancel()
	case name == "enter" && d.stage == choosing:
		return d.start(d.nodes[d.at.Index].node, s)
	case name == "y", name == "enter" && d.onAction:
		return d.confirm(s)
	case name == "enter":
		return d.cancel()
	case name == "r" && (d.stage == planned || d.stage == failed):
		return d.start(d.node, s)
	case name == "left", name == "h", name == "right", name == "l", name == "tab", name == "shift+tab":
		d.onAction = !d.onAction && d.ready()
	case name == "space" && d.lists():
		d.toggle()
	case name == "x" && d.lists():
		d.destroy = !d.destroy
	default:
		if step, ok := d.keys.Step(msg, max(1, d.text.Rows), max(len(d.text.Lines), len(d.nodes))); ok {
			d.move(step)
		}
	}
	return nil
}

func (d *Model) cancel() scene.Action {
	text := ""
	if d.lists() || d.stage == reading {
		text = "Cancelled: nothing was changed."
	}
	d.End()
	return scene.Close{Text: text}
}
