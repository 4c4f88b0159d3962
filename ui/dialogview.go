package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
)

// dialogWidth is the widest a dialog becomes.
const dialogWidth = 72

// shownTargets is how many targets a dialog lists.
const shownTargets = 6

// draw lays the dialog over the lines of the screen.
func (d *dialog) draw(p *painter, lines []string, width, height int) {
	w := min(dialogWidth, width-4)
	page := &doc{width: w - 4, sym: p.sym}
	d.write(page)
	body := page.lines
	if room := height - 4; len(body) > room-2 { // keep the buttons
		body = body[:max(0, room-2)]
	}
	box := d.frame(p, body, w)
	top := max(0, (height-len(box))/2)
	for i, b := range box {
		if y := top + i; y < len(lines) {
			lines[y] = splice(lines[y], b, (width-w)/2, w, width)
		}
	}
}

// frame draws the border, the title, the text and the buttons.
func (d *dialog) frame(p *painter, body [][]span, w int) []string {
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
	row()
	row(d.buttons()...)
	l.reset(p.tone)
	l.text(edge, p.sym.bottomLeft)
	l.fill(edge, p.sym.rule, w-2)
	l.text(edge, p.sym.bottomRight)
	return append(box, l.done())
}

func (d *dialog) title() string {
	verb := "Release "
	if d.kind == election.ActionDestroy {
		verb = "Destroy the session of "
	}
	if len(d.targets) > 1 {
		return verb + plural(len(d.targets), "election")
	}
	return verb + oneLine(d.targets[0].Election, 40)
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

func (d *dialog) write(page *doc) {
	if len(d.targets) == 1 {
		d.writeOne(page, d.targets[0])
	} else {
		d.writeMany(page)
	}
	page.blank()
	switch {
	case d.lost:
		page.para(roleBad, "The connection to Consul is lost: nothing can be done until it is back.")
	case !d.acts():
		page.para(roleBad, "Nothing will be done: this is no longer the hold that was chosen.")
	case d.kind == election.ActionRelease:
		page.para(roleText, "The key is unlocked; its value and flags are kept and the session lives on. "+
			"No lock-delay follows: the next candidate may take it at once, even the same session.")
	default:
		d.writeDestroy(page)
	}
}

func (d *dialog) writeOne(page *doc, t boundTarget) {
	page.field("Key", span{roleStrong, election.Sanitize(t.Key)})
	page.field("Leader", span{roleStrong, t.Leader}, span{roleQuiet, "  term " + number(t.Term) + ", for " + t.heldFor})
	page.field("Session", span{roleText, clean(t.Session)})
	node := span{roleQuiet, "not read"}
	if t.Node != "" {
		node = span{roleText, clean(t.Node)}
	}
	page.field("Node", node)
	if t.changed != "" {
		page.field("Changed", span{roleBad, t.changed})
	}
}

func (d *dialog) writeMany(page *doc) {
	for i, t := range d.targets {
		if i == shownTargets {
			page.add(span{roleQuiet, "and " + plural(len(d.targets)-i, "more election")})
			break
		}
		line := []span{
			{roleStrong, padTo(oneLine(t.Election, 24), 16) + " "}, {roleText, oneLine(t.Leader, 28)},
			{roleQuiet, "  term " + number(t.Term) + ", " + election.ShortID(t.Session)},
		}
		if t.changed != "" {
			line = append(line[:1:1], span{roleBad, "left alone: " + t.changed})
		}
		page.add(line...)
	}
}

func (d *dialog) writeDestroy(page *doc) {
	targets := d.standing()
	what := "The session is ended, and with it every lock it holds, watched here or not."
	if len(targets) > 1 {
		what = "The sessions are ended, and with them every lock they hold, watched here or not."
	}
	page.para(roleText, what)
	if len(d.others) > 0 {
		page.para(roleVacant, "It leads here too: "+nameList(d.others, 8)+".")
	}
	delay, deletes, unread := time.Duration(0), 0, 0
	for _, t := range targets {
		delay = max(delay, t.LockDelay)
		switch t.Behavior {
		case election.BehaviorDelete:
			deletes++
		case "":
			unread++
		}
	}
	if deletes > 0 {
		page.para(roleVacant, "Behavior delete: what it holds is deleted, value and all.")
	}
	switch {
	case unread > 0:
		page.para(roleText, "Its lock-delay is not known (15 s unless it was set): nobody can lead that long.")
	case delay > 0:
		page.para(roleText, "Lock-delay "+delay.String()+": nobody can lead for that long.")
	default:
		page.para(roleText, "It has no lock-delay: the next candidate may lead at once.")
	}
}

// nameList names up to limit things and counts the rest.
func nameList(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:limit], ", ") + " and " + strconv.Itoa(len(names)-limit) + " more"
}
