package act

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	engine "electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Show opens the table of the drain in progress, or the list of all actions.
func (l *Log) Show() tea.Cmd {
	if len(l.batches) == 0 {
		return l.Do(scene.Say{Role: kit.Quiet, Text: "No actions since electop started."})
	}
	return l.show(l.draining())
}

// Unfinished is a confirmed action without a final outcome.
type Unfinished struct {
	// Name is the sanitized name of the election or session.
	Name    string
	Outcome engine.Outcome
}

// Unfinished lists the actions without a final outcome. Call it after the program has ended. After the call, no
// further action starts.
func (l *Log) Unfinished() (all []Unfinished) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, b := range l.batches {
		for _, a := range b.all {
			o := a.Outcome
			switch {
			case a.over:
				continue
			case a.Kind == engine.OutcomeMoving:
				o.Kind, o.Reason = engine.OutcomeUnknown, "the dashboard ended before a leader was elected on another node"
			case !a.done.IsZero():
			case a.started:
				o.Kind, o.Reason = engine.OutcomeUnknown, "the dashboard ended before "+o.Target.Store.String()+" responded; the action may have been applied"
			default:
				o.Kind, o.Reason = engine.OutcomeFailed, "not started, because the dashboard ended"
			}
			all = append(all, Unfinished{Name: a.name, Outcome: o})
		}
	}
	return all
}

// table is the live table of one batch, or the list of all actions, each with its kind and time.
type table struct {
	scene.Overlay
	*Log
	batch *batch // nil for all actions
}

// shownRows is the maximum number of rows of a table: those with problems are first, or the newest.
const shownRows = 200

// show opens the table of a batch, or of all actions if b is nil.
func (l *Log) show(b *batch) tea.Cmd {
	t := &table{Log: l, batch: b}
	t.Sheet = kit.Sheet{Width: 112, Write: t.write, Closed: func() { l.open = false }}
	cmd := l.Do(&t.Overlay)
	l.open = true
	return cmd
}

func (t *table) write(page *kit.Page) {
	b := cmp.Or(t.batch, &batch{title: "Actions since electop started", over: true})
	rows := slices.Clone(b.all)
	if t.batch == nil {
		for _, each := range slices.Backward(t.batches) {
			rows = append(rows, each.all...)
		}
	} else {
		rank := func(a *action) int {
			_, rank := a.look(page.Sym)
			return rank
		}
		slices.SortStableFunc(rows, func(x, y *action) int { return cmp.Compare(rank(x), rank(y)) })
		t.Head = b.progress(page.Width)
	}
	waiting := (&batch{all: rows}).waiting()
	back, force := "", ""
	if (b.drain == nil || b.over) && (waiting == 0 || len(rows) <= shownRows) { // each response writes the table again
		back, force = t.command(rows, engine.WayBack), t.command(rows, engine.Force)
	}
	t.Title, t.Buttons = b.title, t.buttons(b, waiting, back, force)
	switch {
	case b.stopping && !b.over:
		t.State = kit.Delay.Spans("stopping")
	case b.stopping:
		t.State = kit.Delay.Spans("stopped")
	case waiting > 0 && t.batch == nil:
		t.State = kit.Accent.Spans(strconv.Itoa(waiting) + " waiting")
	default:
		t.State = nil
	}
	if b.unverified != "" {
		page.Beside(kit.Bad.Spans(page.Sym.Warning+" "), 2, kit.Bad.Span(kit.Capital(b.unverified)+"."))
	}
	var stay []string
	for _, a := range b.all {
		if a.Here && b.over {
			stay = append(stay, a.name)
		}
	}
	if stay != nil {
		page.Para(kit.Delay, b.node+" still holds the keys of "+election.NameList(stay, shownHidden)+".")
	}
	t.writeRows(page, rows[:min(len(rows), shownRows)])
	if more := len(rows) - shownRows; more > 0 {
		page.Para(kit.Quiet, "and "+strconv.Itoa(more)+" more.")
	}
	if force != "" {
		page.Blank()
		page.Value("To force", force)
	}
	if back != "" {
		page.Blank()
		page.Value("Way back", back)
		page.Para(kit.Quiet, "Once candidates run there: "+rows[0].Target.Store.String()+" elects the one that acquires first.")
	}
}

