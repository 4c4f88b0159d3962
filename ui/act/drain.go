package act

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	engine "electop/internal/act"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// drainKind is the name of the action in messages.
const drainKind election.ActionKind = "drain"

// Planner plans the drain of a node in a datacenter. It must not run on the event loop. Until it returns, any goroutine
// may call progress with the number of keys that were read.
type Planner func(ctx context.Context, datacenter, node string, progress func(done, total int)) (engine.Plan, error)

// drain is the dialog about the drain of a node: electop reads the plan, and the user confirms it.
type drain struct {
	scene.Overlay
	s     *scene.Scene    // of the node's datacenter
	ctx   context.Context //nolint:containedctx // ends the read with the program
	plans Planner

	datacenter, node string
	err              error
	plan             *engine.Plan // nil until it is read
	asOf             time.Time
	// excluded contains the elections that the drain must skip. destroy allows it to destroy sessions. full shows the
	// effects and how the drain proceeds.
	excluded      map[*engine.Item]bool
	destroy, full bool
}

// Drain opens the plan for a node, or the list of nodes if the name is empty. s is the scene of the datacenter.
func Drain(ctx context.Context, plans Planner, datacenter, node string, k keys.Map, s *scene.Scene) scene.Action {
	if refusal := s.Refusal(drainKind); refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	where := ""
	if s.Several() {
		where = " in " + scene.OneLine(datacenter, 40)
	}
	if node == "" {
		return nodeMenu(s, where, k, func(node string) any { return Drain(ctx, plans, datacenter, node, k, s) })
	}
	d := &drain{s: s, ctx: ctx, plans: plans, datacenter: datacenter, node: node}
	d.Sheet = kit.Sheet{Title: "Drain " + scene.OneLine(node, 40) + where, Keys: k, Width: 100, Menu: true, Write: d.write}
	d.Update = func(s *scene.Scene) scene.Action {
		d.s = s.In(datacenter)
		return nil
	}
	return scene.Open{Overlay: &d.Overlay, Cmd: d.start()}
}

// nodeMenu opens a menu of the known nodes.
func nodeMenu(s *scene.Scene, where string, k keys.Map, chosen func(node string) any) scene.Action {
	nodes := nodesOf(s.Live)
	if len(nodes) == 0 {
		return scene.Say{Role: kit.Delay, Text: "No nodes are known. Use :drain NODE for a node whose sessions hold keys outside the patterns."}
	}
	column := 0
	for _, n := range nodes {
		column = max(column, kit.Width(scene.OneLine(n.name, 60)))
	}
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Drain a node" + where, Keys: k, Width: 100, Menu: true}}
	o.Buttons = []kit.Button{{Key: "enter", Label: "Plan", Hint: "choose", Do: func() any { return chosen(nodes[max(0, o.Chosen())].name) }}, {Key: "esc", Hint: "cancel"}}
	o.Write = func(page *kit.Page) {
		for i, n := range nodes {
			role := kit.Text
			if n.led == 0 {
				role = kit.Quiet
			}
			page.Add(kit.Span{role, kit.PadTo(scene.OneLine(n.name, 60), min(column, page.Width/2)) + "  "}, kit.Span{role, "leads " + kit.Plural(n.led, "election")})
			o.Row(page, i)
		}
		o.Foot = [][]kit.Span{{{kit.Quiet, "Other nodes: :drain NODE"}}}
	}
	return scene.Open{Overlay: o}
}

type node struct {
	name string
	led  int
}

// nodesOf lists the known nodes, sorted by name. Sessions may spell the name of a node differently.
func nodesOf(live *election.Snapshot) []node {
	led := map[string]int{}
	for name := range live.Checks {
		led[name] = 0
	}
	if live.SessionList != nil {
		for _, session := range live.SessionList.Sessions {
			led[session.Node] = 0
		}
	}
	for _, e := range live.Elections {
		for _, term := range e.Terms {
			led[term.Node] += 0
		}
		if e.Exists && e.Pair.Held() && e.Session != nil {
			led[e.Session.Node]++
		}
	}
	delete(led, "")
	byName := func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(b, a))
	}
	var all []node
	for _, name := range slices.SortedFunc(maps.Keys(led), byName) {
		if last := len(all) - 1; last >= 0 && election.SameNode(all[last].name, name) {
			all[last].led += led[name]
			continue
		}
		all = append(all, node{name, led[name]})
	}
	return all
}

