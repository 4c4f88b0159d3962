package act

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	engine "electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// table is the live table of one batch, or the list of all actions.
type table struct {
	scene.Overlay
	log *Log
	// first is the first action of the batch. It is nil if the table lists all actions, each with its kind and time.
	first *action
}

// Show opens the table of the drain in progress, or the list of all actions.
func (l *Log) Show() tea.Cmd {
	if d := l.draining(); d != nil {
		return l.open(l.batchOf(d))
	}
	if len(l.batches) == 0 {
		return l.Do(scene.Say{Role: kit.Quiet, Text: "No actions since electop started."})
	}
	return l.open(nil)
}

// open opens the table of a batch, or of all actions if b is nil.
func (l *Log) open(b batch) tea.Cmd {
	t := &table{log: l}
	if b != nil {
		t.first = b[0]
	}
	t.Sheet = kit.Sheet{Keys: l.keys, Width: 112, Write: t.write, Closed: func() { l.table = nil }}
	cmd := l.Do(scene.Open{Overlay: &t.Overlay})
	l.table = t
	return cmd
}

// batches returns the listed batches, newest first.
func (t *table) batches() []batch {
	all := slices.DeleteFunc(slices.Clone(t.log.batches), func(b batch) bool { return t.first != nil && b[0] != t.first })
	slices.Reverse(all)
	return all
}

func (t *table) write(page *kit.Page) {
	s, batches := t.log.Scene(), t.batches()
	rows := slices.Concat(batches...)
	t.Title = "Actions since electop started"
	var d *drainRun
	if t.first != nil {
		d = t.first.drain
		if t.Title = "Results: " + batches[0].what(); d != nil {
			t.Title = kit.Capital(batches[0].what())
		}
		slices.SortStableFunc(rows, func(a, b *action) int { return cmp.Compare(a.attention(), b.attention()) })
		t.Head = batches[0].progress(page.Sym, page.Width)
	}
	waiting := 0
	for _, b := range batches {
		waiting += b.waiting()
	}
	t.Buttons, t.State = t.buttons(d, rows, waiting), nil
	switch {
	case d != nil && d.stopping && !d.over:
		t.State = []kit.Span{{kit.Delay, "stopping"}}
	case d != nil && d.stopping:
		t.State = []kit.Span{{kit.Delay, "stopped"}}
	case waiting > 0:
		t.State = []kit.Span{{kit.Accent, strconv.Itoa(waiting) + " waiting"}}
	default:
		t.State = []kit.Span{{kit.Quiet, "complete"}}
	}
	if d != nil && d.unverified != "" {
		page.Beside([]kit.Span{{kit.Bad, page.Sym.Warning + " "}}, 2, kit.Span{kit.Bad, kit.Capital(d.unverified) + "."})
	}
	if c := s.Live.In(rows[0].Target.Datacenter).Connection; d != nil && !d.over && c.State != election.Live {
		text := "Consul is unreachable: this data is stale, and the drain waits."
		if c.Refused {
			text = "Consul rejects this token: this data is stale, and the drain will end soon."
		}
		page.Para(kit.Bad, text)
	}
	t.writeRows(page, rows, s)
}

func (t *table) buttons(d *drainRun, rows []*action, waiting int) []kit.Button {
	running := d != nil && !d.over
	label, text := "Close", "Closed; "+t.log.keys.Results.Help().Key+" lists the results again."
	switch {
	case running:
		label, text = "Hide", "The drain continues; "+t.log.keys.Results.Help().Key+" shows it."
	case waiting > 0:
		text = ""
	}
	closes := func() any { return scene.Close{Text: text} }
	all := []kit.Button{{Key: "esc", Label: label, Do: closes}, {Key: t.log.keys.Results.Keys()[0], Do: closes}}
	if running && !d.stopping {
		all = append(all, kit.Button{Key: "x", Hint: "stop", Ask: "Stop the drain?", Do: func() any {
			d.stopping = true
			d.run.Stop()
			return nil
		}})
	}
	if command := t.log.wayBack(rows); command != "" && !running {
		all = append(all, kit.Button{Key: "c", Hint: "copy the way back", Do: func() any { return scene.Copy{What: "command", Text: command} }})
	}
	return all
}