func (t *table) buttons(b *batch, waiting int, back, force string) []kit.Button {
	running, key := b.drain != nil && !b.over, t.Keys.Results.Help().Key
	label, text := "Close", "Closed; "+key+" lists the results again."
	switch {
	case running:
		label, text = "Hide", "The drain continues; "+key+" shows it."
	case waiting > 0:
		text = ""
	}
	closes := func() any { return scene.Close{Text: text} }
	all := []kit.Button{{Key: "esc", Label: label, Do: closes}, {Key: t.Keys.Results.Keys()[0], Do: closes}}
	if running && !b.stopping {
		all = append(all, kit.Button{Key: "x", Hint: "stop", Ask: "Stop the drain?", Do: func() any {
			b.stopping = true
			b.drain.Stop()
			return nil
		}})
	}
	copies := func(key, hint, command string) {
		if command != "" {
			all = append(all, kit.Button{Key: key, Hint: hint, Do: func() any { return scene.Copy{What: "command", Text: command} }})
		}
	}
	copies("c", "copy the way back", back)
	copies("C", "copy the forcing command", force)
	return all
}

// command joins the commands about the rows. It returns "" if there are none.
func (l *Log) command(rows []*action, of func([]*engine.Item) []engine.Command) string {
	var items []*engine.Item
	for _, a := range rows {
		i := *a.Item
		switch e := l.Scene().Live.Find(i.Target.ID()); {
		case e != nil && e.Held():
			i.New = engine.Outcome{Target: e.Target()}.Old() // the board also shows what others did since
		case e == nil && (a.drain == nil || i.Watched), e != nil && !e.Exists: // the key was deleted
			continue
		}
		items = append(items, &i)
	}
	return strings.Join(election.Map(of(items), func(c engine.Command) string { return l.Cluster(c.Datacenter).Electop(c.Words()) }), " && ")
}

func (t *table) writeRows(page *kit.Page, rows []*action) {
	s, name, result := t.Scene(), 0, 0
	for _, a := range rows {
		name, result = max(name, kit.Width(a.name)), max(result, len(a.result()))
	}
	name = min(name, 24, max(8, page.Width/3))
	for _, a := range rows {
		look, _ := a.look(page.Sym)
		state, text := a.stated(s)
		first := []kit.Span{{look.Role, look.Text + " " + kit.PadTo(state, result) + "  "}, {kit.Strong, page.Cell(a.name, name) + "  "}}
		if t.batch == nil {
			first = append(kit.Quiet.Spans(kit.ClockTime(a.at)+" "), append(first, kit.Quiet.Span(kit.PadTo(string(a.Action), 7)+"  "))...)
		}
		words := look.Role.Span(text)
		if look.Role == kit.Led || look.Role == kit.Accent {
			words.Role = kit.Text // only problems have a colour
		}
		if n := kit.SpansWidth(first); n <= page.Width/2 {
			page.Beside(first, n, words)
			continue
		}
		page.Add(first...)
		page.Beside(nil, 2, words)
	}
}

// progress returns how many actions are complete, and the number with each result.
func (b *batch) progress(width int) [][]kit.Span {
	total, over := 0, 0
	for _, a := range b.all {
		if a.Kind != engine.OutcomeSkipped {
			total++
			if a.over && a.Final() {
				over++
			}
		}
	}
	return kit.Flow([]kit.Span{{kit.Strong, strconv.Itoa(over) + " of " + strconv.Itoa(total)}, {kit.Text, "   " + b.tally()}}, width)
}

func (b *batch) waiting() (n int) {
	for _, a := range b.all {
		if !a.over {
			n++
		}
	}
	return n
}

