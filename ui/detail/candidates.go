package detail

import (
	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

// candidatesDoc lists the likely candidates with the evidence for each.
func candidatesDoc(d *kit.Page, s *scene.Scene, e *election.Election) {
	in := s.Insight(e)
	if s.Past != nil {
		d.Para(kit.Quiet, "Candidates are "+scene.NotStored+": they are inferred from sessions, which the history does not contain.")
		return
	}
	if scene.DisplayStateOf(e, s.AsOf) == scene.StateSemaphore {
		d.Para(kit.Quiet, "A semaphore records its contenders, so this list is not inferred.")
		d.Blank()
		semaphoreLists(d, in.Semaphore)
		return
	}
	d.Para(kit.Quiet, "Likely, not certain: Consul does not record waiters. The reason for each is shown.")
	d.Blank()
	list := candidateList(d, e, in)
	if len(in.Candidates) == 0 {
		d.Para(kit.Text, kit.Capital(scene.WhyNoCandidate(s, in, s.Live.In(e.Datacenter).Connection))+".")
		return
	}
	list.write(d, in.Candidates)
	for _, text := range in.Around.Unread() {
		d.Para(kit.Delay, text)
	}
	if in.Around.SiblingsCut {
		d.Para(kit.Quiet, "Not all sibling keys were read.")
	}
}

// candidateColumns are the column widths of the list, in cells.
type candidateColumns struct{ name, node int }

// candidateList computes the column widths and writes the holder as the first row.
func candidateList(d *kit.Page, e *election.Election, in *scene.Assessment) candidateColumns {
	c := candidateColumns{name: kit.Width(e.Leader)}
	node := ""
	if e.Session != nil && e.Pair.Held() {
		node = scene.Clean(e.Session.Node)
		c.node = kit.Width(node)
	}
	for _, found := range in.Candidates {
		c.name = max(c.name, kit.Width(scene.CandidateName(found)))
		c.node = max(c.node, kit.Width(scene.Clean(found.Session.Node)))
	}
	c.name, c.node = min(c.name, max(12, d.Width/4)), min(c.node, max(8, d.Width/6))
	if e.Exists && e.Pair.Held() {
		c.line(d, kit.Span{kit.Led, d.Sym.Led}, [3]string{e.Leader, node, e.Pair.Session}, kit.Span{kit.Led, "holds the key"})
	}
	return c
}

func (c candidateColumns) write(d *kit.Page, all []insight.Candidate) {
	for _, found := range all {
		reason, r := scene.Clean(found.Reason), kit.Text
		if found.Weak {
			reason, r = "perhaps: "+reason, kit.Quiet
		}
		c.line(d, kit.Span{kit.Quiet, d.Sym.Idle}, [3]string{scene.CandidateName(found), scene.Clean(found.Session.Node), found.Session.ID}, kit.Span{r, reason})
	}
}

// line writes name, node, session and reason. On a narrow page, the reason is on the next line.
func (c candidateColumns) line(d *kit.Page, sign kit.Span, cells [3]string, reason kit.Span) {
	name, _ := kit.Cut(cells[0], c.name, d.Sym.Ellipsis)
	node, _ := kit.Cut(cells[1], c.node, d.Sym.Ellipsis)
	first := []kit.Span{sign, {kit.Text, " "}, {kit.Strong, kit.PadTo(name, c.name)}, {kit.Text, "  " + kit.PadTo(node, c.node)}}
	if session := election.ShortID(cells[2]); session != "" {
		first = append(first, kit.Span{kit.Quiet, "  " + kit.PadTo(session, 8)})
	}
	n := c.name + c.node + 16
	if d.Width-n >= 24 {
		d.Beside(first, n, reason)
		return
	}
	d.Add(first...)
	d.Indented(2, reason)
}

func writeNext(d *kit.Page, s *scene.Scene, e *election.Election) {
	in := s.Insight(e)
	if in.Around == nil {
		return
	}
	d.Field("Likely next", scene.NextSpans(s, in, s.Live.In(e.Datacenter).Connection)...)
}