// wayBack returns the command that moves the elections back from their new nodes, or "".
func (l *Log) wayBack(rows []*action) string {
	var moved []engine.Result
	for _, a := range rows {
		now := a.New
		if a.drain != nil {
			now = a.step.Leader
		}
		if a.result() == "moved" && now.Node != "" && !election.SameNode(a.Old().Node, now.Node) {
			moved = append(moved, engine.Result{Item: &engine.Item{Target: a.Target}, Status: engine.Moved, Leader: now})
		}
	}
	return l.Cluster(rows[0].Target.Datacenter).Electop(engine.WayBack(moved))
}

func (t *table) writeRows(page *kit.Page, rows []*action, s *scene.Scene) {
	name, result := 0, 0
	for _, a := range rows {
		name, result = max(name, kit.Width(a.name)), max(result, len(a.result()))
	}
	name = min(name, 24, max(8, page.Width/4))
	for _, a := range rows {
		look := a.look(page.Sym)
		text, _ := kit.Cut(a.name, name, page.Sym.Ellipsis)
		first := []kit.Span{{look.Role, look.Text + " " + kit.PadTo(a.result(), result) + "  "}, {kit.Strong, kit.PadTo(text, name) + "  "}}
		words := kit.Span{look.Role, a.words(s)}
		if t.first == nil {
			first = []kit.Span{
				{kit.Quiet, kit.ClockTime(a.at) + " "}, {look.Role, look.Text + " "}, first[1],
				{kit.Quiet, kit.PadTo(string(a.Action), 7) + "  "}, {kit.Key, kit.PadTo(a.by, 1) + "  "},
			}
		} else { // the result has its own column
			words.Text = strings.TrimPrefix(strings.TrimPrefix(words.Text, a.result()+", "), a.result()+": ")
		}
		if look.Role == kit.Led || look.Role == kit.Accent {
			words.Role = kit.Text // only problems have a colour
		}
		if n := kit.SpansWidth(first); n <= page.Width/2 {
			page.Beside(first, n, words)
			continue
		}
		page.Add(first...)
		page.Indented(2, words)
	}
}

// progress returns a bar and the number of actions with each result.
func (b batch) progress(sym *kit.Symbols, width int) [][]kit.Span {
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
	cells, tally := min(24, width/3), "   "+b.tally()
	if width < 60 {
		tally = ""
	}
	full := cells * over / max(1, total)
	return kit.Flow([]kit.Span{
		{kit.Led, strings.Repeat(sym.LaneLed, full)}, {kit.Faint, strings.Repeat(sym.LaneUnseen, cells-full)},
		{kit.Strong, "  " + strconv.Itoa(over) + " of " + strconv.Itoa(total)}, {kit.Text, tally},
	}, width)
}

func (b batch) waiting() int {
	n := 0
	for _, a := range b {
		if !a.over {
			n++
		}
	}
	return n
}

// what describes a batch: "release 3 elections".
func (b batch) what() string {
	of := ""
	switch {
	case b[0].drain != nil:
		return "drain " + b[0].drain.node
	case b[0].Target.Key == "":
		text := string(b[0].Action) + " " + kit.Plural(len(b.groups()), "session")
		if led := len(b) - len(b.groups()); led > 0 {
			text += " and follow " + kit.Plural(led, "election")
		}
		return text
	case b[0].Action == election.ActionDestroy:
		of = "the sessions of "
		if !slices.ContainsFunc(b, func(a *action) bool { return a.Target.Session != b[0].Target.Session }) {
			of = "the session of "
		}
	}
	return string(b[0].Action) + " " + of + kit.Plural(len(b), "election")
}

// worst returns the action with the most severe outcome.
func (b batch) worst() *action {
	return slices.MinFunc(b, func(x, y *action) int { return cmp.Compare(x.severity(), y.severity()) })
}

// summary describes a batch and its results: "Release 3 elections: 2 moved, 1 failed".
func (b batch) summary() string { return kit.Capital(b.what()) + ": " + b.tally() }

// tally counts the results: "2 moved, 1 failed".
func (b batch) tally() string {
	counts := map[string]int{}
	for _, a := range b {
		counts[a.result()]++
	}
	var parts []string
	for _, result := range []string{"moved", "destroyed", "stayed", "vacant", "unknown", "failed", "interrupted", "moving", "waiting", "skipped"} {
		if n := counts[result]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+result)
		}
	}
	return strings.Join(parts, ", ")
}

