package act

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	engine "electop/internal/act"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Backend reads for the dialogs, and executes their actions. Its methods run off the event loop. Any goroutine may call
// progress until a method returns.
type Backend interface {
	engine.Operator
	// Holdings searches the KV store for keys that the sessions hold. An empty datacenter means all datacenters. complete
	// is false if the token cannot read all keys. After an error, Holdings returns the keys found so far.
	Holdings(ctx context.Context, datacenter string, sessions []string, progress kit.Progress) (keys []election.Pair, complete bool, err error)
	// Diagnose reads the facts about an election of a snapshot and infers its problem.
	Diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) engine.Diagnosis
	// PlanDrain plans the drain of nodes in a datacenter.
	PlanDrain(ctx context.Context, datacenter string, nodes []string, progress kit.Progress) (engine.Plan, error)
	// Cluster returns the connection settings for commands about a datacenter. It does not block.
	Cluster(datacenter string) shell.Cluster
}

// Log contains the operator's actions in this run. Only the event loop may use it, except for Unfinished.
type Log struct {
	Ctx context.Context //nolint:containedctx // ends the calls with the program
	Backend
	Keys keys.Map
	// Survey reads the surroundings of elections. It is nil if they cannot be read.
	Survey func(ctx context.Context, datacenter string, keys []string) []election.Surroundings
	// Scene, Do and Changed are functions of the dashboard and run on the event loop. Do carries out an action. Changed
	// announces the result of an action.
	Scene   func() *scene.Scene
	Do      func(scene.Action) tea.Cmd
	Changed func() tea.Cmd

	batches []*batch // oldest first
	// open is set while a table of results is open.
	open bool

	mu    sync.Mutex
	ended bool // set by Unfinished: no further write starts
}

// batch contains the actions that the user confirmed in one dialog.
type batch struct {
	title string    // "Release 3 elections"
	at    time.Time // time of the confirmation
	all   []*action
	// drain is the drain of which each action is an election, or nil if there is none. node names its nodes.
	drain *engine.Running
	node  string
	// over is set after the last change of the drain. stopping is set after the user has stopped it.
	over, stopping bool
	// unverified says, in one line, what the drain did not verify. It is empty if all results are verified.
	unverified string
}

// action is one confirmed action of the operator and its outcome.
type action struct {
	*engine.Item
	*batch
	name string    // name of the election or session, sanitized
	done time.Time // time when the call to Operator returned, or when the drain ended; zero before that
	// over is set when the outcome is final. started is set when the write has started; Log.mu guards it.
	over, started bool
}

const (
	// nextLeaderTime is the maximum time to wait for the next leader: the longest lock-delay plus the time that a
	// candidate needs to retry.
	nextLeaderTime = election.MaxLockDelay + 30*time.Second
	// destroyTime is the timeout of one destroy, which searches the whole store first.
	destroyTime = 3 * time.Minute
)

// Start runs the confirmed actions one after the other and destroys each session once. If there are several actions,
// it opens their results.
func (l *Log) Start(c scene.Confirm) tea.Cmd {
	s := l.Scene()
	b := &batch{title: titleOf(c.Kind, c.Targets), at: s.Now}
	add := func(t scene.Target) {
		i := &engine.Item{Outcome: engine.Outcome{Action: c.Kind, Target: t.Target}, Next: t.Next, Diagnosis: engine.Diagnosis{Destroy: c.Shown[t.Session]}}
		if e := s.Live.Find(t.ID()); e != nil {
			i.Fixes(e, s.Live.ChecksOf(e))
		}
		b.all = append(b.all, &action{Item: i, batch: b, name: t.Title()})
	}
	led := scene.Led(s.In(c.Targets[0].Datacenter).Live.Elections)
	for _, t := range c.Targets {
		if add(t); t.SessionOnly == nil {
			continue
		}
		// Their next leaders are observed. The session precedes them, so that it is destroyed even if they have changed.
		for _, e := range led[t.Session] {
			add(scene.Target{Target: e.Target(), Where: t.Where})
		}
	}
	l.batches = append(l.batches, b)
	run := l.run(b, engine.Writes(election.Map(b.all, func(a *action) *engine.Item { return a.Item })))
	if len(b.all) == 1 {
		return run
	}
	return tea.Batch(run, l.show(b))
}

// run carries out the first write and then the others.
func (l *Log) run(b *batch, writes [][]*engine.Item) tea.Cmd {
	if len(writes) == 0 {
		return nil
	}
	actions := election.Without(b.all, func(a *action) bool { return !slices.Contains(writes[0], a.Item) })
	return kit.Read(l.Ctx, destroyTime, func(ctx context.Context) kit.Apply {
		var o engine.Outcome
		if l.begin(actions) {
			o = engine.Write(ctx, l, writes[0])
		}
		return func() tea.Cmd {
			for _, a := range actions {
				o.Action, o.Target = a.Action, a.Target
				a.Outcome, a.done = o, l.Scene().Now
				a.over = o.Settled() || o.Target.Key == "" // the board changes only with the next snapshot
			}
			return tea.Batch(l.run(b, writes[1:]), l.notify(b), l.Changed())
		}
	}).Start()
}

