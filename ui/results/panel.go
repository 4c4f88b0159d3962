package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// panel is the live table of one batch, or the list of all actions.
type panel struct {
	// batches are the listed batches, newest first.
	batches []batch
	// all is set if the panel lists all actions, each with its kind and time.
	all bool
	// asking is set while the panel requests confirmation to stop a drain.
	asking bool
	text   kit.Reader
}

func (p *panel) waiting() int {
	n := 0
	for _, b := range p.batches {
		n += b.waiting()
	}
	return n
}

// drain returns the drain in progress that the panel shows, or nil if there is none.
func (p *panel) drain() *drainRun {
	if p.all || len(p.batches) == 0 || p.batches[0][0].drain == nil || p.batches[0][0].drain.over {
		return nil
	}
	return p.batches[0][0].drain
}

// pressedStop handles the keys that request, confirm or cancel the stop of a drain. It reports whether it
// handled the key.
func (l *Log) pressedStop(name string) bool {
	d, asking := l.panel.drain(), l.panel.asking
	l.panel.asking = false
	switch {
	case asking && name == "y":
		d.stopping = true
		d.run.Stop()
	case asking: // any other key cancels the request
	case !d.stopping && (name == "esc" || name == "x"):
		l.panel.asking = true
	default:
		return false
	}
	return true
}

// resultsWidth and resultName are the maximum widths of the panel and of a name, in cells.
const (
	resultsWidth = 112
	resultName   = 24
)

// rows returns the listed actions. In the table of one batch, problems come first.
func (p *panel) rows() []*action {
	all := slices.Concat(p.batches...)
	if !p.all {
		slices.SortStableFunc(all, func(a, b *action) int { return cmp.Compare(a.attention(), b.attention()) })
	}
	return all
}

// attention returns the rank of a row in the table of one batch: problems come first, then actions in progress, waiting
// elections, completed actions, and skipped elections.
func (a *action) attention() int {
	switch {
	case a.over && a.outcomeOrder() < 2:
		return 0
	case a.result() == "moving", a.drain == nil && !a.over:
		return 1
	case !a.over:
		return 2
	case a.result() == "skipped":
		return 4
	}
	return 3
}

// fit lays out the current results for a window.
func (p *panel) fit(s *scene.Scene, width, height int) {
	w := min(resultsWidth, width-kit.BoxSides)
	page := &kit.Page{Width: w - kit.BoxSides, Sym: s.Sym}
	rows := p.rows()
	name, result := 0, 0
	for _, a := range rows {
		name, result = max(name, kit.Width(a.name)), max(result, len(a.result()))
	}
	name = min(name, resultName, max(8, page.Width/4))
	if d := p.batches[0][0].drain; !p.all && d != nil && d.unverified != "" {
		page.Beside([]kit.Span{{kit.Bad, page.Sym.Warning + " "}}, 2, kit.Span{kit.Bad, kit.Capital(d.unverified) + "."})
	}
	if c := s.Live.In(p.batches[0][0].Target.Datacenter).Connection; p.drain() != nil && c.State != election.Live {
		text := "Consul is unreachable: this data is stale, and the drain waits."
		if c.Refused {
			text = "Consul rejects this token: this data is stale, and the drain will end soon."
		}
		page.Para(kit.Bad, text)
	}
	for _, a := range rows {
		p.write(page, a, name, result, s)
	}
	p.text.Show(page.Lines, w, max(1, height-kit.BoxFrame-2-len(p.head(s.Sym, page.Width))))
}

