package ui

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/term"
)

// action is one operator's action of this run and what became of it.
type action struct {
	insight.Outcome
	name string    // of the election or the session, safe to show
	at   time.Time // when the user confirmed it
	done time.Time // when its outcome came, zero before
	// over says that nothing more is awaited.
	over bool
	// claimed is shared by the actions that one command carries out. The first to
	// set it is that command, or the end of the program: then it never starts.
	claimed *atomic.Bool
}

// batch are the actions that were confirmed in one dialog.
type batch []*action

// actionLog is every action of this run, oldest first.
type actionLog struct{ batches []batch }

// actionLimit is how many actions are kept. The oldest batches go first.
const actionLimit = 2000

// nextLeaderTime is how long a next leader is awaited: the longest lock-delay
// and time for a candidate to retry.
const nextLeaderTime = election.MaxLockDelay + 30*time.Second

// actionMsg is how the actions of one command ended.
type actionMsg []answer

// answer is the outcome of one action.
type answer struct {
	of      *action
	outcome insight.Outcome
}

// runner makes the command that carries out one action, or the destroy of one
// session for several.
type runner func(group batch) tea.Cmd

// newRunner binds the operator to the program's context. Each command has its
// own time limit, so it always ends.
func newRunner(ctx context.Context, op Operator) runner {
	return func(group batch) tea.Cmd {
		kind, claimed := group[0].Action, group[0].claimed
		targets := make([]election.Target, 0, len(group))
		for _, a := range group {
			targets = append(targets, a.Target)
		}
		return func() tea.Msg {
			if !claimed.CompareAndSwap(false, true) {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, actionTime)
			defer cancel()
			do := op.Release
			if kind == election.ActionDestroy {
				do = op.DestroySession
			}
			msg := make(actionMsg, 0, len(group))
			for i, outcome := range actOnce(ctx, do, targets) {
				msg = append(msg, answer{of: group[i], outcome: outcome})
			}
			return msg
		}
	}
}

// actOnce gives an outcome to each of several holds of one session. A hold that
// changed does not save the session from a destroy that is bound to the next one.
func actOnce(ctx context.Context, do func(context.Context, election.Target) insight.Outcome, targets []election.Target) []insight.Outcome {
	outcomes := make([]insight.Outcome, 0, len(targets))
	var last insight.Outcome
	for i, t := range targets {
		if i == 0 || last.Kind == insight.OutcomeChanged {
			last = do(ctx, t)
		}
		outcomes = append(outcomes, last)
	}
	return outcomes
}

// act starts the action on each target, one after the other; a session is
// destroyed once. A batch shows its results in a panel, a single action in the
// footer.
func (m *Model) act(kind election.ActionKind, targets []boundTarget) tea.Cmd {
	b := m.actions.start(kind, targets, m.opts.Now())
	var cmds []tea.Cmd
	for _, group := range b.groups() {
		cmds = append(cmds, m.run(group))
	}
	if len(b) > 1 {
		m.openResults(b)
	}
	return tea.Sequence(cmds...)
}

// withElections adds the elections that destroyed sessions lead: their next leaders
// are followed. The session stands before them, so that it is destroyed whatever
// it holds by then.
func (d *dialog) withElections(targets []boundTarget, live *election.Snapshot) []boundTarget {
	if !d.bare {
		return targets
	}
	held := holdsOf(live, targets)
	var all []boundTarget
	for _, t := range targets {
		all = append(all, t)
		for _, e := range held[t.Session] {
			all = append(all, boundTarget{Target: e.Target()})
		}
	}
	return all
}

// acted takes the outcomes of actions. The board is not touched: it changes
// when a snapshot says so.
func (m *Model) acted(msg actionMsg) {
	for _, x := range msg {
		if x.of.answered(x.outcome, m.opts.Now()); x.of.over {
			m.tell(x.of)
		}
	}
	m.settle()
	m.refreshView()
}

// settle looks in the newest snapshot for the leaders that are awaited.
func (m *Model) settle() {
	now := m.opts.Now()
	for _, b := range m.actions.batches {
		for _, a := range b {
			if a.follow(m.live, now) {
				m.tell(a)
			}
		}
	}
}

// tell says in the footer how an action ended; of a batch only the last one, and
// not while its results are open.
func (m *Model) tell(a *action) {
	b := m.actions.batchOf(a)
	switch {
	case len(b) == 1:
		m.say(a.role(), a.name+": "+a.words(m.sym, m.live, m.opts.Now()))
	case m.mode != modeResults && b.waiting() == 0:
		m.say(b.worst().role(), b.summary()+"  "+m.sym.Dot+"  "+resultsHint)
	}
}

const resultsHint = "u lists the results"

// pendingText says what is awaited, empty when nothing is.
func (m *Model) pendingText(now time.Time) string {
	for _, b := range slices.Backward(m.actions.batches) {
		switch {
		case b.waiting() == 0:
		case len(b) == 1:
			return b[0].name + ": " + b[0].words(m.sym, m.live, now)
		default:
			return b.summary() + "  " + m.sym.Dot + "  " + resultsHint
		}
	}
	return ""
}

// start notes actions that the user confirmed.
func (l *actionLog) start(kind election.ActionKind, targets []boundTarget, now time.Time) batch {
	b := make(batch, 0, len(targets))
	for _, t := range targets {
		b = append(b, &action{Outcome: insight.Outcome{Action: kind, Target: t.Target}, name: t.title(), at: now, claimed: new(atomic.Bool)})
	}
	for _, group := range b.groups() {
		for _, a := range group {
			a.claimed = group[0].claimed
		}
	}
	l.batches = append(l.batches, b)
	for l.count() > actionLimit && len(l.batches) > 1 && l.batches[0].waiting() == 0 {
		l.batches = l.batches[1:]
	}
	return b
}

func (l *actionLog) count() int {
	n := 0
	for _, b := range l.batches {
		n += len(b)
	}
	return n
}

func (l *actionLog) batchOf(a *action) batch {
	for _, b := range l.batches {
		if slices.Contains(b, a) {
			return b
		}
	}
	return nil
}

func (l *actionLog) waiting() bool {
	return slices.ContainsFunc(l.batches, func(b batch) bool { return b.waiting() > 0 })
}

// waiting counts the actions whose end is not known.
func (b batch) waiting() int {
	n := 0
	for _, a := range b {
		if !a.over {
			n++
		}
	}
	return n
}

// groups splits a batch into what one command carries out: a release, or the
// destroy of a session, which is one for all of its elections.
func (b batch) groups() []batch {
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

// answered takes what the operator reports. Nothing follows the destroy of a
// session without an election.
func (a *action) answered(o insight.Outcome, now time.Time) {
	o.Action, o.Target = a.Action, a.Target
	a.Outcome, a.done = o, now
	a.over = o.Settled() || o.Target.Key == ""
}

// follow looks for the next leader and reports whether this ended the action.
func (a *action) follow(live *election.Snapshot, now time.Time) bool {
	if a.done.IsZero() || a.over {
		return false
	}
	e := live.Find(a.Target.Key)
	next := a.Follow(e)
	a.over = next.Settled()
	if _, stale := live.StaleSince(a.Target.Key); !a.over && now.Sub(a.done) > nextLeaderTime && !stale {
		a.over = true
		if next.Kind == insight.OutcomeDone && (e == nil || !e.Exists || !e.Pair.Held()) {
			next.Kind, next.Reason = insight.OutcomeVacant, "none within "+term.Duration(nextLeaderTime)
		}
	}
	a.Outcome = next
	return a.over
}
