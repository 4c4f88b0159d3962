package drain

import (
	"fmt"
	"slices"
	"strconv"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

const (
	// nameWidth is the maximum width of the name of an election. leaderWidth is the maximum width of a leader.
	nameWidth, leaderWidth = 24, 20
	// shownNames is the maximum number of names before a sentence that applies to some elections.
	shownNames = 3
)

func (d *Model) write(page *kit.Page) {
	switch d.stage {
	case choosing:
		d.writeNodes(page)
	case reading:
		text := "Reading the elections and sessions."
		if total := d.read.total.Load(); total > 0 {
			text = "Searching the whole store for keys that the node's sessions hold: " +
				kit.Thousands(d.read.done.Load()) + " of " + kit.Thousands(total) + " keys."
		}
		page.Para(kit.Accent, text)
	case failed:
		page.Para(kit.Bad, "Cannot plan the drain: "+scene.Clean(d.err.Error()))
	case planned:
		d.writePlan(page)
	default:
	}
}

func (d *Model) writeNodes(page *kit.Page) {
	column := 0
	for _, c := range d.nodes {
		column = max(column, min(kit.Width(scene.OneLine(c.node, 60)), page.Width/2))
	}
	for i, c := range d.nodes {
		role, led := kit.Text, kit.Span{kit.Text, "leads " + kit.Plural(c.led, "election")}
		switch {
		case i == d.at.Index:
			role = kit.Strong
		case c.led == 0:
			role = kit.Quiet
		}
		if c.led == 0 {
			led.Role = kit.Quiet
		}
		page.Add(kit.Span{role, kit.PadTo(scene.OneLine(c.node, 60), column) + "  "}, led)
	}
}

// writePlan writes a summary, the elections to move, the effects, and the skipped elections. Many elections come last, so
// that the user sees the effects first.
func (d *Model) writePlan(page *kit.Page) {
	todo := d.plan.Planned()
	many := len(todo) > countedAbove
	d.writeSummary(page, todo)
	if !many {
		d.writeItems(page, todo)
	}
	if len(todo) > 0 {
		page.Para(kit.Text, d.course())
		d.writeEffects(page, func(i *act.Item) insight.Effect { return i.Effect })
		d.writeDestroy(page)
		for _, i := range todo {
			d.writeBetter(page, i.Name(), i.Effect.Better)
		}
	}
	d.writeSkipped(page)
	if many {
		page.Blank()
		d.writeItems(page, todo)
	}
}

// course describes how the drain moves each election.
func (d *Model) course() string {
	return fmt.Sprintf(
		"electop releases each election at most %d times. If a session on %s acquires the key again, electop releases it again: at first immediately, later after a pause if another node has a likely candidate. An election has moved when a session on another node has led it for %s. At most %d elections move at a time.",
		d.plan.Rounds, d.shownNode(), d.plan.Settle, act.Parallel)
}

// writeSummary writes how many elections the plan moves and how many it skips.
func (d *Model) writeSummary(page *kit.Page, todo []*act.Item) {
	if d.plan.Incomplete != "" {
		page.Beside([]kit.Span{{kit.Delay, page.Sym.Warning + " "}}, 2, kit.Span{kit.Delay, d.plan.Incomplete})
	}
	if len(d.plan.Items) == 0 {
		role := kit.Led
		if d.plan.Incomplete != "" {
			role = kit.Delay
		}
		page.Para(role, "No session on "+scene.OneLine(d.node, 60)+" leads an election or holds another key.")
		return
	}
	text := kit.Plural(len(todo), "election") + " to move"
	if skipped := len(d.plan.Items) - len(todo); skipped > 0 {
		text += ", " + strconv.Itoa(skipped) + " skipped"
	}
	page.Para(kit.Strong, text+". As of "+kit.ClockTime(d.asOf)+".")
	page.Blank()
}

// writeItems writes the elections to move, and records their lines.
func (d *Model) writeItems(page *kit.Page, todo []*act.Item) {
	column := 0
	for _, i := range todo {
		column = max(column, kit.Width(scene.OneLine(i.Name(), nameWidth)))
	}
	column = min(column, max(8, page.Width/4))
	d.items = make([]*act.Item, len(page.Lines))
	for _, i := range todo {
		d.writeItem(page, i, column)
		d.items = append(d.items, slices.Repeat([]*act.Item{i}, len(page.Lines)-len(d.items))...)
	}
	page.Blank()
}

func (d *Model) writeItem(page *kit.Page, i *act.Item, column int) {
	name, _ := kit.Cut(i.Name(), column, page.Sym.Ellipsis)
	box := "[" + page.Sym.Passing + "] "
	leader := []kit.Span{{kit.Text, scene.OneLine(i.Target.Leader, leaderWidth)}, {kit.Quiet, "; next: " + i.NextText()}}
	if !i.Watched {
		leader = append(leader, kit.Span{kit.Delay, "; not watched"})
	}
	first := []kit.Span{{kit.Led, box}, {kit.Strong, kit.PadTo(name, column) + "  "}}
	if d.excluded[i] {
		first = []kit.Span{{kit.Quiet, kit.PadTo("[", kit.Width(box)-2) + "] "}, {kit.Faint, kit.PadTo(name, column) + "  "}}
		for n := range leader {
			leader[n].Role = kit.Faint
		}
	}
	page.Beside(first, kit.Width(box)+column+2, leader...)
}

// writeDestroy states whether the drain may destroy sessions, and in which case.
func (d *Model) writeDestroy(page *kit.Page) {
	if !d.destroy {
		page.Para(kit.Quiet, "The drain destroys no sessions; x allows it to destroy sessions.")
		return
	}
	page.Para(kit.Vacant, fmt.Sprintf("Destroy is allowed. If a session on %s leads an election after %s, electop destroys this session once, unless the session holds a key that is not part of the drain.",
		d.shownNode(), act.Releases(d.plan.Rounds)))
	d.writeEffects(page, func(i *act.Item) insight.Effect { return i.Last })
}

// writeEffects writes the sentences of [insight.EffectOf] about an action.
func (d *Model) writeEffects(page *kit.Page, of func(*act.Item) insight.Effect) {
	var effects []act.NamedEffect
	for _, i := range d.plan.Planned() {
		effects = append(effects, act.NamedEffect{Name: i.Name(), Effect: of(i)})
	}
	write := func(sign string, role kit.Role, pick func(insight.Effect) []string) {
		for _, text := range act.Sentences(effects, pick, func(names []string) string { return election.NameList(names, shownNames) }) {
			page.Beside([]kit.Span{{role, sign + " "}}, 2, kit.Span{role, text})
		}
	}
	write(page.Sym.Dot, kit.Quiet, func(f insight.Effect) []string { return []string{f.Key, f.Holder, f.Delay} })
	write(page.Sym.Warning, kit.Delay, func(f insight.Effect) []string { return f.Warnings })
}

func (d *Model) writeSkipped(page *kit.Page) {
	for _, i := range d.plan.Items {
		if i.Skip != "" {
			page.Para(kit.Delay, "Skipped "+i.Name()+": "+i.Skip)
			d.writeBetter(page, i.Name(), i.Effect.Better)
		}
	}
}

// writeBetter shows the step-down command of the holder's software.
func (d *Model) writeBetter(page *kit.Page, name, command string) {
	if command != "" {
		page.Field("Better", kit.Span{kit.Accent, scene.Clean(command)}, kit.Span{kit.Quiet, "  for " + name})
	}
}
