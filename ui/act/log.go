package act

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	engine "electop/internal/act"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Operator executes actions. A method does nothing if the hold in the target has changed.
type Operator interface {
	// Release unlocks the key. It keeps the value, the flags and the session.
	Release(ctx context.Context, t election.Target) insight.Outcome
	// DestroySession destroys the session and ends all its holds.
	DestroySession(ctx context.Context, d election.Destroy) insight.Outcome
}

// Program contains what the log needs of the dashboard. The functions run on the event loop.
type Program struct {
	Scene func() *scene.Scene
	// Do carries out an action. Changed announces the result of an action.
	Do      func(scene.Action) tea.Cmd
	Changed func() tea.Cmd
	// Cluster holds the connection settings for the commands that the user copies, by datacenter.
	Cluster func(datacenter string) shell.Cluster
}

// Log contains the operator's actions in this run. Only the event loop may use it, except for Unfinished.
type Log struct {
	ctx  context.Context //nolint:containedctx // ends the calls with the program
	op   Operator
	keys keys.Map
	Program
	batches []batch // oldest first
	newest  map[election.ID]*action
	// table is the open list of results. It is nil if none is open.
	table *table

	mu    sync.Mutex
	ended bool // set by Unfinished: no further write starts
}

// action is one confirmed action of the operator and its outcome.
type action struct {
	insight.Outcome
	name string    // name of the election or session, sanitized
	at   time.Time // time when the user confirmed the action
	done time.Time // time when the call to Operator returned, or when the drain ended; zero before that
	by   string    // the key or command with which the user chose the targets
	// shown is what the user was shown about a session to destroy.
	shown election.Destroy
	ended time.Time // time when the outcome became final
	// over is set when the outcome is final. started is set when the write has started; Log.mu guards it.
	over, started bool
	// drain is the drain of this election, or nil if there is none. step is the state of the election in this drain.
	drain *drainRun
	step  engine.Result
}

// batch contains the actions that the user confirmed in one dialog.
type batch []*action

// drainRun is a confirmed drain. Each of its elections is an action of one batch.
type drainRun struct {
	node string
	run  engine.Running
	// over is set after the last change. stopping is set after the user has stopped the drain.
	over, stopping bool
	// unverified says, in one line, what is not verified. It is empty if all results are verified.
	unverified string
}

const (
	// actionLimit is the maximum number of stored actions. Above this limit, the log drops its oldest batches.
	actionLimit = 2000
	// nextLeaderTime is the maximum time to wait for the next leader: the longest lock-delay plus the time that a
	// candidate needs to retry.
	nextLeaderTime = election.MaxLockDelay + 30*time.Second
	// followedTime is the duration for which the row of an election shows the result of an action.
	followedTime = 30 * time.Second
	// The timeouts of one release and of one destroy, which searches the whole store first.
	releaseTime, destroyTime = 10 * time.Second, 3 * time.Minute
)

// NewLog returns an empty log. Cancelling ctx cancels the calls to op.
func NewLog(ctx context.Context, op Operator, k keys.Map, p Program) *Log {
	return &Log{ctx: ctx, op: op, keys: k, Program: p, newest: map[election.ID]*action{}}
}

// Start runs the confirmed actions one after the other and destroys each session once. If there are several actions,
// it opens their results.
func (l *Log) Start(c scene.Confirm) tea.Cmd {
	s := l.Scene()
	var b batch
	for _, t := range withElections(c.Targets, s.Live) {
		b = append(b, &action{
			Outcome: insight.Outcome{Action: c.Kind, Target: t.Target}, name: t.Title(), at: s.Now, by: c.By, shown: c.Shown[t.Session],
		})
	}
	l.add(b)
	run := l.run(b.groups())
	if len(b) == 1 {
		return run
	}
	return tea.Batch(run, l.open(b))
}

// withElections adds the elections led by the sessions that are to be destroyed, so that their next leaders are
// observed. Each session precedes its elections, so that it is destroyed even if the elections have changed.
func withElections(targets []scene.Target, live *election.Snapshot) []scene.Target {
	led := scene.Led(live.Elections)
	var all []scene.Target
	for _, t := range targets {
		all = append(all, t)
		if t.SessionOnly == nil {
			continue
		}
		for _, e := range led[t.Session] {
			all = append(all, scene.Target{Target: e.Target(), Where: t.Where})
		}
	}
	return all
}

