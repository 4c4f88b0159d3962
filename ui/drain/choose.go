package drain

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
	"electop/ui/scene"
)

// toggle excludes the election under the cursor, or includes it again.
func (d *Model) toggle() {
	if d.line >= len(d.items) || d.items[d.line] == nil {
		return
	}
	item := d.items[d.line]
	if d.excluded[item] {
		delete(d.excluded, item)
	} else {
		d.excluded[item] = true
	}
}

// move moves the cursor, or scrolls a text without one.
func (d *Model) move(step int) {
	switch {
	case d.stage == choosing:
		d.at.MoveTo(d.at.Index+step, len(d.nodes))
	case !d.lists():
		d.text.Scroll(step)
	default:
		d.line = max(0, min(d.line+step, len(d.text.Lines)-1))
		d.text.Scroll(max(0, d.line-d.text.Offset-d.text.Rows+1) + min(0, d.line-d.text.Offset))
	}
}

// confirm begins the drain. For many elections, it first requests their number.
func (d *Model) confirm(s *scene.Scene) scene.Action {
	switch {
	case d.acts() && s.Refusal(Kind) != "":
		return scene.Say{Role: kit.Delay, Text: s.Refusal(Kind)}
	case d.ready() && d.kept() > countedAbove && d.typed == nil:
		d.typed = &kit.Input{}
	case d.ready():
		for item := range d.excluded {
			item.Skip = "excluded in the plan"
		}
		d.End()
		return scene.Drain{Plan: d.plan, Destroy: d.destroy}
	case d.acts():
		return scene.TooSoon()
	}
	return nil
}

// typing handles a key while the user types the number of elections.
func (d *Model) typing(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	switch name := msg.String(); {
	case name == "esc" || name == "ctrl+c":
		d.typed = nil
	case name != "enter":
		d.typed.Press(msg)
	case d.typed.String() == strconv.Itoa(d.kept()):
		return d.confirm(s)
	default:
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: this is not the number of elections."}
	}
	return nil
}

func (d *Model) shownNode() string { return scene.OneLine(d.node, 40) }