// start reads the plan.
func (d *drain) start() (cmd tea.Cmd) {
	d.Task.Cancel()
	d.Top()
	d.plan, d.err, d.excluded, d.destroy, d.asOf = nil, nil, map[*engine.Item]bool{}, false, d.s.Now
	d.Task, cmd = kit.Read(d.ctx, 0, func(ctx context.Context, progress func(int, int)) (engine.Plan, error) {
		return d.plans(ctx, d.datacenter, d.node, progress)
	}, func(plan engine.Plan, err error) tea.Cmd {
		d.Top()
		if d.err = err; err == nil {
			d.plan = &plan
		}
		return nil
	})
	return cmd
}

// todo lists the elections to move, including the excluded ones.
func (d *drain) todo() []*engine.Item {
	if d.plan == nil {
		return nil
	}
	return d.plan.Planned()
}

// kept returns the number of elections that the drain would move.
func (d *drain) kept() int { return len(d.todo()) - len(d.excluded) }

func (d *drain) buttons() []kit.Button {
	closes := kit.Button{Key: "esc", Label: "Close"}
	refresh := kit.Button{Key: "r", Hint: "refresh", Do: func() any { return scene.Run{Cmd: d.start()} }}
	cancel := kit.Button{Key: "esc", Label: "Cancel", Hint: "cancel", Do: func() any { return scene.Close{Text: cancelled} }}
	switch {
	case d.Task.Running():
		return []kit.Button{cancel}
	case len(d.todo()) == 0:
		return []kit.Button{closes, refresh}
	}
	word := "drain " + kit.Plural(d.kept(), "election")
	if n := len(d.excluded); n > 0 {
		word = "drain " + strconv.Itoa(d.kept()) + " of " + kit.Plural(d.kept()+n, "election")
	}
	destroy, details := "allow destroy", "details"
	if d.destroy {
		destroy = "forbid destroy"
	}
	if d.full {
		details = "fewer details"
	}
	all := []kit.Button{
		cancel, {Key: "y", Label: "Drain", Hint: word, Acts: true, Count: d.kept(), Do: d.confirm},
		{Key: "space", Hint: "exclude", Do: d.toggle},
		{Key: "x", Hint: destroy, Do: func() any { d.destroy = !d.destroy; return nil }},
		{Key: "a", Hint: details, Do: func() any { d.full = !d.full; return nil }}, refresh,
	}
	if d.kept() == 0 {
		all[0].Label, all = "Close", slices.Delete(all, 1, 2)
		d.State = []kit.Span{{kit.Delay, "All elections are excluded."}}
	}
	return all
}

// toggle excludes the election under the cursor, or includes it again.
func (d *drain) toggle() any {
	if i := d.Chosen(); i >= 0 {
		item := d.todo()[i]
		if d.excluded[item] {
			delete(d.excluded, item)
		} else {
			d.excluded[item] = true
		}
	}
	return nil
}

func (d *drain) confirm() any {
	if refusal := d.s.Refusal(drainKind); refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	for item := range d.excluded {
		item.Skip = "excluded in the plan"
	}
	return scene.Drain{Plan: *d.plan, Destroy: d.destroy}
}

// write writes what moves, the elections with their likely next leaders, and the warnings. Many elections come last, so
// that the user sees the warnings first.
func (d *drain) write(page *kit.Page) {
	d.Edge, d.State = kit.Accent, nil
	d.Buttons = d.buttons()
	todo := d.todo()
	switch many := len(todo) > kit.Counted; {
	case d.Task.Running():
		page.Para(kit.Accent, "Reading the elections and sessions, and searching the store: "+d.Task.Far()+".")
	case d.err != nil:
		page.Para(kit.Bad, "Cannot plan the drain: "+scene.Clean(d.err.Error()))
	default:
		d.writeSummary(page, todo)
		if !many {
			d.writeItems(page, todo)
		}
		d.writeEffects(page, todo)
		d.writeSkipped(page)
		if many {
			page.Blank()
			d.writeItems(page, todo)
		}
	}
}

