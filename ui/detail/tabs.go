package detail

import (
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// tabs returns the titles of the pages.
func tabs() []string { return []string{"Detail", "Candidates", "History", "Raw"} }

const (
	tabCandidates = 1 + iota
	tabHistory
	tabRaw
)

// OpenHistory opens the history of the selected election.
func (m *Model) OpenHistory() { m.turn(tabHistory) }

// turn opens a page. The first page follows the last.
func (m *Model) turn(to int) {
	m.tab = to % len(tabs())
	m.offset = 0
	m.stored.forget() // terms may have been stored since the tab was last open
}

// lines returns all lines of the page about the selected election.
func (m *Model) lines(s *scene.Scene) [][]kit.Span {
	e := s.Selected
	s = s.Of(e)
	d := doc{&kit.Page{Width: m.rect.W - 2, Sym: s.Sym}, s}
	switch m.tab {
	case tabCandidates:
		d.candidatesDoc(e)
	case tabHistory:
		d.historyDoc(e, &m.stored)
	case tabRaw:
		d.writeRaw(e)
	default:
		d.writeState(e)
	}
	return d.Lines
}

// sign returns the symbol of an election in the same colour as in the table.
func sign(s *scene.Scene, e *election.Election) kit.Span {
	state := s.StateOf(e)
	text, r := state.Sign(s.Sym)
	if state != scene.StateLed {
		return r.Span(text)
	}
	checks := s.Shown.ChecksOf(e)
	switch critical, warning := insight.TallyChecks(e.Session, checks).Risk(); {
	case critical || insight.FailureOf(e, checks).Current():
		r = kit.Bad
	case warning || e.Overwritten():
		r = kit.Delay
	}
	return r.Span(text)
}

func (m *Model) title(p *kit.Painter, s *scene.Scene, width int) string {
	var left []kit.Span
	var right []kit.Control
	if e := s.Selected; e != nil {
		left = append(left, sign(s, e), kit.Strong.Span(" "+sanitize.Text(e.Name)))
		if e.Key() != e.Name {
			left = append(left, kit.Quiet.Span("  "+sanitize.Text(e.Key())))
		}
		if s.Several() {
			left = slices.Insert(left, 2, kit.Quiet.Span("  "+scene.Clean(e.Datacenter)))
		}
	}
	for t, text := range tabs() {
		if t > 0 {
			right = append(right, kit.Label(kit.Faint.Span(" "+p.Sym.Dot+" ")))
		}
		right = append(right, kit.TabTitle(t, t == m.tab, text))
	}
	return p.Rule(width, left, right...)
}