func (p *panel) write(page *kit.Page, a *action, name, result int, s *scene.Scene) {
	text, _ := kit.Cut(a.name, name, page.Sym.Ellipsis)
	look := a.look(page.Sym)
	first := []kit.Span{{look.Role, look.Text + " "}}
	if !p.all {
		first = append(first, kit.Span{look.Role, kit.PadTo(a.result(), result) + "  "})
	}
	first = append(first, kit.Span{kit.Strong, kit.PadTo(text, name) + "  "})
	if p.all {
		first = append([]kit.Span{{kit.Quiet, kit.ClockTime(a.at) + " "}}, first...)
		first = append(first, kit.Span{kit.Quiet, kit.PadTo(string(a.Action), 7) + "  "}, kit.Span{kit.Key, kit.PadTo(a.by, 1) + "  "})
	}
	words := kit.Span{look.Role, a.words(s)}
	if !p.all { // the result has its own column
		words.Text = strings.TrimPrefix(strings.TrimPrefix(words.Text, a.result()+", "), a.result()+": ")
	}
	if look.Role == kit.Led || look.Role == kit.Accent {
		words.Role = kit.Text // only problems have a colour
	}
	if n := kit.SpansWidth(first); n <= page.Width/2 {
		page.Beside(first, n, words)
		return
	}
	page.Add(first...)
	page.Indented(2, words)
}

// barWidth is the maximum width of the progress bar. narrow is the minimum width of a panel that shows the results
// next to the bar. Both are in cells.
const (
	barWidth = 24
	narrow   = 60
)

// head returns the progress of a batch: a bar and the number of actions with each result.
func (p *panel) head(sym *kit.Symbols, width int) [][]kit.Span {
	if p.all {
		return nil
	}
	b := p.batches[0]
	total, over := 0, 0
	for _, a := range b {
		if a.result() == "skipped" {
			continue
		}
		total++
		if a.over && !a.interrupted() {
			over++
		}
	}
	cells := min(barWidth, width/3)
	tally := "   " + b.tally()
	if width < narrow {
		tally = ""
	}
	full := cells * over / max(1, total)
	return kit.Flow([]kit.Span{
		{kit.Led, strings.Repeat(sym.LaneLed, full)}, {kit.Faint, strings.Repeat(sym.LaneUnseen, cells-full)},
		{kit.Strong, "  " + strconv.Itoa(over) + " of " + strconv.Itoa(total)}, {kit.Text, tally},
	}, width)
}

func (p *panel) title() string {
	if p.all {
		return "Actions since electop started"
	}
	what := p.batches[0].what()
	if p.batches[0][0].drain != nil {
		return kit.Capital(what)
	}
	return "Results: " + what
}

// View draws the panel over lines. Each line is width cells wide.
func (l Log) View(pt *kit.Painter, lines []string, width int) {
	p := &l.panel
	var where []kit.Span
	if text := p.text.Position(); text != "" {
		where = []kit.Span{{kit.Key, pt.Sym.KeyMove}, {kit.Quiet, " " + text}}
	}
	body := append(p.head(pt.Sym, p.text.Width-kit.BoxSides), p.text.Window()...)
	b := kit.Box{Edge: kit.Accent, Title: p.title(), Body: body, Foot: [][]kit.Span{where}, Controls: p.buttons()}
	b.Draw(pt, lines, p.text.Width, width)
}

// buttons returns the last row: the button that enter presses, the progress and the keys.
func (p *panel) buttons() []kit.Control {
	state := kit.Label(kit.Span{kit.Quiet, "complete"})
	if n := p.waiting(); n > 0 {
		state = kit.Label(kit.Span{kit.Accent, strconv.Itoa(n) + " waiting"})
	}
	hide := kit.PressButton("enter", kit.ButtonOn, "[ Hide ]")
	if b := p.batches[0]; !p.all && b[0].drain != nil && b[0].drain.stopping {
		state = kit.Label(kit.Span{kit.Delay, "stopped"})
	}
	switch d := p.drain(); {
	case d == nil:
		return []kit.Control{kit.PressButton("enter", kit.ButtonOn, "[ Close ]"), kit.Blank(3), state}
	case p.asking:
		ask := kit.Label(kit.Span{kit.Alarm, "Stop the drain?"})
		return []kit.Control{ask, kit.Blank(2), kit.Hint("y", "stop"), kit.Blank(2), kit.Hint("n", "continue")}
	case d.stopping:
		return []kit.Control{hide, kit.Blank(3), kit.Label(kit.Span{kit.Delay, "stopping"})}
	}
	return []kit.Control{hide, kit.Blank(3), kit.Hint("x", "stop")}
}
