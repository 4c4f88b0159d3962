// Package drain is the dialog for draining a node. The user chooses a node, electop reads the plan, and the user
// confirms the plan.
package drain

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"electop/election"
	"electop/internal/act"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Kind is the name of the action in messages.
const Kind election.ActionKind = "drain"

// Planner plans the drain of a node in a datacenter. It must not run on the event loop. Until it returns, any goroutine
// may call progress with the number of keys that were read.
type Planner func(ctx context.Context, datacenter, node string, progress func(done, total int)) (act.Plan, error)

// Open requests the dialog for a node of a datacenter, or the list of nodes if the name is empty.
type Open struct{ Node, Datacenter string }

// stage is the current step of the dialog.
type stage uint8

const (
	closed stage = iota
	choosing
	reading
	failed
	planned
)

// Model is the dialog. It is closed until the first [Open].
type Model struct {
	keys  keys.Map
	ctx   context.Context //nolint:containedctx // ends the commands with the program, as in past.Reader
	plans Planner         // nil if drains are unavailable

	stage stage
	node  string
	// datacenter is the datacenter of the node. where is " in NAME" if the board shows several datacenters;
	// otherwise it is empty.
	datacenter, where string
	// nodes are the choices. at is the position of the selected node.
	nodes []choice
	at    scene.Cursor
	read  *request // the latest request. It is nil if there is none.
	err   error
	plan  act.Plan
	asOf  time.Time
	// onAction is set while the action button has the focus. At first, Cancel has the focus.
	onAction bool
	// excluded contains the elections that the drain must skip. destroy allows it to destroy sessions.
	excluded map[*act.Item]bool
	destroy  bool
	// line is the position of the cursor in the text. items contains the election of each line, or nil.
	line  int
	items []*act.Item
	// typed is what the user has typed of the number of elections. It is nil while the dialog does not request it.
	typed  *kit.Input
	text   kit.Reader
	notice scene.Notice
}

type choice struct {
	node string
	led  int
}

// New returns a closed dialog. Cancelling ctx ends its commands.
func New(ctx context.Context, plans Planner, k keys.Map) Model {
	return Model{ctx: ctx, plans: plans, keys: k}
}

// Keys returns the key bindings for the footer.
func (d Model) Keys(k keys.Map) []key.Binding {
	switch {
	case d.stage == choosing:
		return k.Menu()
	case d.typed != nil:
		return k.Confirmation()
	case d.lists():
		return k.Plan()
	}
	return k.Dialog(false, false)
}

// countedAbove is the number of elections above which the user confirms the plan with their number.
const countedAbove = 20

// ready reports whether the user can confirm the plan.
func (d *Model) ready() bool { return d.acts() && d.notice.Over() }

// lists reports whether the dialog shows a plan with elections to move. It is also true if the user has excluded all
// of them.
func (d *Model) lists() bool { return d.stage == planned && len(d.plan.Planned()) > 0 }

func (d *Model) acts() bool { return d.lists() && d.kept() > 0 }

// kept returns the number of elections that the drain would move.
func (d *Model) kept() int { return len(d.plan.Planned()) - len(d.excluded) }

// Datacenter returns the datacenter of the node.
func (d Model) Datacenter() string { return d.datacenter }

func (d *Model) open(node string, s *scene.Scene) scene.Action {
	refusal := s.Refusal(Kind)
	if refusal == "" && d.plans == nil {
		refusal = "Unavailable: this dashboard cannot drain a node."
	}
	if refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	if node != "" {
		return scene.All{d.start(node, s), scene.ShowPlan{}}
	}
	d.stage, d.nodes, d.at = choosing, choices(s.Live), scene.Cursor{}
	if len(d.nodes) == 0 {
		d.stage = closed
		return scene.Say{Role: kit.Delay, Text: "No nodes are known. Use :drain NODE for a node whose sessions hold keys outside the patterns."}
	}
	return scene.ShowPlan{}
}

// choices lists the known nodes, sorted by name. Sessions may spell the name of a node differently.
func choices(live *election.Snapshot) []choice {
	led := map[string]int{}
	for node := range live.Checks {
		led[node] = 0
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
	var all []choice
	for _, node := range slices.SortedFunc(maps.Keys(led), byName) {
		if last := len(all) - 1; last >= 0 && election.SameNode(all[last].node, node) {
			all[last].led += led[node]
			continue
		}
		all = append(all, choice{node, led[node]})
	}
	return all
}

func (d *Model) start(node string, s *scene.Scene) scene.Action {
	d.End()
	d.stage, d.node, d.err, d.onAction, d.notice, d.text = reading, node, nil, false, scene.Notice{}, kit.Reader{}
	d.excluded, d.destroy, d.line, d.items, d.typed = map[*act.Item]bool{}, false, -1, nil, nil
	d.asOf = s.Now
	d.read = newRequest(d.ctx)
	return scene.Run{Cmd: d.read.commands(d.plans, d.datacenter, node)}
}

// End cancels the request for the plan and closes the dialog. Callers that close the dialog must call End.
func (d *Model) End() {
	if d.read != nil {
		d.read.cancel()
	}
	d.read, d.stage = nil, closed
}
