package results

import (
	"strconv"

	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// panel lists actions and their outcomes.
type panel struct {
	title string
	// batches are the listed batches, newest first.
	batches []batch
	// times adds the kind and time of each action.
	times bool
	text  term.Reader
}

func (p *panel) waiting() int {
	n := 0
	for _, b := range p.batches {
		n += b.waiting()
	}
	return n
}

// resultsWidth and resultName are the maximum widths of the panel and of a name, in cells.
const (
	resultsWidth = 112
	resultName   = 24
)

// fit lays out the current results for a window.
func (p *panel) fit(s *scene.Scene, width, height int) {
	w := min(resultsWidth, width-4)
	page := &term.Page{Width: w - term.BoxSides, Sym: s.Sym}
	column := 0
	for _, b := range p.batches {
		for _, a := range b {
			column = max(column, term.Width(a.name))
		}
	}
	column = min(column, resultName, max(8, page.Width/4))
	for _, b := range p.batches {
		for _, a := range b {
			p.write(page, a, column, s)
		}
	}
	p.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
}

func (p *panel) write(page *term.Page, a *action, column int, s *scene.Scene) {
	name, _ := term.Cut(a.name, column, page.Sym.Ellipsis)
	look := a.look(page.Sym)
	first := []term.Span{{look.Role, look.Text + " "}, {term.Strong, term.PadTo(name, column) + "  "}}
	if p.times {
		first = append([]term.Span{{term.Quiet, term.ClockTime(a.at) + " "}}, first...)
		first = append(first, term.Span{term.Quiet, term.PadTo(string(a.Action), 7) + "  "}, term.Span{term.Key, term.PadTo(a.by, 1) + "  "})
	}
	words := term.Span{look.Role, a.words(s)}
	if look.Role == term.Led || look.Role == term.Accent {
		words.Role = term.Text // plain if nothing failed
	}
	if n := term.SpansWidth(first); n <= page.Width/2 {
		page.Beside(first, n, words)
		return
	}
	page.Add(first...)
	page.Indented(2, words)
}

// View draws the panel over lines, which are width cells wide.
func (l Log) View(pt *term.Painter, lines []string, width int) {
	p := &l.panel
	state := term.Span{term.Quiet, "complete"}
	if n := p.waiting(); n > 0 {
		state = term.Span{term.Accent, strconv.Itoa(n) + " waiting"}
	}
	buttons := []term.Span{{term.ButtonOn, "[ Close ]"}, {term.Text, "   "}, state}
	var where []term.Span
	if text := p.text.Position(); text != "" {
		where = []term.Span{{term.Key, pt.Sym.KeyMove}, {term.Quiet, " " + text}}
	}
	b := term.Box{Edge: term.Accent, Title: p.title, Body: p.text.Window(), Foot: [][]term.Span{where, buttons}}
	b.Draw(pt, lines, p.text.Width, width)
}