// tally counts the results: "2 moved, 1 failed".
func (b *batch) tally() string {
	var results []engine.Outcome
	for _, a := range b.all {
		results = append(results, engine.Outcome{Kind: engine.OutcomeKind(a.result())})
	}
	text := engine.Tally(results)
	if b.unverified != "" {
		text += "; " + b.unverified
	}
	return text
}

// result names the result or state of an action, as on the command line.
func (a *action) result() string {
	switch {
	case a.drain != nil && a.over && !a.Final(): // the drain ended first
		return "interrupted"
	case a.drain == nil && !a.over:
		return "waiting"
	case a.Kind != engine.OutcomeDone:
		return string(a.Kind)
	case a.Target.Key == "":
		return "destroyed"
	}
	return "unknown"
}

// look returns the symbol and the colour role of an action, and its rank in a batch: problems come first, then actions
// in progress, waiting elections, completed actions, and skipped elections.
func (a *action) look(sym *kit.Symbols) (look kit.Span, rank int) {
	if a.Kind == engine.OutcomeUnknown {
		return kit.Bad.Span(sym.Unknown), 0
	}
	switch result := a.result(); {
	case result == "moved", result == "destroyed":
		return kit.Led.Span(sym.Led), 3
	case result == "vacant":
		return kit.Delay.Span(sym.Vacant), 0
	case result == "interrupted" && a.New.Session != "" && !a.Here:
		return kit.Quiet.Span(sym.Led), 3
	case result == "interrupted", result == "stayed", result == "same_leader", result == "skipped" && a.Better != "": // it still leads
		return kit.Delay.Span(sym.Warning), 0
	case result == "skipped":
		return kit.Quiet.Span(sym.Dot), 4
	case result == "waiting" && a.drain != nil:
		return kit.Quiet.Span(sym.Dot), 2
	case result == "waiting", result == "moving":
		return kit.Accent.Span(sym.Connecting), 1
	}
	return kit.Bad.Span(sym.Critical), 0
}

// words describes the progress or outcome of an action.
func (a *action) words(s *scene.Scene) string {
	text := a.Summary()
	switch e := s.Live.Find(a.Target.ID()); {
	case a.drain != nil && a.over:
	case a.drain != nil:
		text = a.Progress()
		if a.Kind == engine.OutcomeMoving && !a.Since.IsZero() && s.Live.In(a.Target.Datacenter).Connection.State == election.Live {
			if text += " for " + s.Ago(a.Since); !a.Here && a.New.Session != "" {
				text += " of " + engine.Defaults().Settle.String()
			}
		}
	case a.done.IsZero():
		return "waiting for " + a.Target.Store.String() + "'s response"
	case a.Target.Key == "" && a.Kind == engine.OutcomeDone:
		return "destroyed"
	case a.Kind == engine.OutcomeDone && e != nil && !e.Held(): // else the snapshot is older than the action
		text = a.Target.Leader + " → no leader yet, " + election.BriefDuration(s.Now.Sub(a.done))
		if left := e.LockDelayUntil.Sub(s.Now); left > 0 {
			text += "; lock-delay for about " + election.Remaining(left) + " more"
		}
		if a.Reason != "" {
			text += ": " + scene.Clean(a.Reason)
		}
		if a.Note != "" {
			text += "; " + scene.Clean(a.Note)
		}
	case a.Kind != engine.OutcomeUnknown || a.over || a.Target.Key == "":
	case e == nil || !e.Exists:
		text += "; the key no longer exists"
	case e.Pair.Held():
		text += "; " + scene.Short(e.Leader) + " leads now"
	default:
		text += "; no leader now"
	}
	return strings.ReplaceAll(text, "→", s.Sym.Arrow)
}

// stated returns the result or state of an action, and its description without this result.
func (a *action) stated(s *scene.Scene) (state, words string) {
	state = strings.ReplaceAll(a.result(), "_", " ")
	return state, strings.TrimPrefix(strings.TrimPrefix(a.words(s), state+", "), state+": ")
}
