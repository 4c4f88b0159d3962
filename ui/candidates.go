package ui

import (
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/term"
)

// candidatesDoc lists who probably competes, and from what that is inferred.
func candidatesDoc(d *term.Page, s *scene, e *election.Election) {
	in := s.insight(e)
	if standingOf(e, s.asOf) == standsSemaphore {
		d.Para(term.Quiet, "A semaphore records its contenders: nothing here is inferred.")
		d.Blank()
		semaphoreLists(d, in.semaphore)
		return
	}
	d.Para(term.Quiet, "Likely, not certain: Consul does not record waiters. Each is inferred, for the reason given.")
	d.Blank()
	list := candidateList(d, e, in)
	if len(in.candidates) == 0 {
		d.Para(term.Text, term.Capital(nobodyNext(s, in))+".")
		return
	}
	list.write(d, in.candidates)
	for _, text := range in.unread() {
		d.Para(term.Delay, text)
	}
	if in.around.SiblingsCut {
		d.Para(term.Quiet, "There are more keys beside it than were read.")
	}
}

// candidateColumns are the widths of the list's columns.
type candidateColumns struct{ name, node int }

// candidateList measures the columns and writes the holder, who is no candidate.
func candidateList(d *term.Page, e *election.Election, in *assessment) candidateColumns {
	c := candidateColumns{name: term.Width(e.Leader)}
	node := ""
	if e.Session != nil && e.Pair.Held() {
		node = clean(e.Session.Node)
		c.node = term.Width(node)
	}
	for _, found := range in.candidates {
		c.name = max(c.name, term.Width(candidateName(found)))
		c.node = max(c.node, term.Width(clean(found.Session.Node)))
	}
	c.name, c.node = min(c.name, max(12, d.Width/4)), min(c.node, max(8, d.Width/6))
	if e.Exists && e.Pair.Held() {
		c.line(d, term.Span{term.Led, d.Sym.Led}, [3]string{e.Leader, node, e.Pair.Session}, term.Span{term.Led, "holds it now"})
	}
	return c
}

func (c candidateColumns) write(d *term.Page, all []insight.Candidate) {
	for _, found := range all {
		reason, r := clean(found.Reason), term.Text
		if found.Weak {
			reason, r = "perhaps: "+reason, term.Quiet
		}
		c.line(d, term.Span{term.Quiet, d.Sym.Idle}, [3]string{candidateName(found), clean(found.Session.Node), found.Session.ID}, term.Span{r, reason})
	}
}

// line writes name, node, session and reason, the reason under the rest where
// there is little room.
func (c candidateColumns) line(d *term.Page, sign term.Span, cells [3]string, reason term.Span) {
	name, _ := term.Cut(cells[0], c.name, d.Sym.Ellipsis)
	node, _ := term.Cut(cells[1], c.node, d.Sym.Ellipsis)
	first := []term.Span{sign, {term.Text, " "}, {term.Strong, term.PadTo(name, c.name)}, {term.Text, "  " + term.PadTo(node, c.node)}}
	if session := election.ShortID(cells[2]); session != "" {
		first = append(first, term.Span{term.Quiet, "  " + term.PadTo(session, 8)})
	}
	n := c.name + c.node + 16
	if d.Width-n >= 24 {
		d.Beside(first, n, reason)
		return
	}
	d.Add(first...)
	d.Indented(2, reason)
}

// nobodyNext says why no candidate can be named.
func nobodyNext(s *scene, in *assessment) string {
	switch unread := in.unread(); {
	case len(unread) > 0:
		return "not known: " + strings.Join(unread, "; ")
	case in.around != nil:
		return "no candidate was seen among " + term.Plural(len(in.around.Sessions), "session")
	case !s.studies:
		return "candidates are not read"
	case s.stale:
		return "not known: Consul is unreachable"
	}
	return "being read"
}

// nextDetail names who would probably lead next.
func nextDetail(d *term.Page, s *scene, e *election.Election) {
	in := s.insight(e)
	if in.around == nil {
		return
	}
	d.Field("Likely next", nextSpans(s, in)...)
}

// shownNext is how many likely candidates are named in one line.
const shownNext = 5

func nextSpans(s *scene, in *assessment) []term.Span {
	if len(in.candidates) == 0 {
		r := term.Text
		if len(in.unread()) > 0 {
			r = term.Delay
		}
		return []term.Span{{r, nobodyNext(s, in)}}
	}
	text := term.NameList(nextNames(in.candidates), shownNext)
	if in.candidates[0].Weak {
		return []term.Span{{term.Quiet, "perhaps "}, {term.Text, text}}
	}
	return []term.Span{{term.Text, text}}
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
