package ui

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/term"
)

// resultsPanel lists actions and what became of each, until it is closed.
type resultsPanel struct {
	title string
	// batches are those that it lists, the newest first.
	batches []batch
	// times says that each action is shown with its kind and time.
	times bool
	text  term.Reader
}

// openResults lists the results of one batch.
func (m *Model) openResults(b batch) {
	m.results = &resultsPanel{title: "Results: " + b.what(), batches: []batch{b}}
	m.mode, m.note = modeResults, note{}
}

// openActions lists every action of this run.
func (m *Model) openActions() {
	if len(m.actions.batches) == 0 {
		m.say(term.Quiet, "No action was confirmed since electop started.")
		return
	}
	p := &resultsPanel{title: "Actions since electop started", times: true}
	for i := range m.actions.batches {
		p.batches = append(p.batches, m.actions.batches[len(m.actions.batches)-1-i])
	}
	m.results, m.mode = p, modeResults
}

// resultsKey scrolls the panel or closes it.
func (m *Model) resultsKey(msg tea.KeyPressMsg) tea.Cmd {
	step, moves := m.keys.Step(msg, max(1, m.results.text.Rows), len(m.results.text.Lines))
	switch name := msg.String(); {
	case name == "ctrl+c":
		return m.quit()
	case moves:
		m.results.text.Scroll(step)
	case key.Matches(msg, m.keys.Results), name == "esc", name == "enter", name == "q":
		waits := m.results.waiting() > 0
		m.results, m.mode = nil, modeBoard
		if !waits {
			m.say(term.Quiet, "Closed; "+resultsHint+" again.")
		}
	}
	return nil
}

func (p *resultsPanel) waiting() int {
	n := 0
	for _, b := range p.batches {
		n += b.waiting()
	}
	return n
}

// resultsWidth is the widest the panel becomes; resultName the widest name.
const (
	resultsWidth = 112
	resultName   = 24
)

// fit lays the results out for a window, as they are now.
func (p *resultsPanel) fit(sym *term.Symbols, live *election.Snapshot, now time.Time, width, height int) {
	w := min(resultsWidth, width-4)
	page := &term.Page{Width: w - term.BoxSides, Sym: sym}
	column := 0
	for _, b := range p.batches {
		for _, a := range b {
			column = max(column, term.Width(a.name))
		}
	}
	column = min(column, resultName, max(8, page.Width/4))
	for _, b := range p.batches {
		for _, a := range b {
			p.write(page, a, column, live, now)
		}
	}
	p.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
}

func (p *resultsPanel) write(page *term.Page, a *action, column int, live *election.Snapshot, now time.Time) {
	name, _ := term.Cut(a.name, column, page.Sym.Ellipsis)
	first := []term.Span{{a.role(), a.sign(page.Sym) + " "}, {term.Strong, term.PadTo(name, column) + "  "}}
	if p.times {
		first = append([]term.Span{{term.Quiet, term.ClockTime(a.at) + " "}}, first...)
		first = append(first, term.Span{term.Quiet, term.PadTo(string(a.Action), 7) + "  "})
	}
	words := term.Span{a.textRole(), a.words(page.Sym, live, now)}
	if n := term.SpansWidth(first); n <= page.Width/2 {
		page.Beside(first, n, words)
		return
	}
	page.Add(first...)
	page.Indented(2, words)
}

// draw lays the panel over the lines of the screen.
func (p *resultsPanel) draw(pt *term.Painter, lines []string, width int) {
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
