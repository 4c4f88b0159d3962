package locks

import (
	"fmt"
	"strings"

	"electop/election/discovery"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// panelWidth is the maximum width of the panel, in cells.
const panelWidth = 112

// fit lays out the result for a window.
func (m *Model) fit(s *scene.Scene, width, height int) {
	if m.run == nil {
		return
	}
	w := min(panelWidth, width-4)
	page := &term.Page{Width: w - term.BoxSides, Sym: s.Sym}
	m.write(page)
	m.text.Show(page.Lines, w, max(1, height-term.BoxFrame-2))
}

func (m *Model) write(page *term.Page) {
	r := m.run
	switch {
	case !r.over:
		page.Add(term.Span{Role: term.Accent, Text: "Scanning: "}, term.Span{Role: term.Text, Text: far(r)})
		return
	case r.err != nil:
		page.Para(term.Bad, "The search failed: "+scene.OneLine(r.err.Error(), 400))
		return
	}
	if r.found.Problem != "" {
		page.Para(term.Delay, scene.OneLine(r.found.Problem, 400))
		page.Blank()
	}
	if len(r.found.Groups) == 0 {
		page.Para(term.Text, "No locks were found among "+term.Thousands(int64(r.found.Scanned))+" keys.")
	}
	for i := range r.found.Groups {
		writeGroup(page, &r.found.Groups[i])
	}
}

func far(r *run) string {
	return term.Thousands(r.done.Load()) + " of " + term.Thousands(r.total.Load()) + " keys"
}

// writeGroup writes the pattern, the key counts, the software and the state of a group.
func writeGroup(page *term.Page, g *discovery.Group) {
	name := g.Pattern
	if name == "" {
		name = g.Keys[0]
	}
	name = scene.OneLine(strings.Join(append([]string{name}, g.Excluded...), " "), 100)
	state := term.Span{Role: term.Accent, Text: "not watched"}
	sign := term.Span{Role: term.Vacant, Text: page.Sym.Vacant + " "}
	switch {
	case g.Members:
		state, sign = term.Span{Role: term.Quiet, Text: "not elections"}, term.Span{Role: term.Quiet, Text: page.Sym.Idle + " "}
	case g.Watched == len(g.Keys):
		state, sign = term.Span{Role: term.Quiet, Text: "watched"}, term.Span{Role: term.Led, Text: page.Sym.Led + " "}
	case g.Pattern == "":
		state.Text = "no pattern selects only this key"
	case g.Watched > 0:
		state.Text = fmt.Sprintf("%d of %d watched", g.Watched, len(g.Keys))
	}
	page.Add(sign, term.Span{Role: term.Strong, Text: name})
	page.Indented(2, term.Span{Role: term.Text, Text: countText(g) + "   "},
		term.Span{Role: term.Quiet, Text: strings.Join(g.SoftwareNames(), ", ") + "   "}, state)
}

// countText returns the number of keys of a group in each state.
func countText(g *discovery.Group) string {
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{g.Locked, "locked"}, {g.Unlocked, "unlocked"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if g.Semaphores > 0 {
		parts = append(parts, term.Plural(g.Semaphores, "semaphore"))
	}
	return strings.Join(parts, ", ")
}

// View draws the panel over lines. Each line is width cells wide.
func (m Model) View(pt *term.Painter, lines []string, width int) {
	if m.run == nil {
		return
	}
	foot := []term.Control{term.Label(term.Span{Role: term.Quiet, Text: "   searching"})}
	switch found := &m.run.found; {
	case m.run.err != nil:
		foot = nil
	case m.run.over && found.Unwatched > 0:
		left := term.Label(term.Span{Role: term.Accent, Text: "   " + term.Plural(found.Unwatched, "lock") + " not watched   "})
		foot = []term.Control{left, term.BoundHint(m.keys.Wide, "watch all"), term.Label(term.Span{Role: term.Quiet, Text: "   :watch adds a pattern"})}
	case m.run.over:
		foot = []term.Control{term.Label(term.Span{Role: term.Quiet, Text: "   no unwatched locks found"})}
	}
	var where []term.Span
	if text := m.text.Position(); text != "" {
		where = []term.Span{{Role: term.Key, Text: pt.Sym.KeyMove}, {Role: term.Quiet, Text: " " + text}}
	}
	b := term.Box{
		Edge: term.Accent, Title: "Locks in the store" + m.where, Body: m.text.Window(),
		Foot: [][]term.Span{where}, Controls: append([]term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]")}, foot...),
	}
	b.Draw(pt, lines, m.text.Width, width)
}
