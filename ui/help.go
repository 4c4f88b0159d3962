package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// helpPage is the overlay with every key and sign.
type helpPage struct{ offset int }

func (h *helpPage) scroll(step int) { h.offset = max(0, h.offset+step) }

// helpKey scrolls the help; every other key closes it.
func (m *Model) helpKey(msg tea.KeyPressMsg) tea.Cmd {
	if step, ok := m.step(msg, max(1, m.height-3), 1000); ok {
		m.help.scroll(step)
		return nil
	}
	m.mode = modeBoard
	if msg.String() == "ctrl+c" {
		return m.quit()
	}
	return nil
}

// draw lays the help over all lines but the first and the last.
func (h *helpPage) draw(p *painter, keys KeyMap, lines []string, width int) {
	height := len(lines) - 2
	text := helpLines(p, keys, width-2)
	h.offset = max(0, min(h.offset, len(text)-(height-1)))
	right := []span{{roleQuiet, "any key closes"}}
	if len(text) > height-1 {
		right = []span{{roleKey, p.sym.keyMove}, {roleQuiet, " scroll, any other key closes"}}
	}
	lines[1] = p.rule(width, []span{{roleStrong, "Help"}}, right)
	l := newLine(p, width)
	for i := range height - 1 {
		l.reset(tonePlain)
		l.gap(1)
		if at := h.offset + i; at < len(text) {
			l.texts(text[at]...)
		}
		lines[2+i] = l.done()
	}
}

// helpLines are the keys in as many columns as fit, and the signs below.
func helpLines(p *painter, keys KeyMap, width int) [][]span {
	titles := []string{"Move", "Look", "Act"}
	groups := make([][][]span, 0, len(titles))
	for i, bindings := range keys.FullHelp() {
		groups = append(groups, helpGroup(titles[i], bindings))
	}
	signs := append([][]span{{}}, signLines(p.sym)...)
	if width < 96 {
		var all [][]span
		for _, g := range groups {
			all = append(append(all, g...), nil)
		}
		return append(all, signs...)
	}
	return append(sideBySide(groups, width/len(groups)), signs...)
}

func helpGroup(title string, bindings []key.Binding) [][]span {
	lines := [][]span{{{roleHead, title}}}
	for _, b := range bindings {
		h := b.Help()
		lines = append(lines, []span{{roleKey, padTo(h.Key, 8)}, {roleText, h.Desc}})
	}
	return lines
}

// sideBySide puts columns of equal width beside each other.
func sideBySide(groups [][][]span, width int) [][]span {
	var rows [][]span
	for i := 0; ; i++ {
		var row []span
		more := false
		for _, g := range groups {
			var cell []span
			if i < len(g) {
				cell, more = g[i], true
			}
			row = append(row, cell...)
			row = append(row, span{roleText, padTo("", width-spansWidth(cell))})
		}
		if !more {
			return rows
		}
		rows = append(rows, row)
	}
}

// signLines explains what the signs of the board mean.
func signLines(sym *symbols) [][]span {
	label := func(s string) span { return span{roleHead, padTo(s, 10)} }
	return [][]span{
		{label("States"), {roleLed, sym.led}, {roleText, " led   "}, {roleDelay, sym.delay},
			{roleText, " lock-delay: Consul refuses new holders   "}, {roleVacant, sym.vacant}, {roleText, " vacant   "},
			{roleTermB, sym.semaphore}, {roleText, " semaphore: several holders   "}, {roleQuiet, sym.unreadable}, {roleText, " unreadable"}},
		{label("Checks"), {roleLed, sym.passing}, {roleText, " passing   "}, {roleDelay, sym.warning},
			{roleText, " warning   "}, {roleBad, sym.critical}, {roleText, " critical   "}, {roleQuiet, sym.unknown},
			{roleText, " unknown: the checks that keep the leader's session alive. "},
			{roleDelay, sym.warning}, {roleText, " or "}, {roleBad, sym.critical}, {roleText, " behind a name: at risk"}},
		{label(""), {roleQuiet, "12m ago"}, {roleText, " the age of checks that are no longer watched; those of visible leaders are"}},
		{label("Lane"), {roleTermA, sym.laneLed}, {roleText, " led   "}, {roleVacant, sym.laneLost},
			{roleText, " lost   "}, {roleVacant, sym.laneGap}, {roleText, " no leader   "}, {roleVacant, sym.laneWon},
			{roleText, " elected   "}, {roleVacant, sym.laneChange}, {roleText, " another leader   "},
			{roleFaint, sym.laneUnseen}, {roleText, " not seen"}},
		{label("Marks"), {roleText, sym.atLeast + " at least: it began unseen   " + sym.tilde +
			" an estimate   ! written without the lock   (node) of the last leader   "}, {roleDelay, sym.urgent}, {roleText, " urgent advice"}},
		{label("Events"), {roleText, "newest first. At the top ("}, {roleKey, "g"}, {roleText, ") view 2 follows the newest; elsewhere the cursor stays on its event"}},
		{label("Sessions"), {roleLed, sym.led}, {roleText, " holds a known key   "}, {roleQuiet, sym.idle}, {roleText, " nothing watched, may wait   "},
			{roleDelay, sym.warning}, {roleText, " orphan? idle, without a TTL, and several alike"}},
		{label("Keys"), {roleFaint, "(r) release"}, {roleText, " in brackets: this token may not; pressed, it names the missing ACL rule   "},
			{roleKey, "f"}, {roleText, " in view 3 or a destroy dialog: scan all keys"}},
		{label("Filter"), {roleText, "words are ANDed: text   !text   state:vacant   state:semaphore   state:orphan   node:node-2   leader:web   session:4f5a"}},
		{label("Command"), {roleText, commandNames}},
	}
}
