package act

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	engine "electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// drain is the dialog about the drain of a node: electop reads the plan, and the user confirms it.
type drain struct {
	scene.Overlay
	datacenter, node string // node contains the names of all nodes
	engine.Plan
	err  error
	asOf time.Time
	// todo contains the elections to move, including those that the user excludes.
	todo []*engine.Item
	// destroy allows the drain to destroy sessions. full shows the effects and how the drain proceeds. printed is set for
	// the command line, which has no keys.
	destroy, full, printed bool
	refresh                func() any
}

// excluded is the reason to skip an election that the user excluded in the dialog.
const excluded = "excluded in the plan"

// Drain shows the drain in progress, or opens the plan for nodes.
func (l *Log) Drain(datacenter string, nodes ...string) scene.Action {
	if b := l.draining(); b != nil {
		return l.show(b)
	}
	s := l.Scene().In(datacenter)
	if refusal := s.Refusal(election.ActionDrain); refusal != "" {
		return scene.Refuse(refusal)
	}
	if len(nodes) == 0 {
		return scene.Refuse("No leader is selected. Select one, or use :drain NODE; tab lists the nodes.")
	}
	d := &drain{datacenter: datacenter, node: engine.Plan{Nodes: nodes}.NodesText(), asOf: s.Now}
	d.refresh = func() any { return l.Drain(datacenter, nodes...) }
	d.Sheet = kit.Sheet{Title: "Drain " + d.node + s.Where(datacenter), Width: 100, Write: d.write}
	d.Task = kit.Read(l.Ctx, 0, func(ctx context.Context) kit.Apply {
		plan, err := l.PlanDrain(ctx, datacenter, nodes, d.Task.Progress)
		return func() tea.Cmd {
			d.Top()
			d.Plan, d.err, d.todo = plan, err, engine.Pending(plan.Items)
			d.Menu = len(d.todo) > 0
			return nil
		}
	})
	return &d.Overlay
}

// kept returns the number of elections that the drain would move.
func (d *drain) kept() int { return len(engine.Pending(d.todo)) }

func (d *drain) buttons() []kit.Button {
	refresh := kit.Button{Key: "r", Hint: "refresh", Do: d.refresh}
	switch {
	case d.Task.Running():
		return []kit.Button{cancel()}
	case len(d.todo) == 0:
		return []kit.Button{refresh}
	}
	destroy := "allow destroy"
	if d.destroy {
		destroy = "forbid destroy"
	}
	return []kit.Button{
		cancel(), {Key: "y", Label: "Drain", Hint: "drain " + kit.Plural(d.kept(), "election"), Acts: true, Count: d.kept(), Off: d.kept() == 0, Do: d.confirm},
		{Key: "space", Hint: "exclude", Do: d.toggle},
		details(&d.full), {Key: "x", Hint: destroy, Do: func() any { d.destroy = !d.destroy; d.Top(); return nil }}, refresh,
	}
}

// toggle excludes the election under the cursor, or includes it again.
func (d *drain) toggle() any {
	if i := d.Chosen(); i >= 0 {
		if item := d.todo[i]; item.Kind == "" {
			item.Refuse("", excluded)
		} else {
			item.Kind, item.Reason = "", ""
		}
	}
	return nil
}

func (d *drain) confirm() any {
	switch refusal := d.S.In(d.datacenter).Refusal(election.ActionDrain); {
	case refusal != "":
		return scene.Refuse(refusal)
	case d.kept() == 0:
		return scene.Refuse("Nothing was done: all elections are excluded.")
	}
	return scene.Drain{Plan: d.Plan, Destroy: d.destroy}
}

// write writes what moves, the elections with their likely next leaders, and the warnings. Many elections come last, so
// that the user sees the warnings first.
func (d *drain) write(page *kit.Page) {
	d.Edge, d.Buttons = kit.Accent, d.buttons()
	switch many := len(d.todo) > d.Height/3; { // some need two lines
	case d.Task.Running():
		page.Para(kit.Accent, "Reading the elections and sessions, and searching the store: "+d.Task.Far()+".")
	case d.err != nil:
		page.Para(kit.Bad, "Cannot plan the drain: "+scene.Clean(d.err.Error()))
	default:
		d.writeSummary(page)
		if !many {
			d.writeItems(page)
		}
		d.writeEffects(page)
		if many {
			page.Blank()
			d.writeItems(page)
		}
	}
}

