package detail

import (
	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// tab is one page of the lower pane.
type tab uint8

const (
	tabDetail tab = iota
	tabCandidates
	tabHistory
	tabRaw
	tabCount
)

func (t tab) title() string { return [...]string{"Detail", "Candidates", "History", "Raw"}[t] }

// Model is the lower pane: it shows one election in depth.
type Model struct {
	tab    tab
	Offset int // first line shown
	Zoom   bool
	// advice is where advice begins among the lines drawn last, 0 for nowhere.
	advice int
	raw    rawCache
}

func (p *Model) Turn(step int) {
	for range (step + int(tabCount)) % int(tabCount) {
		p.tab = (p.tab + 1) % tabCount
	}
	p.Offset = 0
}

// Scroll moves the text under the pane's window of height lines.
func (p *Model) Scroll(step, total, height int) {
	p.Offset = max(0, min(p.Offset+step, total-height))
}

// Lines are all lines of the current tab.
func (p *Model) Lines(s *scene.Scene, sym *term.Symbols, e *election.Election, width int) [][]term.Span {
	d := &term.Page{Width: width, Sym: sym, Lines: make([][]term.Span, 0, 40)}
	p.advice = 0
	switch p.tab {
	case tabCandidates:
		candidatesDoc(d, s, e)
	case tabHistory:
		historyDoc(d, s, e)
	case tabRaw:
		return p.raw.lines(e, sym, width)
	default:
		detailDoc(d, s, e)
	}
	p.advice = d.Mark
	return d.Lines
}

// Draw draws the pane's title and the part of its text that is scrolled to.
func (p *Model) Draw(pt *term.Painter, s *scene.Scene, e *election.Election, width, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := make([]string, 0, height)
	if s = s.Of(e); s.PartStale() {
		data := *pt
		data.Tone, pt = term.Stale, &data
	}
	lines = append(lines, p.title(pt, s, e, width))
	if e == nil || height <= 1 {
		return pt.Pad(lines, width, height)
	}
	text := p.Lines(s, pt.Sym, e, width-2)
	p.Scroll(0, len(text), height-1)
	l := term.NewLine(pt, width)
	for i, spans := range text[p.Offset:min(len(text), p.Offset+height-1)] {
		l.Reset(pt.Tone)
		l.Gap(1)
		l.Texts(spans...)
		if left := len(text) - p.Offset - (height - 1); i == height-2 && left > 0 {
			term.MoreMark(l, pt.Sym, left, p.advice > p.Offset+height-1)
		}
		lines = append(lines, l.Done())
	}
	return pt.Pad(lines, width, height)
}

// paneSign is the sign of an election, in the colour that it has in the table.
func paneSign(sym *term.Symbols, s *scene.Scene, e *election.Election) (string, term.Role) {
	stands := scene.StandingOf(e, s.AsOf)
	sign, r := stands.Sign(sym)
	if stands != scene.StandsLed {
		return sign, r
	}
	switch critical, warning := scene.TallyChecks(e.Session, s.Shown.Checks).Risk(); {
	case critical:
		r = term.Bad
	case warning || e.Overwritten():
		r = term.Delay
	}
	return sign, r
}

func (p *Model) title(pt *term.Painter, s *scene.Scene, e *election.Election, width int) string {
	left, right := make([]term.Span, 0, 3), make([]term.Span, 0, 2*tabCount)
	if e != nil {
		sign, r := paneSign(pt.Sym, s, e)
		left = append(left, term.Span{r, sign}, term.Span{term.Strong, " " + sanitize.Text(e.Name)})
		if e.Key() != e.Name {
			left = append(left, term.Span{term.Quiet, "  " + sanitize.Text(e.Key())})
		}
	}
	tabs := 0
	for t := range tabCount {
		r := term.Quiet
		if t == p.tab {
			r = term.Accent
		}
		if t > 0 {
			right = append(right, term.Span{term.Faint, " " + pt.Sym.Dot + " "})
			tabs += 3
		}
		right = append(right, term.Span{r, t.title()})
		tabs += len(t.title())
	}
	return pt.Rule(width, term.Fit(left, width-tabs-8, pt.Sym), right)
}
