package locks

import (
	"fmt"
	"strings"

	"electop/election/discovery"
	"electop/ui/kit"
	"electop/ui/scene"
)

// panelWidth is the maximum width of the panel, in cells.
const panelWidth = 112

// fit lays out the result for a window.
func (m *Model) fit(s *scene.Scene, width, height int) {
	if m.run == nil {
		return
	}
	w := min(panelWidth, width-4)
	page := &kit.Page{Width: w - kit.BoxSides, Sym: s.Sym}
	m.write(page)
	m.text.Show(page.Lines, w, max(1, height-kit.BoxFrame-2))
}

func (m *Model) write(page *kit.Page) {
	r := m.run
	switch {
	case !r.over:
		page.Add(kit.Span{Role: kit.Accent, Text: "Scanning: "}, kit.Span{Role: kit.Text, Text: far(r)})
		return
	case r.err != nil:
		page.Para(kit.Bad, "The search failed: "+scene.OneLine(r.err.Error(), 400))
		return
	}
	if r.found.Problem != "" {
		page.Para(kit.Delay, scene.OneLine(r.found.Problem, 400))
		page.Blank()
	}
	if len(r.found.Groups) == 0 {
		page.Para(kit.Text, "No locks were found among "+kit.Thousands(int64(r.found.Scanned))+" keys.")
	}
	for i := range r.found.Groups {
		writeGroup(page, &r.found.Groups[i])
	}
}

func far(r *run) string {
	return kit.Thousands(r.done.Load()) + " of " + kit.Thousands(r.total.Load()) + " keys"
}

// writeGroup writes the pattern, the key counts, the software and the state of a group.
func writeGroup(page *kit.Page, g *discovery.Group) {
	name := g.Pattern
	if name == "" {
		name = g.Keys[0]
	}
	name = scene.OneLine(strings.Join(append([]string{name}, g.Excluded...), " "), 100)
	state := kit.Span{Role: kit.Accent, Text: "not watched"}
	sign := kit.Span{Role: kit.Vacant, Text: page.Sym.Vacant + " "}
	switch {
	case g.Members:
		state, sign = kit.Span{Role: kit.Quiet, Text: "not elections"}, kit.Span{Role: kit.Quiet, Text: page.Sym.Idle + " "}
	case g.Watched == len(g.Keys):
		state, sign = kit.Span{Role: kit.Quiet, Text: "watched"}, kit.Span{Role: kit.Led, Text: page.Sym.Led + " "}
	case g.Pattern == "":
		state.Text = "no pattern selects only this key"
	case g.Watched > 0:
		state.Text = fmt.Sprintf("%d of %d watched", g.Watched, len(g.Keys))
	}
	page.Add(sign, kit.Span{Role: kit.Strong, Text: name})
	page.Indented(2, kit.Span{Role: kit.Text, Text: countText(g) + "   "},
		kit.Span{Role: kit.Quiet, Text: strings.Join(g.SoftwareNames(), ", ") + "   "}, state)
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
		parts = append(parts, kit.Plural(g.Semaphores, "semaphore"))
	}
	return strings.Join(parts, ", ")
}

// View draws the panel over lines. Each line is width cells wide.
func (m Model) View(pt *kit.Painter, lines []string, width int) {
	if m.run == nil {
		return
	}
	foot := []kit.Control{kit.Label(kit.Span{Role: kit.Quiet, Text: "   searching"})}
	switch found := &m.run.found; {
	case m.run.err != nil:
		foot = nil
	case m.run.over && found.Unwatched > 0:
		left := kit.Label(kit.Span{Role: kit.Accent, Text: "   " + kit.Plural(found.Unwatched, "lock") + " not watched   "})
		foot = []kit.Control{left, kit.BoundHint(m.keys.Fixed.WatchAll, "watch all"), kit.Label(kit.Span{Role: kit.Quiet, Text: "   :watch adds a pattern"})}
	case m.run.over:
		foot = []kit.Control{kit.Label(kit.Span{Role: kit.Quiet, Text: "   no unwatched locks found"})}
	}
	var where []kit.Span
	if text := m.text.Position(); text != "" {
		where = []kit.Span{{Role: kit.Key, Text: pt.Sym.KeyMove}, {Role: kit.Quiet, Text: " " + text}}
	}
	b := kit.Box{
		Edge: kit.Accent, Title: "Locks in the store" + m.where, Body: m.text.Window(),
		Foot: [][]kit.Span{where}, Controls: append([]kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]")}, foot...),
	}
	b.Draw(pt, lines, m.text.Width, width)
}
