package detail

import (
	"strconv"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// candidatesDoc lists the likely candidates with the evidence for each.
func (d doc) candidatesDoc(e *election.Election) {
	in := d.Insight(e)
	switch {
	case d.Past != nil:
		d.Para(kit.Quiet, "Candidates are "+scene.NotStored+": they are inferred from sessions, which the history does not contain.")
		return
	case d.StateOf(e) == scene.StateSemaphore:
		d.writeSemaphore(e)
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
	rows := make([]candidate, 0, len(in.Candidates)+1)
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
	writeRows(d.Page, rows)
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
func writeRows(d *kit.Page, rows []candidate) {
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

func (d doc) writeNext(e *election.Election) {
	if in := d.Insight(e); in.Around != nil || in.Queue() {
		d.Field(in.NextLabel(), d.NextSpans(in)...)
	}
}

// writeSemaphore writes the holders and waiters of a semaphore, which is a key with several holders by design.
func (d doc) writeSemaphore(e *election.Election) {
	sem := d.Insight(e).Semaphore
	if sem == nil {
		d.Para(kit.Delay, "The key belongs to a semaphore, which has holders and no leader. The holders are unknown, because the value of the key is unavailable or invalid.")
		return
	}
	spans := kit.Strong.Spans(strconv.Itoa(len(sem.Holders)) + " of " + kit.Plural(sem.Limit, "slot") + " taken")
	if gone := len(sem.Holders) - sem.Live(); gone > 0 {
		spans = append(spans, kit.Delay.Span("  "+strconv.Itoa(gone)+" with an ended session"))
	}
	d.Field("Semaphore", spans...)
	contenders(d.Page, "Holders", kit.Led.Span(d.Sym.Led+" "), sem.Holders, "no slot is taken")
	if !sem.ContendersKnown {
		d.Field("Waiters", kit.Quiet.Span("unknown, because the contenders' keys were not read; the sessions of some holders may have ended"))
		return
	}
	contenders(d.Page, "Waiters", kit.Quiet.Span(d.Sym.Dot+" "), sem.Waiters, "none")
}

func contenders(d *kit.Page, label string, sign kit.Span, all []election.SemaphoreHolder, none string) {
	if len(all) == 0 {
		d.Field(label, kit.Quiet.Span(none))
	}
	for _, h := range all {
		spans := []kit.Span{sign}
		if h.Name != "" {
			spans = append(spans, kit.Strong.Span(h.Name+" "))
		}
		if h.Node != "" {
			spans = append(spans, kit.Text.Span("on "+h.Node+" "))
		}
		spans = append(spans, kit.Quiet.Span(h.Session))
		if h.Gone {
			spans[0] = kit.Bad.Span(d.Sym.Critical + " ")
			spans = append(spans, kit.Bad.Span("  session ended"), kit.Quiet.Span(": a contender can take the slot"))
		}
		d.Field(label, spans...)
		label = ""
	}
}
