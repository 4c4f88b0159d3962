// Package detail shows one election on several pages: state, candidates, history and raw
// value.
package detail

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// tabs returns the titles of the pages.
func tabs() []string { return []string{"Detail", "Candidates", "History", "Raw"} }

const (
	tabCandidates = 1 + iota
	tabHistory
	tabRaw
)

// Model is the set of pages about the selected election.
type Model struct {
	keys   keys.Map
	rect   kit.Rect
	tab    int
	of     election.ID
	offset int // position of the first visible line
	// past is the displayed moment for which stored is read. It is nil for the present.
	past   *scene.Past
	stored storedTerms
}

// New returns the pages with the detail page open.
func New(k keys.Map, r past.Reader) *Model { return &Model{keys: k, stored: storedTerms{past: r}} }

// Update handles a message. It limits the offset to the page, and resets the offset if another
// election is selected. While the history is shown, it reads the stored terms.
func (m *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	if m.past != s.Past {
		m.past = s.Past
		m.stored.forget()
	}
	m.update(msg)
	m.settle(s)
	if m.tab == tabHistory && m.rect.H > 1 && s.Selected != nil {
		if cmd := m.stored.load(s); cmd != nil {
			return cmd
		}
	}
	return nil
}

func (m *Model) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Back:
		m.offset = 0
	case scene.Wheeled:
		m.scroll(msg.Step)
	case scene.Clicked:
		m.turn(msg.Index)
	case tea.KeyPressMsg:
		switch k := &m.keys; {
		case key.Matches(msg, k.NextTab):
			m.turn(m.tab + 1)
		case key.Matches(msg, k.PrevTab):
			m.turn(m.tab + len(tabs()) - 1)
		case key.Matches(msg, k.PaneDown):
			m.scroll(1)
		case key.Matches(msg, k.PaneUp):
			m.scroll(-1)
		default:
			step, _ := k.Step(msg, max(1, m.rect.H-1), 1<<20)
			m.scroll(step)
		}
	}
}

// OpenHistory opens the history of the selected election.
func (m *Model) OpenHistory() { m.turn(tabHistory) }

// turn opens a page. The first page follows the last.
func (m *Model) turn(to int) {
	m.tab = to % len(tabs())
	m.offset = 0
	m.stored.forget() // terms may have been stored since the tab was last open
}

func (m *Model) scroll(step int) {
	if m.rect.H > 1 {
		m.offset += step
	}
}

// settle limits the offset, and resets the page if another election is selected.
func (m *Model) settle(s *scene.Scene) {
	var id election.ID
	if s.Selected != nil {
		id = s.Selected.ID()
	}
	if id != m.of {
		m.of, m.offset = id, 0
		m.stored.forget()
	}
	if s.Selected != nil && m.offset != 0 && m.rect.H > 1 {
		m.offset = max(0, min(m.offset, len(m.lines(s))-(m.rect.H-1)))
	}
}

// lines returns all lines of the page about the selected election.
func (m *Model) lines(s *scene.Scene) [][]kit.Span {
	e := s.Selected
	s = s.Of(e)
	d := doc{&kit.Page{Width: m.rect.W - 2, Sym: s.Sym, Lines: make([][]kit.Span, 0, 40)}, s}
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

// View draws the title and the visible part of the page.
func (m *Model) View(s *scene.Scene, p *kit.Painter) []string {
	r := m.rect
	if r.H <= 0 {
		return nil
	}
	e := s.Selected
	part := s.Of(e)
	if part.PartStale() {
		stale := *p
		stale.Tone, p = kit.Stale, &stale
	}
	lines := []string{m.title(p, part, r.W)}
	if e == nil || r.H == 1 {
		return p.Pad(lines, r.W, r.H)
	}
	return p.Pad(p.Text(lines, m.lines(s), m.offset, r.H-1, r.W), r.W, r.H)
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
	left, right := make([]kit.Span, 0, 3), make([]kit.Control, 0, 2*len(tabs()))
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
		r := kit.Quiet
		if t == m.tab {
			r = kit.Accent
		}
		if t > 0 {
			right = append(right, kit.Label(kit.Faint.Span(" "+p.Sym.Dot+" ")))
		}
		right = append(right, kit.TabTitle(t, r, text))
	}
	return p.Rule(width, left, right...)
}
