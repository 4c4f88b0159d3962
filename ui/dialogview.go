package ui

import "electop/election"

// dialogWidth is the widest a dialog becomes.
const dialogWidth = 72

// draw lays the dialog over the lines of the screen.
func (d *dialog) draw(p *painter, lines []string, width, height int) {
	w := min(dialogWidth, width-4)
	page := &doc{width: w - 4, sym: p.sym}
	d.write(page)
	room := max(1, height-6) // the border and the buttons stay
	d.offset = max(0, min(d.offset, len(page.lines)-room))
	body := page.lines[d.offset:min(len(page.lines), d.offset+room)]
	box := d.frame(p, body, w, len(page.lines)-d.offset-len(body))
	top := max(0, (height-len(box))/2)
	for i, b := range box {
		if y := top + i; y < len(lines) {
			lines[y] = splice(lines[y], b, (width-w)/2, w, width)
		}
	}
}

// frame draws the border, the title, the text and the buttons. below is how many
// lines of the text are out of sight.
func (d *dialog) frame(p *painter, body [][]span, w, below int) []string {
	edge := roleAccent
	if d.kind == election.ActionDestroy {
		edge = roleVacant
	}
	l := newLine(p, w)
	box := make([]string, 0, len(body)+4)
	l.reset(p.tone)
	l.text(edge, p.sym.topLeft+p.sym.rule+" ")
	l.text(edge, d.title()+" ")
	l.fill(edge, p.sym.rule, l.room()-1)
	l.text(edge, p.sym.topRight)
	box = append(box, l.done())
	row := func(spans ...span) {
		l.reset(p.tone)
		l.text(edge, p.sym.bar+" ")
		l.texts(fitSpans(spans, w-4, p.sym)...)
		l.to(w - 1)
		l.text(edge, p.sym.bar)
		box = append(box, l.done())
	}
	for _, spans := range body {
		row(spans...)
	}
	switch {
	case below > 0:
		row(span{roleKey, p.sym.keyMove}, span{roleQuiet, " " + plural(below, "more line") + " below"})
	case d.offset > 0:
		row(span{roleKey, p.sym.keyMove}, span{roleQuiet, " " + plural(d.offset, "more line") + " above"})
	default:
		row()
	}
	row(d.buttons()...)
	l.reset(p.tone)
	l.text(edge, p.sym.bottomLeft)
	l.fill(edge, p.sym.rule, w-2)
	l.text(edge, p.sym.bottomRight)
	return append(box, l.done())
}

func (d *dialog) title() string {
	what := plural(len(d.targets), "election")
	switch {
	case d.bare && len(d.targets) == 1:
		return "Destroy " + d.targets[0].label()
	case d.bare:
		return "Destroy " + plural(len(d.targets), "session")
	case len(d.targets) == 1:
		what = oneLine(d.targets[0].Election, 40)
	}
	if d.kind == election.ActionDestroy {
		return "Destroy the session of " + what
	}
	return "Release " + what
}

// buttons end the dialog; brackets mark the one that Enter presses.
func (d *dialog) buttons() []span {
	if !d.acts() {
		return []span{{roleButtonOn, "[ Close ]"}, {roleText, "   "}, {roleKey, "r"}, {roleQuiet, " look again"}}
	}
	word := "Release"
	if d.kind == election.ActionDestroy {
		word = "Destroy"
	}
	cancel, action := span{roleButtonOn, "[ Cancel ]"}, span{roleButton, "  " + word + "  "}
	if d.onAction {
		cancel, action = span{roleButton, "  Cancel  "}, span{roleAlarm, "[ " + word + " ]"}
	}
	return []span{
		cancel, {roleText, "  "}, action, {roleText, "    "},
		{roleKey, "y"}, {roleQuiet, " " + string(d.kind) + "  "}, {roleKey, "esc"}, {roleQuiet, " cancel"},
	}
}
