package chrome

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"electop/ui/internal/keys"
	"electop/ui/internal/term"
)

// Guide is the page of all keys and signs.
type Guide struct {
	Keys keys.Map
	// Commands lists the commands that follow ":".
	Commands string
}

// Scroll returns the offset moved by step lines and limited to the page, in a window of
// this size.
func (g Guide) Scroll(sym *term.Symbols, offset, step, width, height int) int {
	return max(0, min(offset+step, len(g.lines(sym, width-2))-(height-3)))
}

// Draw draws the page from the line at offset over all lines except the first and last.
func (g Guide) Draw(p *term.Painter, lines []string, offset, width int) {
	height := len(lines) - 2
	text := g.lines(p.Sym, width-2)
	offset = g.Scroll(p.Sym, offset, 0, width, len(lines))
	right := []term.Span{{term.Quiet, "any key closes"}}
	if len(text) > height-1 {
		right = []term.Span{{term.Key, p.Sym.KeyMove}, {term.Quiet, " scroll, any other key closes"}}
	}
	lines[1] = p.Rule(width, []term.Span{{term.Strong, "Help"}}, right)
	l := term.NewLine(p, width)
	for i := range height - 1 {
		l.Reset(term.Plain)
		l.Gap(1)
		if at := offset + i; at < len(text) {
			l.Texts(text[at]...)
		}
		lines[2+i] = l.Done()
	}
}

// lines returns the keys and then the signs. The keys are in three columns if the width suffices.
func (g Guide) lines(sym *term.Symbols, width int) [][]term.Span {
	titles := []string{"Move", "Look", "Act"}
	groups := make([][][]term.Span, 0, len(titles))
	for i, bindings := range g.Keys.All() {
		groups = append(groups, helpGroup(titles[i], bindings))
	}
	signs := slices.Concat([][]term.Span{{}}, g.signLines(sym), filterLines(width), g.commandLines(width))
	if width < 96 {
		var all [][]term.Span
		for _, g := range groups {
			all = append(append(all, g...), nil)
		}
		return append(all, signs...)
	}
	return append(sideBySide(groups, width/len(groups)), signs...)
}

func helpGroup(title string, bindings []key.Binding) [][]term.Span {
	lines := [][]term.Span{{{term.Head, title}}}
	for _, b := range bindings {
		h := b.Help()
		lines = append(lines, []term.Span{{term.Key, term.PadTo(h.Key, 8)}, {term.Text, h.Desc}})
	}
	return lines
}

// sideBySide joins columns of equal width.
func sideBySide(groups [][][]term.Span, width int) [][]term.Span {
	var rows [][]term.Span
	for i := 0; ; i++ {
		var row []term.Span
		more := false
		for _, g := range groups {
			var cell []term.Span
			if i < len(g) {
				cell, more = g[i], true
			}
			row = append(row, cell...)
			row = append(row, term.Span{term.Text, term.PadTo("", width-term.SpansWidth(cell))})
		}
		if !more {
			return rows
		}
		rows = append(rows, row)
	}
}

// labelWidth is the width of the labels of the signs, in cells.
const labelWidth = 10

// commandLines lists the commands, in as many lines as the width needs.
func (g Guide) commandLines(width int) [][]term.Span {
	var lines [][]term.Span
	label := "Commands"
	for _, part := range term.Wrap(g.Commands, max(20, width-labelWidth)) {
		lines = append(lines, []term.Span{{term.Head, term.PadTo(label, labelWidth)}, {term.Text, part}})
		label = ""
	}
	return lines
}

// signLines explains the signs of the board.
func (g Guide) signLines(sym *term.Symbols) [][]term.Span {
	label := func(s string) term.Span { return term.Span{term.Head, term.PadTo(s, labelWidth)} }
	k := func(b key.Binding) term.Span { return term.Span{term.Key, b.Help().Key} }
	return [][]term.Span{
		{label("States"), {term.Led, sym.Led}, {term.Text, " led   "}, {term.Delay, sym.Delay},
			{term.Text, " lock-delay: acquires rejected   "}, {term.Vacant, sym.Vacant}, {term.Text, " vacant   "},
			{term.Quiet, sym.Idle}, {term.Text, " idle: a finished job   "},
			{term.TermB, sym.Semaphore}, {term.Text, " semaphore   "}, {term.Quiet, sym.Unreadable}, {term.Text, " unreadable"}},
		{label("Checks"), {term.Led, sym.Passing}, {term.Text, " passing   "}, {term.Delay, sym.Warning},
			{term.Text, " warning   "}, {term.Bad, sym.Critical}, {term.Text, " critical   "}, {term.Quiet, sym.Unknown},
			{term.Text, " unknown: the checks that keep the leader's session alive. "},
			{term.Delay, sym.Warning}, {term.Text, " or "}, {term.Bad, sym.Critical}, {term.Text, " behind a name: at risk"}},
		{label(""), {term.Quiet, "12m ago"}, {term.Text, " age of outdated checks: electop watches only the nodes of visible leaders"}},
		{label("Lane"), {term.TermA, sym.LaneLed}, {term.Text, " led   "}, {term.Vacant, sym.LaneLost},
			{term.Text, " lost   "}, {term.Vacant, sym.LaneGap}, {term.Text, " no leader   "}, {term.Vacant, sym.LaneWon},
			{term.Text, " elected   "}, {term.Vacant, sym.LaneChange}, {term.Text, " another leader   "},
			{term.Faint, sym.LaneUnseen}, {term.Text, " not observed   "}, k(g.Keys.ShorterLane), {term.Text, " 5 minutes ... "}, k(g.Keys.LongerLane), {term.Text, " 30 days"}},
		{label("Past"), k(g.Keys.Earlier), {term.Text, " and "}, k(g.Keys.Later), {term.Text, " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "},
			{term.Key, "esc"}, {term.Text, " returns to now"}},
		{label("Marks"), {term.Text, sym.AtLeast + " at least: start unknown   " + sym.Tilde +
			" estimate   ! written without lock   (node) of last leader   "}, {term.Delay, sym.Urgent}, {term.Text, " urgent advice"}},
		{label("Events"), {term.Text, "newest first. At the top ("}, k(g.Keys.Top), {term.Text, ") view 2 follows the newest; elsewhere the cursor stays on its event"}},
		{label("Sessions"), {term.Led, sym.Led}, {term.Text, " holds a known key   "}, {term.Quiet, sym.Idle}, {term.Text, " no watched key, may be a waiter   "},
			{term.Delay, sym.Warning}, {term.Text, " possible orphan: idle, no TTL, several similar"}},
		{label("Keys"), {term.Faint, "(" + g.Keys.Release.Help().Key + ") release"}, {term.Text, " in brackets: denied for this token, press it for the missing rule   "},
			k(g.Keys.Scan), {term.Text, " in view 3 or a destroy dialog: scan all keys"}},
	}
}
