package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// action is one operator's action of this run and what became of it.
type action struct {
	election.Outcome
	name string    // of the election or the session, safe to show
	at   time.Time // when the user confirmed it
	done time.Time // when its outcome came, zero before
	// over says that nothing more is awaited.
	over bool
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

// actionMsg is how one action ended.
type actionMsg struct {
	of      *action
	outcome election.Outcome
}

// runner makes the command that carries out one action.
type runner func(a *action) tea.Cmd

// newRunner binds the operator to the program's context. Each action has its
// own time limit, so the command always ends.
func newRunner(ctx context.Context, op Operator) runner {
	return func(a *action) tea.Cmd {
		kind, target := a.Action, a.Target
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, actionTime)
			defer cancel()
			do := op.Release
			if kind == election.ActionDestroy {
				do = op.DestroySession
			}
			return actionMsg{of: a, outcome: do(ctx, target)}
		}
	}
}

// act starts the action on each target, one after the other. A batch shows its
// results in a panel, a single action in the footer.
func (m *Model) act(kind election.ActionKind, targets []boundTarget) tea.Cmd {
	b := m.actions.start(kind, targets, m.opts.Now())
	cmds := make([]tea.Cmd, 0, len(b))
	for _, a := range b {
		cmds = append(cmds, m.run(a))
	}
	if len(b) > 1 {
		m.openResults(b)
	}
	return tea.Sequence(cmds...)
}

// acted takes the outcome of an action. The board is not touched: it changes
// when a snapshot says so.
func (m *Model) acted(msg actionMsg) {
	msg.of.answered(msg.outcome, m.opts.Now())
	if msg.of.over {
		m.tell(msg.of)
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
		m.say(b.worst().role(), b.summary()+"  "+m.sym.dot+"  "+resultsHint)
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
			return b.summary() + "  " + m.sym.dot + "  " + resultsHint
		}
	}
	return ""
}

// start notes actions that the user confirmed.
func (l *actionLog) start(kind election.ActionKind, targets []boundTarget, now time.Time) batch {
	b := make(batch, 0, len(targets))
	for _, t := range targets {
		b = append(b, &action{Outcome: election.Outcome{Action: kind, Target: t.Target}, name: t.title(), at: now})
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

// answered takes what the operator reports. Nothing follows the destroy of a
// session without an election.
func (a *action) answered(o election.Outcome, now time.Time) {
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
	if !a.over && now.Sub(a.done) > nextLeaderTime && live.Connection.State == election.Live {
		a.over = true
		if next.Kind == election.OutcomeDone && (e == nil || !e.Exists || !e.Pair.Held()) {
			next.Kind, next.Reason = election.OutcomeVacant, "none within "+duration(nextLeaderTime)
		}
	}
	a.Outcome = next
	return a.over
}