// WritePlan writes the plan of a drain with all details, as the command line prints it.
func WritePlan(page *kit.Page, p engine.Plan, now time.Time) {
	d := &drain{Plan: p, node: p.NodesText(), todo: engine.Pending(p.Items), destroy: p.Destroy, asOf: now, full: true, printed: true}
	page.Para(kit.Strong, "Drain "+d.node)
	d.writeSummary(page)
	d.writeItems(page)
	d.writeEffects(page)
}

// writeSummary writes how many elections the plan moves and how many it skips.
func (d *drain) writeSummary(page *kit.Page) {
	if d.Incomplete != "" {
		page.Beside(kit.Delay.Spans(page.Sym.Warning+" "), 2, kit.Delay.Span(d.Incomplete))
	}
	text := kit.Plural(d.kept(), "election") + " to move"
	if skipped := len(d.Items) - d.kept(); skipped > 0 {
		text += ", " + strconv.Itoa(skipped) + " skipped"
	}
	if len(d.Items) == 0 {
		text = "No session on " + d.node + " leads an election or holds another key"
	}
	page.Para(kit.Strong, text+". As of "+kit.ClockTime(d.asOf)+".")
}

// writeItems writes the elections to move as rows of the menu.
func (d *drain) writeItems(page *kit.Page) {
	const nameWidth = 24
	column := 0
	for _, i := range d.todo {
		column = max(column, kit.Width(sanitize.Line(i.Name(), nameWidth)))
	}
	column = min(column, max(8, page.Width/3))
	d.Row(page, -1)
	for n, i := range d.todo {
		box := "[" + page.Sym.Passing + "] "
		line := []kit.Span{
			{kit.Led, box}, {kit.Strong, page.Cell(i.Name(), column) + "  "}, {kit.Text, sanitize.Line(i.Target.Leader, nameWidth)}, {kit.Quiet, "; next: " + i.NextText()},
		}
		if !i.Watched {
			line = append(line, kit.Delay.Span("; not watched"))
		}
		if i.Kind != "" {
			for j := range line {
				line[j].Role = kit.Faint
			}
			line[0] = kit.Quiet.Span(kit.PadTo("[", kit.Width(box)-2) + "] ")
		}
		page.Beside(line[:2:2], kit.Width(box)+column+2, line[2:]...)
		d.Row(page, n)
	}
}

