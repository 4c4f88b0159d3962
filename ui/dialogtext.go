package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
)

// shownTargets is how many targets a dialog lists, shownFalls how many keys.
const (
	shownTargets = 6
	shownFalls   = 8
)

// label names a target in one short text.
func (t *boundTarget) label() string {
	switch {
	case t.Election != "":
		return oneLine(t.Election, 60)
	case t.name != "":
		return "session " + oneLine(t.name, 40)
	}
	return "session " + election.ShortID(t.Session)
}

// write is the text of the dialog.
func (d *dialog) write(page *doc) {
	if len(d.targets) == 1 {
		d.writeOne(page, &d.targets[0])
	} else {
		d.writeMany(page)
	}
	page.blank()
	switch {
	case d.lost:
		page.para(roleBad, "The connection to Consul is lost: nothing can be done until it is back.")
	case !d.acts():
		d.writeRefusal(page)
	case d.kind == election.ActionRelease:
		page.para(roleText, "The key is unlocked; its value and flags are kept and the session lives on. "+
			"No lock-delay follows: the next candidate may take it at once, even the same session.")
		d.writeNext(page)
	default:
		d.writeDestroy(page)
		d.writeNext(page)
	}
}

// writeRefusal says why the dialog does nothing.
func (d *dialog) writeRefusal(page *doc) {
	if d.targets[0].denied == "" || d.targets[0].changed != "" {
		what := "hold"
		if d.bare {
			what = "session"
		}
		page.para(roleBad, "Nothing will be done: this is no longer the "+what+" that was chosen.")
		return
	}
	page.para(roleBad, "This token may not "+string(d.kind)+" it. A rule is missing:")
	page.blank()
	seen := map[string]bool{}
	for _, t := range d.targets {
		if t.denied != "" && !seen[t.denied] {
			for _, part := range hardWrap(t.denied, page.width) {
				page.add(span{roleStrong, part})
			}
		}
		seen[t.denied] = true
	}
}

func (d *dialog) writeOne(page *doc, t *boundTarget) {
	if !d.bare {
		page.field("Key", span{roleStrong, election.Sanitize(t.Key)})
		page.field("Leader", span{roleStrong, t.Leader}, span{roleQuiet, "  term " + number(t.Term) + ", for " + t.heldFor})
	}
	session := []span{{roleText, clean(t.Session)}}
	if t.name != "" {
		session = append(session, span{roleQuiet, "  " + clean(t.name)})
	}
	page.field("Session", session...)
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
	for i := range d.targets {
		t := &d.targets[i]
		if i == shownTargets {
			page.add(span{roleQuiet, "and " + plural(len(d.targets)-i, "more "+d.noun())})
			break
		}
		line := []span{{roleStrong, padTo(oneLine(t.Election, 24), 16) + " "}, {roleText, oneLine(t.Leader, 28)},
			{roleQuiet, "  term " + number(t.Term) + ", " + election.ShortID(t.Session)}}
		if d.bare {
			line = []span{{roleStrong, padTo(oneLine(t.name, 24), 16) + " "}, {roleText, "on " + oneLine(t.Node, 28)},
				{roleQuiet, "  " + election.ShortID(t.Session)}}
		}
		switch {
		case t.changed != "":
			line = append(line[:1:1], span{roleBad, "left alone: " + t.changed})
		case t.denied != "":
			line = append(line[:1:1], span{roleBad, "left alone, missing " + t.denied})
		}
		page.add(line...)
	}
}

func (d *dialog) noun() string {
	if d.bare {
		return "session"
	}
	return "election"
}

// writeDestroy tells what falls, for how long, and how to find out about more.
func (d *dialog) writeDestroy(page *doc) {
	targets := d.standing()
	what, nothing := "The session is ended, and with it every lock it holds, watched here or not", "it holds nothing."
	if len(targets) > 1 {
		what, nothing = "The sessions are ended, and with them every lock they hold, watched here or not", "they hold nothing."
	}
	if len(d.falls) == 0 {
		page.para(roleText, what+". Of what is watched here "+nothing)
	} else {
		page.para(roleText, what+":")
	}
	for i, f := range d.falls {
		if i == shownFalls && len(d.falls) > shownFalls+1 {
			page.add(span{roleQuiet, "  and " + plural(len(d.falls)-i, "more key")})
			break
		}
		d.writeFall(page, f)
	}
	switch {
	case d.search != nil:
		d.search.write(page, d)
	case d.canSearch:
		page.add(span{roleText, "  "}, span{roleKey, "f"}, span{roleQuiet, " searches the whole KV store for keys that are not watched"})
	}
	page.para(roleText, d.delayText(targets))
}

// writeFall adds a key and what happens to it.
func (d *dialog) writeFall(page *doc, f fall) {
	fate, r := "is released or deleted: its session was not read", roleText
	switch d.behaviorOf(f.session) {
	case election.BehaviorDelete:
		fate, r = "is deleted, value and all", roleVacant
	case election.BehaviorRelease:
		fate = "is released"
	}
	if f.slot {
		fate, r = "keeps its other holders: a slot gets free", roleText
	}
	spans := []span{{roleStrong, election.Sanitize(f.key)}, {r, " " + fate}}
	if f.unwatched {
		spans = append(spans, span{roleQuiet, ", not watched"})
	}
	page.indented(2, spans...)
}

func (d *dialog) behaviorOf(session string) string {
	for _, t := range d.targets {
		if t.Session == session {
			return t.Behavior
		}
	}
	return ""
}

// atOnce is the longest lock-delay that nobody notices.
const atOnce = 100 * time.Millisecond

// delayText says how long nobody can lead afterwards.
func (d *dialog) delayText(targets []boundTarget) string {
	delay, unread := time.Duration(0), false
	for _, t := range targets {
		delay, unread = max(delay, t.LockDelay), unread || t.Behavior == ""
	}
	switch {
	case unread:
		return "Its lock-delay is not known (15 s unless it was set): nobody can lead that long."
	case delay > 0 && delay <= atOnce:
		return "Lock-delay " + delay.String() + ": the next candidate may lead at once."
	case delay > 0 && len(d.falls) == 0:
		return "Lock-delay " + delay.String() + ": for that long nobody can take what was held."
	case delay > 0:
		return "Lock-delay " + delay.String() + ": nobody can lead for that long."
	}
	return "It has no lock-delay: the next candidate may lead at once."
}

// writeNext tells who would come next, and the better way where there is one.
func (d *dialog) writeNext(page *doc) {
	if len(d.next) > 0 {
		page.field("Likely next", d.next...)
	}
	if d.software != nil {
		page.blank()
		page.field("Better", span{roleAccent, clean(d.software.StepDown)}, span{roleQuiet, ", " + clean(d.software.Name) + "'s own way"})
		page.field("Otherwise", span{roleDelay, clean(d.software.Otherwise)})
	}
}

// nameList names up to limit things and counts the rest.
func nameList(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:limit], ", ") + " and " + strconv.Itoa(len(names)-limit) + " more"
}
