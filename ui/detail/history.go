package detail

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// storedTerms reads the recorded terms of one election. task is nil before the read, and got before its result.
type storedTerms struct {
	past past.Reader
	task *kit.Task
	got  *past.Read[history.TermPage]
}

// forget discards the terms.
func (t *storedTerms) forget() {
	t.task.Cancel()
	*t = storedTerms{past: t.past}
}

// load returns the command that reads the terms. It returns nil if they were requested.
func (t *storedTerms) load(s *scene.Scene) tea.Cmd {
	if t.past.On() && t.task == nil {
		t.task = t.past.Terms(s.Selected, s.Past.Moment(), s.Now, func(got past.Read[history.TermPage]) { t.got = &got })
	}
	return t.task.Start()
}

// joined returns the recorded terms and those of the snapshot, oldest first. A recorded term without an end ended at an
// unknown time before the next term.
func (t *storedTerms) joined(e *election.Election, at *scene.Past) []history.Term {
	var stored []history.Term
	if t.got != nil {
		stored = election.Without(t.got.Page.Items, func(old history.Term) bool {
			return at != nil && old.Start.After(at.At) || e.Datacenter != "" && old.Datacenter != e.Datacenter // the history may contain several datacenters
		})
		slices.Reverse(stored)
	}
	all := scene.JoinTerms(stored, e.Terms)
	for i := range all {
		t, end := &all[i], e.VacantSince
		if i+1 < len(all) {
			end = all[i+1].Start
		}
		if current := i+1 == len(all) && e.Held(); !t.Over() && !current && end.After(t.Start) {
			t.End, t.SeenUntil = end, t.Start
		}
	}
	return all
}

// historyDoc lists the terms, latest first, with the vacancies and the gaps in observation between them.
func (d doc) historyDoc(e *election.Election, stored *storedTerms) {
	state, terms := d.StateOf(e), stored.joined(e, d.Past)
	vacancy := func(text string) {
		d.Beside(nil, 9, kit.Vacant.Spans(d.Sym.Vacant+" no leader for "+text)...)
	}
	switch {
	case state == scene.StateSemaphore && len(terms) == 0:
		d.Para(kit.Quiet, "A semaphore has no terms, only holders.")
	case len(terms) == 0:
		d.Para(kit.Quiet, "No term was observed.")
	case state != scene.StateLed && state != scene.StateSemaphore:
		vacancy(election.FormatDuration(d.AsOf.Sub(e.VacantSince)) + " so far")
	}
	var gaps []history.Range
	if stored.got != nil {
		gaps = past.Unobserved(stored.got.Gaps, d.LiveSince())
	}
	for i := len(terms) - 1; i >= 0; i-- {
		t := &terms[i]
		if i+1 < len(terms) && t.Over() {
			outage := t.Outage(&terms[i+1].Term).Beside(nil)
			if t.AliveUntil.Equal(t.LastSeen()) {
				outage = "" // it is the vacancy
			}
			switch length := terms[i+1].Start.Sub(t.LastSeen()); {
			case t.Vacancy == nil && length > 0:
				vacancy("at most " + election.AtMost(length) + outage)
			case t.Vacancy != nil && *t.Vacancy > 0:
				vacancy(election.FormatDuration(time.Duration(*t.Vacancy)) + outage)
			}
		}
		gaps = d.gapsSince(gaps, t.Start)
		d.termLines(t)
	}
	switch got := stored.got; {
	case stored.task.Slow():
		d.Add(kit.Quiet.Span("loading" + d.Sym.Ellipsis))
	case got == nil:
	case got.Err != nil:
		d.Add(kit.Delay.Span(past.Text(got.Err)))
	case got.Page.More:
		d.Add(kit.Quiet.Span("Older terms: electop history --terms"))
	default:
		d.gapsSince(gaps, time.Time{})
	}
}

// gapsSince writes the gaps that began at or after a moment, latest first. It returns the earlier gaps.
func (d doc) gapsSince(gaps []history.Range, at time.Time) []history.Range {
	for n := len(gaps) - 1; n >= 0 && !gaps[n].Since.Before(at); n-- {
		gap := gaps[n]
		d.Add(kit.Faint.Span(kit.PadTo("", 9)), kit.Delay.Span(d.Sym.Unknown+" no observer for "+election.BriefDuration(gap.Until.Sub(gap.Since))),
			kit.Quiet.Span("  "+d.dated(gap.Since)+" "+d.Sym.Arrow+" "+d.dated(gap.Until)))
		gaps = gaps[:n]
	}
	return gaps
}

// dated formats times. Only a wide page shows times with both date and seconds.
func (d doc) dated(at time.Time) string { return kit.Dated(at, d.Now, d.Width >= 90) }

func (d doc) termLines(t *history.Term) {
	end, sign := "now", kit.Led.Span(d.Sym.Led+" ")
	lasted := d.AtLeast(election.BriefDuration(t.Held(d.AsOf)), t.StartKnown)
	if d.Past != nil {
		end = d.dated(d.Past.At)
	}
	if t.Over() {
		end, sign, lasted = t.To(d.Now, d.dated), kit.Quiet.Span(d.Sym.Dot+" "), d.Held(t.Held(d.AsOf), t.HeldKnown())
	}
	line := []kit.Span{{kit.Quiet, kit.PadTo(scene.TermText(t.Number, t.CreateIndex, t.Session)+" ", 9)}, sign}
	line = append(line, leaderSpans(&t.Term)...)
	d.Add(append(line, kit.Text.Span("  "+lasted), kit.Quiet.Span("  "+t.From(d.Now, d.dated)+" "+d.Sym.Arrow+" "+end))...)
	if t.Over() {
		d.Beside(nil, 11, append(kit.Quiet.Spans("lost because "), d.CauseSpans(&t.Term)...)...)
	}
}

// leaderSpans names the leader of a term and its node.
func leaderSpans(t *election.Term) []kit.Span {
	spans := kit.Strong.Spans(scene.Clean(t.Leader))
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		spans = append(spans, kit.Text.Span(" on "+scene.Clean(t.Node)))
	}
	return spans
}