// result names the result or state of an action.
func (a *action) result() string {
	switch {
	case a.interrupted():
		return "interrupted"
	case a.drain != nil:
		return string(a.step.Status)
	case !a.over:
		return "waiting"
	}
	switch a.Kind {
	case insight.OutcomeMoved:
		return "moved"
	case insight.OutcomeReturned:
		return "stayed"
	case insight.OutcomeVacant:
		return "vacant"
	case insight.OutcomeDone:
		if a.Target.Key == "" {
			return "destroyed"
		}
		return "unknown"
	case insight.OutcomeUnknown:
		return "unknown"
	default:
		return "failed"
	}
}

// interrupted reports whether the drain ended before the election reached a final state.
func (a *action) interrupted() bool { return a.drain != nil && a.over && !a.step.Status.Final() }

// severity ranks results, problems first: 0 for a failure or an unknown result, 1 for an election that did not move, 2
// for the others.
func (a *action) severity() int {
	switch a.result() {
	case "stayed", "vacant":
		return 1
	case "interrupted":
		if a.step.Leader.Session == "" || a.step.Here {
			return 1
		}
	case "failed", "unknown":
		return 0
	case "waiting":
		if a.Kind == insight.OutcomeUnknown {
			return 0
		}
	}
	return 2
}

// attention ranks the rows of one batch: problems come first, then actions in progress, waiting elections, completed
// actions, and skipped elections.
func (a *action) attention() int {
	switch {
	case a.over && a.severity() < 2:
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

// look returns the symbol and the colour role of an action.
func (a *action) look(sym *kit.Symbols) kit.Span {
	problem := kit.Span{kit.Delay, sym.Warning}
	if a.drain == nil && a.Kind == insight.OutcomeUnknown {
		return kit.Span{kit.Bad, sym.Unknown}
	}
	switch a.result() {
	case "moved", "destroyed":
		return kit.Span{kit.Led, sym.Led}
	case "vacant":
		problem.Text = sym.Vacant
	case "failed":
		return kit.Span{kit.Bad, sym.Critical}
	case "interrupted":
		if a.severity() == 2 {
			return kit.Span{kit.Quiet, sym.Led}
		}
	case "moving":
		return kit.Span{kit.Accent, sym.Connecting}
	case "waiting", "skipped":
		if a.drain != nil {
			return kit.Span{kit.Quiet, sym.Idle}
		}
		return kit.Span{kit.Accent, sym.Connecting}
	}
	return problem
}

// words describes the progress or outcome of an action.
func (a *action) words(s *scene.Scene) string {
	text := a.Summary()
	switch e := s.Live.Find(a.Target.ID()); {
	case a.drain != nil && a.over:
		text = a.step.Text()
	case a.drain != nil:
		text = a.step.Progress()
		if a.step.Status == engine.Moving && !a.step.Since.IsZero() && s.Live.In(a.Target.Datacenter).Connection.State == election.Live {
			text += " for " + kit.Duration(s.Now.Sub(a.step.Since))
		}
	case a.done.IsZero():
		return "waiting for Consul's response"
	case a.Target.Key == "" && a.Kind == insight.OutcomeDone:
		return "destroyed"
	case a.Kind == insight.OutcomeDone && e != nil && (!e.Exists || !e.Pair.Held()): // else the snapshot is older than the action
		text = a.awaiting(e, s.Now)
	case a.Kind != insight.OutcomeUnknown || a.Target.Key == "":
	case e == nil || !e.Exists:
		text += "; the key no longer exists"
	case e.Pair.Held():
		text += "; " + scene.OneLine(e.Leader, 60) + " leads now"
	default:
		text += "; no leader now"
	}
	return strings.ReplaceAll(text, "→", s.Sym.Arrow)
}

// awaiting describes the wait for the next leader.
func (a *action) awaiting(e *election.Election, now time.Time) string {
	text := a.Target.Leader + " → no leader yet, " + kit.Duration(now.Sub(a.done))
	switch left := e.LockDelayUntil.Sub(now); {
	case left > 0:
		text += "; lock-delay for about " + kit.Duration(left+time.Second-1) + " more"
	case e.LockDelayUntil.After(a.at):
		text += "; the lock-delay should have ended"
	}
	if a.Reason != "" {
		text += ": " + scene.Clean(a.Reason)
	}
	if a.Note != "" {
		text += "; " + scene.Clean(a.Note)
	}
	return text
}
