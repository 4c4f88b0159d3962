package detail

import (
	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// candidatesDoc lists the likely candidates with the evidence for each.
func (d doc) candidatesDoc(e *election.Election) {
	in := d.Insight()
	switch {
	case d.Past != nil:
		d.Para(kit.Quiet, "Candidates are "+scene.NotStored+": they are inferred from sessions, which the history does not contain.")
		return
	case d.StateOf(e) == scene.StateSemaphore:
		d.writeSemaphore()
		return
	}
	about := "Likely, not certain: " + e.Store.String() + " does not record waiters. The reason for each is shown."
	switch {
	case in.Queue():
		about = "The queue in its order."
	case e.Store.Leases: // it may have been a queue
		about = "Likely, not certain. The reason for each is shown."
	}
	d.Para(kit.Quiet, about)
	d.Blank()
	var rows []candidate
	if e.Held() {
		rows = append(rows, candidate{kit.Led.Span(d.Sym.Led + " "), e.Leader, scene.Clean(e.Node()), e.Pair.Session, kit.Led.Span("holds the key")})
	}
	for _, c := range in.Candidates {
		reason := kit.Text.Span(scene.Clean(c.Reason))
		if c.Weak {
			reason = kit.Quiet.Span("perhaps: " + reason.Text)
		}
		rows = append(rows, candidate{kit.Quiet.Span(d.Sym.Dot + " "), scene.CandidateName(c), scene.Clean(c.Session.Node), c.Session.ID, reason})
	}
	d.writeRows(rows)
	if len(in.Candidates) == 0 {
		d.Para(kit.Text, kit.Capital(d.WhyNoCandidate(in))+".")
		return
	}
	for _, text := range in.Around.Unread() {
		d.Para(kit.Delay, text)
	}
	if in.Around.SiblingsCut {
		d.Para(kit.Quiet, "Not all sibling keys were read.")
	}
}

// candidate is a row of the list of candidates.
type candidate struct {
	sign                kit.Span
	name, node, session string
	reason              kit.Span
}

// writeRows writes the rows in columns. On a narrow page, the reason is on the next line.
func (d doc) writeRows(rows []candidate) {
	name, node := 0, 0
	for _, r := range rows {
		name, node = min(max(name, kit.Width(r.name)), max(12, d.Width/4)), min(max(node, kit.Width(r.node)), max(8, d.Width/6))
	}
	for _, r := range rows {
		first := []kit.Span{r.sign, {kit.Strong, d.Cell(r.name, name)}, {kit.Text, "  " + d.Cell(r.node, node)}, {kit.Quiet, "  " + kit.PadTo(election.ShortID(r.session), 8)}}
		if n := name + node + 16; d.Width-n >= 24 {
			d.Beside(first, n, r.reason)
			continue
		}
		d.Add(first...)
		d.Beside(nil, 2, r.reason)
	}
}

func (d doc) writeNext() {
	if in := d.Insight(); in.Around != nil || in.Queue() {
		d.Field(in.NextLabel(), d.NextSpans(in)...)
	}
}