// begin reports whether a write may start.
func (l *Log) begin(write []*action) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range write {
		a.started = !l.ended
	}
	return !l.ended
}

// Settle looks for the awaited next leaders in the newest snapshot.
func (l *Log) Settle() tea.Cmd {
	var cmds []tea.Cmd
	for _, b := range l.batches {
		settled := false
		for _, a := range b.all {
			settled = a.follow(l.Scene()) || settled
		}
		if settled {
			cmds = append(cmds, l.notify(b))
		}
	}
	return tea.Batch(cmds...)
}

// follow looks for the next leader in a snapshot. It reports whether the outcome became final.
func (a *action) follow(s *scene.Scene) bool {
	if a.done.IsZero() || a.over {
		return false
	}
	live := s.Live.In(a.Target.Datacenter)
	a.Outcome = a.Follow(live.Find(a.Target.ID()))
	a.over = a.Settled()
	if _, stale := live.StaleSince(a.Target.Key); !a.over && s.Now.Sub(a.done) > nextLeaderTime && !stale {
		a.over, a.Outcome = true, a.Ended(live, s.Now, nextLeaderTime, false)
	}
	return a.over
}

// notify shows the final outcome of a single action in the footer, or the summary of a batch, unless a table is open.
func (l *Log) notify(b *batch) tea.Cmd {
	if b.waiting() > 0 || l.open && len(b.all) > 1 {
		return nil
	}
	role := kit.Led
	for _, a := range b.all {
		switch look, _ := a.look(l.Scene().Sym); {
		case look.Role == kit.Bad, b.unverified != "":
			role = kit.Bad
		case look.Role == kit.Delay && role == kit.Led:
			role = kit.Delay
		}
	}
	return l.Do(scene.Say{Role: role, Text: l.line(b)})
}

// line describes a batch, with the key that lists the results of several actions.
func (l *Log) line(b *batch) string {
	s := l.Scene()
	if len(b.all) == 1 && b.drain == nil {
		text := b.all[0].name + ": " + b.all[0].words(s)
		if l.command(b.all, engine.Force) != "" {
			text += "  " + s.Sym.Dot + "  " + l.Keys.Results.Help().Key + " shows what forces the move"
		}
		return text
	}
	return b.title + ": " + b.tally() + "  " + s.Sym.Dot + "  " + l.Keys.Results.Help().Key + " lists the results"
}

// Pending describes the latest unfinished actions. It returns an empty text if there are none, or if a table is open.
func (l *Log) Pending() (text string) {
	more := 0
	for _, b := range slices.Backward(l.batches) {
		switch n := b.waiting(); {
		case n == 0 || l.open:
		case text == "":
			text = l.line(b)
		default:
			more += n
		}
	}
	if more > 0 {
		text = strconv.Itoa(more) + " other waiting  " + l.Scene().Sym.Dot + "  " + text
	}
	return text
}

// Events returns all actions as lines of the Events view, oldest first. For a drain, the first line describes the whole
// drain. Waiting and skipped elections have no line.
func (l *Log) Events(s *scene.Scene) []scene.EventLine {
	var lines []scene.EventLine
	add := func(b *batch, name string, t election.Target, evidence string) {
		if s.Past == nil || !b.at.After(s.Past.At) {
			lines = append(lines, scene.EventLine{Ev: &election.Event{
				Type: scene.ActionEvent, Time: b.at, Election: name, Key: t.Key, Datacenter: cmp.Or(t.Datacenter, s.Live.Datacenter), Term: t.Term,
				CreateIndex: t.CreateIndex, Leader: t.Leader, Session: t.Session, Node: t.Node, Evidence: evidence,
			}})
		}
	}
	for _, b := range l.batches {
		if b.drain != nil {
			add(b, b.node, election.Target{Datacenter: b.all[0].Target.Datacenter, Node: b.node}, "drain: "+b.tally())
		}
		for _, a := range b.all {
			if a.Kind != engine.OutcomeSkipped && a.Kind != engine.OutcomeWaiting {
				state, words := a.stated(s)
				add(b, a.name, a.Target, string(a.Action)+": "+state+" · "+words)
			}
		}
	}
	return lines
}

// Running describes the writes in progress. It returns "" if there are none.
func (l *Log) Running() string {
	n := 0
	for _, b := range l.batches {
		for _, a := range b.all {
			if a.done.IsZero() && !a.over {
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return kit.Plural(n, "action") + " in progress; press the key again to quit."
}
