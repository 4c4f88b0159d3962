package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"electop/election"
	"electop/election/insight"
)

// candidatesDoc lists who probably competes, and from what that is inferred.
func candidatesDoc(d *doc, s *scene, e *election.Election) {
	in := s.insight(e)
	if standingOf(e, s.asOf) == standsSemaphore {
		d.para(roleQuiet, "A semaphore records its contenders: nothing here is inferred.")
		d.blank()
		semaphoreLists(d, in.semaphore)
		return
	}
	d.para(roleQuiet, "Likely, not certain: Consul does not record waiters. Each is inferred, for the reason given.")
	d.blank()
	list := candidateList(d, e, in)
	if len(in.candidates) == 0 {
		d.para(roleText, capital(nobodyNext(s, in))+".")
		return
	}
	list.write(d, in.candidates)
	for _, text := range in.unread() {
		d.para(roleDelay, text)
	}
	if in.around.SiblingsCut {
		d.para(roleQuiet, "There are more keys beside it than were read.")
	}
}

// candidateColumns are the widths of the list's columns.
type candidateColumns struct{ name, node int }

// candidateList measures the columns and writes the holder, who is no candidate.
func candidateList(d *doc, e *election.Election, in *assessment) candidateColumns {
	c := candidateColumns{name: textWidth(e.Leader)}
	node := ""
	if e.Session != nil && e.Pair.Held() {
		node = clean(e.Session.Node)
		c.node = textWidth(node)
	}
	for _, found := range in.candidates {
		c.name = max(c.name, textWidth(candidateName(found)))
		c.node = max(c.node, textWidth(clean(found.Session.Node)))
	}
	c.name, c.node = min(c.name, max(12, d.width/4)), min(c.node, max(8, d.width/6))
	if e.Exists && e.Pair.Held() {
		c.line(d, span{roleLed, d.sym.led}, [3]string{e.Leader, node, e.Pair.Session}, span{roleLed, "holds it now"})
	}
	return c
}

func (c candidateColumns) write(d *doc, all []insight.Candidate) {
	for _, found := range all {
		reason, r := clean(found.Reason), roleText
		if found.Weak {
			reason, r = "perhaps: "+reason, roleQuiet
		}
		c.line(d, span{roleQuiet, d.sym.idle}, [3]string{candidateName(found), clean(found.Session.Node), found.Session.ID}, span{r, reason})
	}
}

// line writes name, node, session and reason, the reason under the rest where
// there is little room.
func (c candidateColumns) line(d *doc, sign span, cells [3]string, reason span) {
	name, _ := cutText(cells[0], c.name, d.sym.ellipsis)
	node, _ := cutText(cells[1], c.node, d.sym.ellipsis)
	first := []span{sign, {roleText, " "}, {roleStrong, padTo(name, c.name)}, {roleText, "  " + padTo(node, c.node)}}
	if session := election.ShortID(cells[2]); session != "" {
		first = append(first, span{roleQuiet, "  " + padTo(session, 8)})
	}
	n := c.name + c.node + 16
	if d.width-n >= 24 {
		d.beside(first, n, reason)
		return
	}
	d.add(first...)
	d.indented(2, reason)
}

// nobodyNext says why no candidate can be named.
func nobodyNext(s *scene, in *assessment) string {
	switch unread := in.unread(); {
	case len(unread) > 0:
		return "not known: " + strings.Join(unread, "; ")
	case in.around != nil:
		return "no candidate was seen among " + plural(len(in.around.Sessions), "session")
	case !s.studies:
		return "candidates are not read"
	case s.stale:
		return "not known: Consul is unreachable"
	}
	return "being read"
}

// capital begins a sentence.
func capital(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

// nextDetail names who would probably lead next.
func nextDetail(d *doc, s *scene, e *election.Election) {
	in := s.insight(e)
	if in.around == nil {
		return
	}
	d.field("Likely next", nextSpans(s, in)...)
}

// shownNext is how many likely candidates are named in one line.
const shownNext = 5

func nextSpans(s *scene, in *assessment) []span {
	if len(in.candidates) == 0 {
		r := roleText
		if len(in.unread()) > 0 {
			r = roleDelay
		}
		return []span{{r, nobodyNext(s, in)}}
	}
	text := nameList(nextNames(in.candidates), shownNext)
	if in.candidates[0].Weak {
		return []span{{roleQuiet, "perhaps "}, {roleText, text}}
	}
	return []span{{roleText, text}}
}

// nextNames names candidates with their nodes, and with their sessions where
// several would look the same.
func nextNames(all []insight.Candidate) []string {
	type looks struct{ name, node string }
	of := func(c insight.Candidate) looks { return looks{candidateName(c), clean(c.Session.Node)} }
	alike := make(map[looks]int, len(all))
	for _, c := range all {
		alike[of(c)]++
	}
	names := make([]string, 0, len(all))
	for _, c := range all {
		l := of(c)
		beside := l.node
		if alike[l] > 1 {
			beside = strings.TrimPrefix(l.node+", "+election.ShortID(c.Session.ID), ", ")
		}
		if beside != "" {
			l.name += " (" + beside + ")"
		}
		names = append(names, l.name)
	}
	return names
}

// candidateName is a candidate's name without its node, which stands beside it.
func candidateName(c insight.Candidate) string {
	name := clean(c.Name)
	if short, found := strings.CutSuffix(name, " on "+clean(c.Session.Node)); found && short != "" {
		return short
	}
	return name
}