// writeSummary writes how many elections the plan moves and how many it skips.
func (d *drain) writeSummary(page *kit.Page, todo []*engine.Item) {
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
}

// writeItems writes the elections to move as rows of the menu.
func (d *drain) writeItems(page *kit.Page, todo []*engine.Item) {
	const nameWidth, leaderWidth = 24, 20
	column := 0
	for _, i := range todo {
		column = max(column, kit.Width(scene.OneLine(i.Name(), nameWidth)))
	}
	column = min(column, max(8, page.Width/4))
	d.Row(page, -1)
	for n, i := range todo {
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
		d.Row(page, n)
	}
}

// writeEffects writes the warnings, whether the drain may destroy sessions and, in full, the course of the drain and
// each sentence of [insight.EffectOf].
func (d *drain) writeEffects(page *kit.Page, todo []*engine.Item) {
	sentences := func(sign string, role kit.Role, of func(*engine.Item) insight.Effect, pick func(insight.Effect) []string) {
		var effects []engine.NamedEffect
		for _, i := range todo {
			effects = append(effects, engine.NamedEffect{Name: i.Name(), Effect: of(i)})
		}
		for _, text := range engine.Sentences(effects, pick, func(names []string) string { return election.NameList(names, shownNames) }) {
			page.Beside([]kit.Span{{role, sign + " "}}, 2, kit.Span{role, text})
		}
	}
	release, destroy := func(i *engine.Item) insight.Effect { return i.Effect }, func(i *engine.Item) insight.Effect { return i.Last }
	all := func(f insight.Effect) []string { return []string{f.Key, f.Holder, f.Delay} }
	warnings := func(f insight.Effect) []string { return f.Warnings }
	if len(todo) == 0 {
		return
	}
	page.Blank()
	sentences(page.Sym.Warning, kit.Delay, release, warnings)
	node := scene.OneLine(d.node, 40)
	if d.full {
		page.Para(kit.Text, fmt.Sprintf(
			"electop releases each election at most %d times. If a session on %s acquires the key again, electop releases it again: at first immediately, later after a pause if another node has a likely candidate. An election has moved when a session on another node has led it for %s. At most %d elections move at a time.",
			d.plan.Rounds, node, d.plan.Settle, engine.Parallel))
		sentences(page.Sym.Dot, kit.Quiet, release, all)
	}
	if d.destroy {
		d.Edge = kit.Vacant
		page.Para(kit.Vacant, fmt.Sprintf("Destroy is allowed. If a session on %s leads an election after %s, electop destroys this session once, unless the session holds a key that is not part of the drain.",
			node, engine.Releases(d.plan.Rounds)))
		sentences(page.Sym.Dot, kit.Quiet, destroy, all)
		sentences(page.Sym.Warning, kit.Delay, destroy, warnings)
	} else {
		page.Para(kit.Quiet, "The drain destroys no sessions; x allows it to destroy sessions.")
	}
	for _, i := range todo {
		writeBetter(page, i)
	}
}

func (d *drain) writeSkipped(page *kit.Page) {
	for _, i := range d.plan.Items {
		if i.Skip != "" {
			page.Para(kit.Delay, "Skipped "+i.Name()+": "+i.Skip)
			writeBetter(page, i)
		}
	}
}

// writeBetter shows the step-down command of the holder's software.
func writeBetter(page *kit.Page, i *engine.Item) {
	if i.Effect.Better != "" {
		page.Field("Better", kit.Span{kit.Accent, scene.Clean(i.Effect.Better)}, kit.Span{kit.Quiet, "  for " + i.Name()})
	}
}