// groups splits a batch into one group per write: each release, and each destroyed session.
func (b batch) groups() []batch {
	if b[0].drain != nil {
		return []batch{b}
	}
	var groups []batch
	of := map[string]int{}
	for _, a := range b {
		i, found := of[a.Target.Session]
		if !found || a.Action != election.ActionDestroy {
			i = len(groups)
			of[a.Target.Session], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	return groups
}

// run runs the write of the first group and then those of the others. The actions of a group share one outcome.
func (l *Log) run(groups []batch) tea.Cmd {
	if len(groups) == 0 {
		return nil
	}
	group := groups[0]
	first := group[0]
	limit, write := releaseTime, func(ctx context.Context) insight.Outcome { return l.op.Release(ctx, first.Target) }
	if first.Action == election.ActionDestroy {
		shown := first.shown
		shown.Target = first.Target
		limit, write = destroyTime, func(ctx context.Context) insight.Outcome { return l.op.DestroySession(ctx, shown) }
	}
	_, cmd := kit.Read(l.ctx, limit, func(ctx context.Context, _ func(int, int)) (o insight.Outcome, err error) {
		if l.begin(group) {
			o = write(ctx)
		}
		return o, nil
	}, func(o insight.Outcome, _ error) tea.Cmd {
		cmd := l.answered(group, o)
		return tea.Batch(l.run(groups[1:]), cmd)
	})
	return cmd
}

// begin reports whether a write may start.
func (l *Log) begin(group batch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range group {
		a.started = !l.ended
	}
	return !l.ended
}

// answered stores the outcome of a write. For a target without a key, it is final. The board changes only with the next
// snapshot.
func (l *Log) answered(group batch, o insight.Outcome) tea.Cmd {
	now := l.Scene().Now
	var cmds []tea.Cmd
	for _, a := range group {
		o.Action, o.Target = a.Action, a.Target
		a.Outcome, a.done = o, now
		if a.over = o.Settled() || o.Target.Key == ""; a.over {
			a.ended = now
			cmds = append(cmds, l.notify(a))
		}
	}
	return tea.Batch(append(cmds, l.Changed())...)
}

// Settle looks for the awaited next leaders in the newest snapshot.
func (l *Log) Settle() tea.Cmd {
	var cmds []tea.Cmd
	for _, b := range l.batches {
		for _, a := range b {
			if a.follow(l.Scene()) {
				cmds = append(cmds, l.notify(a))
			}
		}
	}
	return tea.Batch(cmds...)
}

// follow looks for the next leader in a snapshot. It reports whether the outcome became final.
func (a *action) follow(s *scene.Scene) bool {
	if a.done.IsZero() || a.over {
		return false
	}
	e := s.Live.Find(a.Target.ID())
	next := a.Follow(e)
	a.over = next.Settled()
	if _, stale := s.Live.In(a.Target.Datacenter).StaleSince(a.Target.Key); !a.over && s.Now.Sub(a.done) > nextLeaderTime && !stale {
		a.over = true
		if next.Kind == insight.OutcomeDone && (e == nil || !e.Exists || !e.Pair.Held()) {
			next.Kind, next.Reason = insight.OutcomeVacant, "no candidate acquired the key within "+kit.Duration(nextLeaderTime)
		}
	}
	a.Outcome = next
	if a.over {
		a.ended = s.Now
	}
	return a.over
}

// notify shows the outcome of a single action in the footer. For a batch it shows the summary after the last outcome,
// unless the table is open.
func (l *Log) notify(a *action) tea.Cmd {
	s := l.Scene()
	i := slices.IndexFunc(l.batches, func(b batch) bool { return slices.Contains(b, a) })
	switch {
	case i < 0:
	case len(l.batches[i]) == 1:
		return l.Do(scene.Say{Role: a.look(s.Sym).Role, Text: a.name + ": " + a.words(s)})
	case l.table == nil && l.batches[i].waiting() == 0:
		return l.Do(scene.Say{Role: l.batches[i].worst().look(s.Sym).Role, Text: l.batches[i].summary() + l.hint(s)})
	}
	return nil
}

// hint names the key that lists the results.
func (l *Log) hint(s *scene.Scene) string {
	return "  " + s.Sym.Dot + "  " + l.keys.Results.Help().Key + " lists the results"
}

func (l *Log) add(b batch) {
	l.batches = append(l.batches, b)
	n := 0
	for _, b := range l.batches {
		n += len(b)
	}
	for ; n > actionLimit && len(l.batches) > 1 && l.batches[0].waiting() == 0; l.batches = l.batches[1:] {
		n -= len(l.batches[0])
	}
	for _, a := range b {
		if a.Target.Key != "" && a.drain == nil { // a drain has its own table
			l.newest[a.Target.ID()] = a
		}
	}
}

// StartDrain begins a drain and opens its live table.
func (l *Log) StartDrain(c scene.Drain) tea.Cmd {
	d := &drainRun{node: c.Plan.NodesText(), run: c.Plan.Start(c.Destroy)}
	var b batch
	for _, i := range c.Plan.Items {
		b = append(b, d.action(i, l.Scene().Now))
	}
	l.add(b)
	return tea.Batch(l.next(d), l.open(b))
}

// action returns the action for one election of the drain.
func (d *drainRun) action(i *engine.Item, at time.Time) *action {
	a := &action{
		Outcome: insight.Outcome{Action: drainKind, Target: i.Target}, name: i.Name(), at: at, drain: d,
		step: engine.Result{Item: i, Status: engine.Waiting}, over: i.Skip != "",
	}
	if a.step.Leader = a.Old(); a.over {
		a.step.Status, a.step.Reason = engine.Skipped, i.Skip
	}
	return a
}

// next waits for the next changes of a drain.
func (l *Log) next(d *drainRun) tea.Cmd {
	more := false
	_, cmd := kit.Read(l.ctx, 0, func(context.Context, func(int, int)) (changes []engine.Result, err error) {
		changes, more = d.run.Next()
		return changes, nil
	}, func(changes []engine.Result, _ error) tea.Cmd {
		if l.stepped(d, changes); more {
			return l.next(d)
		}
		return l.drained(d)
	})
	return cmd
}

// stepped stores the changed elections of a drain.
func (l *Log) stepped(d *drainRun, changes []engine.Result) {
	at := slices.IndexFunc(l.batches, func(b batch) bool { return b[0].drain == d })
	b := l.batches[at]
	for _, r := range changes {
		i := slices.IndexFunc(b, func(a *action) bool { return a.Target.Key == r.Item.Target.Key })
		if i < 0 { // the node acquired this election during the drain
			i = len(b)
			b = append(b, d.action(r.Item, l.Scene().Now))
		}
		b[i].step, b[i].over = r, r.Status.Final()
	}
	l.batches[at] = b
}

// drained ends a drain.
func (l *Log) drained(d *drainRun) tea.Cmd {
	s, b := l.Scene(), l.batchOf(d)
	d.over = true
	if unverified := d.run.Unverified(); unverified != "" {
		d.unverified = "not verified whether " + d.node + " leads an election: " + unverified
	}
	for _, a := range b {
		a.over, a.done = true, s.Now
	}
	if l.table != nil {
		return nil
	}
	role, text := b.worst().look(s.Sym).Role, b.summary()
	if d.unverified != "" {
		role, text = kit.Bad, text+"; "+d.unverified
	}
	return l.Do(scene.Say{Role: role, Text: text + l.hint(s)})
}

// batchOf returns the elections of a drain.
func (l *Log) batchOf(d *drainRun) batch {
	for _, b := range l.batches {
		if b[0].drain == d {
			return b
		}
	}
	return nil
}

// draining returns the drain in progress, or nil if there is none.
func (l *Log) draining() *drainRun {
	for _, b := range l.batches {
		if d := b[0].drain; d != nil && !d.over {
			return d
		}
	}
	return nil
}

// Draining reports whether a drain is in progress.
func (l *Log) Draining() bool { return l.draining() != nil }

// Followed describes the newest action on an election for the election's row: "released" or "destroyed" until a leader
// is elected, and after that the time without a leader.
func (l *Log) Followed(now time.Time) func(e *election.Election) string {
	return func(e *election.Election) string {
		a, held := l.newest[e.ID()], e.Exists && e.Pair.Held()
		switch {
		case a == nil || a.done.IsZero():
		case !a.over && !held && a.Kind == insight.OutcomeDone:
			return map[election.ActionKind]string{election.ActionRelease: "released", election.ActionDestroy: "destroyed"}[a.Action]
		case !a.over || !held || e.Pair.Session != a.New.Session || now.Sub(a.ended) >= followedTime:
		case a.VacancyKnown:
			return election.AfterVacancy(a.Vacancy)
		case a.Vacancy > 0:
			return "after at most " + election.FormatDuration(a.Vacancy)
		}
		return ""
	}
}

// Pending describes the latest unfinished actions. It returns an empty text if there are none, or if the table is open.
func (l *Log) Pending(s *scene.Scene) string {
	if l.table != nil {
		return ""
	}
	text, more := "", 0
	for _, b := range slices.Backward(l.batches) {
		switch n := b.waiting(); {
		case n == 0:
		case text != "":
			more += n
		case len(b) == 1 && b[0].drain == nil:
			text = b[0].name + ": " + b[0].words(s)
		default:
			text = b.summary() + l.hint(s)
		}
	}
	if more > 0 {
		text = strconv.Itoa(more+1) + " actions waiting" + strings.Replace(l.hint(s), "the results", "them", 1) + "  " + s.Sym.Dot + "  " + text
	}
	return text
}

// Events returns all actions as lines of the Events view, oldest first. For a drain, the first line describes the whole
// drain. Waiting and skipped elections have no line.
func (l *Log) Events(s *scene.Scene) []scene.EventLine {
	var lines []scene.EventLine
	add := func(ev *election.Event) {
		ev.Type, ev.Datacenter = scene.ActionEvent, cmp.Or(ev.Datacenter, s.Live.Datacenter)
		if s.Past == nil || !ev.Time.After(s.Past.At) {
			lines = append(lines, scene.EventLine{Ev: ev})
		}
	}
	for _, b := range l.batches {
		if d := b[0].drain; d != nil {
			text := "drain: " + b.tally()
			if d.unverified != "" {
				text += "; " + d.unverified
			}
			add(&election.Event{Time: b[0].at, Election: d.node, Datacenter: b[0].Target.Datacenter, Node: d.node, Evidence: text})
		}
		for _, a := range b {
			if a.drain == nil || a.step.Status != engine.Skipped && a.step.Status != engine.Waiting {
				add(&election.Event{
					Time: a.at, Election: a.name, Key: a.Target.Key, Datacenter: a.Target.Datacenter, Term: a.Target.Term, CreateIndex: a.Target.CreateIndex,
					Leader: a.Target.Leader, Session: a.Target.Session, Node: a.Target.Node, Evidence: string(a.Action) + ": " + a.words(s),
				})
			}
		}
	}
	return lines
}

// Running describes the writes in progress. It returns "" if there are none.
func (l *Log) Running() string {
	n, noun := 0, ""
	for _, b := range l.batches {
		for _, group := range b.groups() { // each group is one write
			if a := group[0]; a.done.IsZero() {
				if n++; noun == "" {
					noun = string(a.Action)
				}
				if noun != string(a.Action) {
					noun = "action"
				}
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun + " is still running; press the key again to quit."
	}
	return kit.Plural(n, noun) + " are still running; press the key again to quit."
}

// Unfinished is a confirmed action without a final outcome.
type Unfinished struct {
	// Name is the sanitized name of the election or session.
	Name    string
	Outcome insight.Outcome
}

// Unfinished lists the actions without a final outcome. Call it after the program has ended. After the call, no
// further action starts.
func (l *Log) Unfinished() []Unfinished {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	var all []Unfinished
	for _, a := range slices.Concat(l.batches...) {
		o := a.Outcome
		switch {
		case a.over:
			continue
		case a.drain != nil && a.step.Status == engine.Moving:
			o.Kind, o.Reason = insight.OutcomeUnknown, "the dashboard ended before a leader was elected on another node"
		case a.drain != nil:
			o.Kind, o.Reason = insight.OutcomeFailed, "not released, because the dashboard ended"
		case !a.done.IsZero():
		case !a.started:
			o.Kind, o.Reason = insight.OutcomeFailed, "not started, because the dashboard ended"
		default:
			o.Kind, o.Reason = insight.OutcomeUnknown, "the dashboard ended before Consul responded; the action may have been applied"
		}
		all = append(all, Unfinished{Name: a.name, Outcome: o})
	}
	return all
}