// writeEffects writes the warnings, whether the drain may destroy sessions and, in full, the course of the drain and
// each sentence of [insight.EffectOf].
func (d *drain) writeEffects(page *kit.Page) {
	var release, destroy []engine.NamedEffect
	for _, i := range d.todo {
		effect := i.Effect
		if d.destroy {
			effect.Warnings = election.Union(slices.Clip(effect.Warnings), i.Last.Warnings...)
		}
		release = append(release, engine.NamedEffect{Name: i.Name(), Effect: effect})
		destroy = append(destroy, engine.NamedEffect{Name: i.Name(), Effect: i.Last})
	}
	page.Blank()
	writeWarnings(page, release, shownNames)
	if d.full && len(d.todo) > 0 {
		page.Para(kit.Text, fmt.Sprintf(
			"electop releases each election at most %d times. If a session on %s acquires the key again, electop releases it again: at first immediately, later after a pause. An election without a likely candidate on another node is released at most 3 times. An election has moved when a session on another node has led it for %s. At most %d elections move at a time.",
			d.Rounds, d.node, d.Settle, engine.Parallel))
		writeSentences(page, page.Sym.Dot, kit.Quiet, release, shownNames, facts()...)
	} else {
		writeSentences(page, page.Sym.Dot, kit.Text, release, shownNames, "brief")
	}
	switch {
	case d.destroy:
		d.Edge = kit.Vacant
		page.Para(kit.Vacant, fmt.Sprintf("Destroy is allowed. If a session on %s leads an election after the last release, electop destroys this session once, unless the session holds a key that is not part of the drain.",
			d.node))
		writeSentences(page, page.Sym.Dot, kit.Quiet, destroy, shownNames, facts()...)
	case len(d.todo) > 0 && !d.printed:
		page.Para(kit.Quiet, "The drain destroys no sessions; x allows it to destroy sessions.")
	}
	writeBetter(page, release)
	skipped := map[string][]string{}
	for _, i := range d.Items {
		if i.Kind != "" && i.Reason != excluded {
			name := i.Name()
			if !i.Watched {
				name += " (not watched)"
			}
			skipped[i.Reason] = append(skipped[i.Reason], name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		page.Para(kit.Delay, "Skipped "+election.NameList(skipped[reason], shownHidden)+": "+reason)
	}
}

// facts are the labels of the sentences about what an action does.
func facts() []string { return []string{"key", "holder", "delay"} }

// writeSentences writes each sentence with one of the labels once, with up to limit names of the elections unless it
// applies to all.
func writeSentences(page *kit.Page, sign string, role kit.Role, effects []engine.NamedEffect, limit int, labels ...string) {
	for _, text := range engine.Sentences(effects, limit, labels...) {
		page.Advise(role.Spans(sign+" "), 2, role.Span(text))
	}
}

// writeWarnings writes the warnings, each once.
func writeWarnings(page *kit.Page, effects []engine.NamedEffect, limit int) {
	writeSentences(page, page.Sym.Warning, kit.Delay, effects, limit, "warning")
}

// StartDrain begins a drain and opens its live table.
func (l *Log) StartDrain(c scene.Drain) tea.Cmd {
	b := &batch{node: c.Plan.NodesText(), drain: c.Plan.Start(c.Destroy), at: l.Scene().Now}
	b.title = "Drain " + b.node
	for _, i := range c.Plan.Items {
		o := i.Outcome
		o.Kind, o.New = cmp.Or(o.Kind, engine.OutcomeWaiting), o.Old()
		b.change(o)
	}
	l.batches = append(l.batches, b)
	return tea.Batch(l.next(b), l.show(b))
}

// change stores the state of one election of a drain. The node may acquire an election during the drain.
func (b *batch) change(o engine.Outcome) {
	i := slices.IndexFunc(b.all, func(a *action) bool { return a.Target.Key == o.Target.Key })
	if i < 0 {
		i = len(b.all)
		b.all = append(b.all, &action{Item: &engine.Item{}, batch: b, name: o.Name()})
	}
	b.all[i].Outcome, b.all[i].over = o, o.Final()
}

// next waits for the next changes of a drain.
func (l *Log) next(b *batch) tea.Cmd {
	return kit.Read(l.Ctx, 0, func(context.Context) kit.Apply {
		changes, unverified, more := b.drain.Next()
		return func() tea.Cmd {
			for _, o := range changes {
				// The drain measures with an observer of its own, a few milliseconds before or after the events.
				seen := engine.Outcome{Action: election.ActionRelease, Kind: engine.OutcomeDone, Target: o.Target}.Follow(l.Scene().Live.Find(o.Target.ID()))
				if o.Rounds == 1 && !o.Destroyed && seen.VacancyKnown {
					o.Vacancy, o.Outage = seen.Vacancy, seen.Outage
				}
				b.change(o)
			}
			if more {
				return l.next(b)
			}
			b.over = true
			if unverified != "" {
				b.unverified = "not verified whether " + b.node + " leads an election: " + unverified
			}
			for _, a := range b.all {
				a.over, a.done = true, l.Scene().Now
			}
			return l.notify(b)
		}
	}).Start()
}

// draining returns the drain in progress, or nil if there is none.
func (l *Log) draining() *batch {
	for _, b := range l.batches {
		if b.drain != nil && !b.over {
			return b
		}
	}
	return nil
}
