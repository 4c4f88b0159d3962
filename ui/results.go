package ui

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// resultsPanel lists actions and what became of each, until it is closed.
type resultsPanel struct {
	title string
	// batches are those that it lists, the newest first.
	batches []batch
	// times says that each action is shown with its kind and time.
	times bool
	text  reader
}

// openResults lists the results of one batch.
func (m *Model) openResults(b batch) {
	m.results = &resultsPanel{title: "Results: " + b.what(), batches: []batch{b}}
	m.mode, m.note = modeResults, note{}
}

// openActions lists every action of this run.
func (m *Model) openActions() {
	if len(m.actions.batches) == 0 {
		m.say(roleQuiet, "No action was confirmed since electop started.")
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
	step, moves := m.step(msg, max(1, m.results.text.rows), len(m.results.text.lines))
	switch name := msg.String(); {
	case name == "ctrl+c":
		return m.quit()
	case moves:
		m.results.text.scroll(step)
	case key.Matches(msg, m.keys.Results), name == "esc", name == "enter", name == "q":
		waits := m.results.waiting() > 0
		m.results, m.mode = nil, modeBoard
		if !waits {
			m.say(roleQuiet, "Closed; "+resultsHint+" again.")
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
func (p *resultsPanel) fit(sym *symbols, live *election.Snapshot, now time.Time, width, height int) {
	w := min(resultsWidth, width-4)
	page := &doc{width: w - boxSides, sym: sym}
	column := 0
	for _, b := range p.batches {
		for _, a := range b {
			column = max(column, textWidth(a.name))
		}
	}
	column = min(column, resultName, max(8, page.width/4))
	for _, b := range p.batches {
		for _, a := range b {
			p.write(page, a, column, live, now)
		}
	}
	p.text.show(page.lines, w, max(1, height-boxFrame-2))
}

func (p *resultsPanel) write(page *doc, a *action, column int, live *election.Snapshot, now time.Time) {
	name, _ := cutText(a.name, column, page.sym.ellipsis)
	first := []span{{a.role(), a.sign(page.sym) + " "}, {roleStrong, padTo(name, column) + "  "}}
	if p.times {
		first = append([]span{{roleQuiet, clockTime(a.at) + " "}}, first...)
		first = append(first, span{roleQuiet, padTo(string(a.Action), 7) + "  "})
	}
	words := span{a.textRole(), a.words(page.sym, live, now)}
	if n := spansWidth(first); n <= page.width/2 {
		page.beside(first, n, words)
		return
	}
	page.add(first...)
	page.indented(2, words)
}

// draw lays the panel over the lines of the screen.
func (p *resultsPanel) draw(pt *painter, lines []string, width int) {
	state := span{roleQuiet, "complete"}
	if n := p.waiting(); n > 0 {
		state = span{roleAccent, strconv.Itoa(n) + " waiting"}
	}
	buttons := []span{{roleButtonOn, "[ Close ]"}, {roleText, "   "}, state}
	var where []span
	if text := p.text.position(); text != "" {
		where = []span{{roleKey, pt.sym.keyMove}, {roleQuiet, " " + text}}
	}
	b := box{edge: roleAccent, title: p.title, body: p.text.window(), foot: [][]span{where, buttons}}
	b.draw(pt, lines, p.text.width, width)
}
