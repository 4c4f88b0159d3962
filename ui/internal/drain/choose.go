package drain

import (
	tea "charm.land/bubbletea/v2"

	"electop/internal/drain"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// hidden reports whether the plan hides an election. A folded plan hides the elections that need no attention.
func (d *Model) hidden(i *drain.Item) bool {
	return d.folded && regular(i) && !d.excluded[i]
}

// regular reports whether an election needs no attention: it is watched, a likely candidate is on another node, and the
// leader's software has no step-down command.
func regular(i *drain.Item) bool { return i.Likely > 0 && i.Watched && i.Effect.Better == "" }

// toggle excludes the election under the cursor, or includes it again.
func (d *Model) toggle() {
	if d.line >= len(d.items) || d.items[d.line] < 0 {
		return
	}
	d.toggled = d.items[d.line]
	item := d.plan.Items[d.toggled]
	if d.excluded[item] {
		delete(d.excluded, item)
	} else {
		d.excluded[item] = true
	}
}

// fold hides or shows those elections of a long plan that need no attention.
func (d *Model) fold() {
	if d.long() {
		d.folded, d.line, d.text.Offset = !d.folded, -1, 0
	}
}

// showToggled replaces the visible lines of the toggled election. They do not count as unread, because the user has
// changed them.
func (d *Model) showToggled(lines [][]term.Span) {
	for n, item := range d.items {
		if item == d.toggled && n < len(lines) && n < len(d.text.Lines) && n >= d.text.Offset && n < d.text.Offset+d.text.Rows {
			d.text.Lines[n] = lines[n]
		}
	}
	d.toggled = -1
}

// move moves the cursor by at most a page, so that it skips no line.
func (d *Model) move(step int) {
	switch step = max(-d.text.Rows, min(step, d.text.Rows)); {
	case d.stage == choosing:
		d.at.MoveTo(d.at.Index+step, len(d.nodes))
	case !d.lists():
		d.text.Scroll(step)
	default:
		d.line = max(0, min(d.line+step, len(d.text.Lines)-1))
		d.text.Scroll(max(0, d.line-d.text.Offset-d.text.Rows+1) + min(0, d.line-d.text.Offset))
	}
}

// confirm begins the drain. For a long plan, it first requests the name of the node.
func (d *Model) confirm(s *scene.Scene) scene.Action {
	switch {
	case d.acts() && s.Refusal(Kind) != "":
		return scene.Say{Role: term.Delay, Text: s.Refusal(Kind)}
	case d.ready() && d.long() && d.typed == nil:
		d.typed = &term.Input{}
	case d.ready():
		for item := range d.excluded {
			item.Skip = "excluded in the plan"
		}
		d.End()
		return scene.Drain{Plan: d.plan, Destroy: d.destroy}
	case d.acts() && d.text.Read():
		return scene.Say{Role: term.Delay, Text: "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again."}
	}
	return nil
}

// typing handles a key while the user types the name of the node.
func (d *Model) typing(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	switch name := msg.String(); {
	case name == "esc" || name == "ctrl+c":
		d.typed = nil
	case name != "enter":
		d.typed.Press(msg)
	case d.typed.String() == d.node || d.typed.String() == d.shownNode():
		return d.confirm(s)
	default:
		return scene.Say{Role: term.Delay, Text: "Nothing was done: this is not the name of the node."}
	}
	return nil
}

func (d *Model) shownNode() string { return scene.OneLine(d.node, 40) }
