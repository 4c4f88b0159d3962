package ui

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// actionMsg is the outcome of one action.
type actionMsg struct {
	of     *batch
	kind   election.ActionKind
	target election.Target
	err    error
}

// batch counts what became of the actions that were confirmed in one dialog.
type batch struct {
	kind                election.ActionKind
	total, done, failed int
	// reason is the first failure, in words.
	reason string
}

// runner makes the command that carries one action of a batch out.
type runner func(b *batch, t election.Target) tea.Cmd

// newRunner binds the operator to the program's context. Each action has its
// own time limit, so the command always ends.
func newRunner(ctx context.Context, op Operator) runner {
	return func(b *batch, t election.Target) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, actionTime)
			defer cancel()
			do := op.Release
			if b.kind == election.ActionDestroy {
				do = op.DestroySession
			}
			return actionMsg{of: b, kind: b.kind, target: t, err: do(ctx, t)}
		}
	}
}

// pending is an action that succeeded and whose next leader is waited for.
type pending struct {
	kind   election.ActionKind
	target election.Target
	done   time.Time
}

// pendingTime is how long a next leader is waited for: longer than the longest
// lock-delay.
const pendingTime = election.MaxLockDelay + 30*time.Second

// act starts the action on each target, one after the other.
func (m *Model) act(kind election.ActionKind, targets []boundTarget) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(targets))
	b := &batch{kind: kind, total: len(targets)}
	for _, t := range targets {
		cmds = append(cmds, m.run(b, t.Target))
	}
	m.say(roleAccent, doing(kind, targets[0].Target)+" "+targetNames(targets))
	return tea.Sequence(cmds...)
}

func targetNames(targets []boundTarget) string {
	switch {
	case len(targets) == 1:
		return object(targets[0].Target)
	case targets[0].Key == "":
		return plural(len(targets), "session")
	}
	return plural(len(targets), "election")
}

// object names what an action is carried out on.
func object(t election.Target) string {
	if t.Key != "" {
		return oneLine(t.Election, 60)
	}
	text := "session " + election.ShortID(t.Session)
	if t.Node != "" {
		text += " on " + oneLine(t.Node, 40)
	}
	return text
}

func doing(kind election.ActionKind, t election.Target) string {
	switch {
	case kind != election.ActionDestroy:
		return "Releasing"
	case t.Key == "":
		return "Destroying"
	}
	return "Destroying the session of"
}

func (p pending) text() string {
	name := object(p.target)
	switch {
	case p.kind != election.ActionDestroy:
		return "Released " + name
	case p.target.Key == "":
		return "Destroyed " + name
	}
	return "Destroyed the session of " + name
}

// acted takes the outcome of an action. The board is not touched: it changes
// when a snapshot says so.
func (m *Model) acted(msg actionMsg) {
	b := msg.of
	if msg.err != nil {
		b.fail(msg)
		m.say(roleBad, b.text(msg.target))
		return
	}
	b.done++
	p := pending{kind: msg.kind, target: msg.target, done: m.opts.Now()}
	wasBad := m.note.role == roleBad && p.done.Before(m.note.until)
	m.note.until = time.Time{} // "Releasing" is over
	switch {
	case b.failed > 0: // a later success must not cover an earlier failure
		m.say(roleBad, b.text(msg.target))
	case wasBad:
		m.say(roleBad, m.note.text)
	}
	if p.target.Key == "" { // nobody is waited for
		if b.failed == 0 {
			m.say(roleLed, b.text(msg.target)+".")
		}
		return
	}
	m.pending = append(m.pending, p)
	m.settle()
}

func (b *batch) fail(msg actionMsg) {
	b.failed++
	if b.reason != "" {
		return
	}
	verb := "release "
	switch {
	case msg.kind == election.ActionDestroy && msg.target.Key == "":
		verb = "destroy "
	case msg.kind == election.ActionDestroy:
		verb = "destroy the session of "
	}
	b.reason = "could not " + verb + object(msg.target) + ": " + oneLine(msg.err.Error(), 300)
}

// text says how far a batch is. t is the target of the latest outcome.
func (b *batch) text(t election.Target) string {
	switch {
	case b.total == 1 && b.failed > 0:
		return capital(b.reason)
	case b.total == 1:
		return pending{kind: b.kind, target: t}.text()
	}
	what, noun := "Released ", "election"
	switch {
	case b.kind == election.ActionDestroy && t.Key == "":
		what, noun = "Destroyed ", "session"
	case b.kind == election.ActionDestroy:
		what = "Destroyed the sessions of "
	}
	text := what + strconv.Itoa(b.done) + " of " + plural(b.total, noun)
	if b.failed == 0 {
		return text
	}
	text += "; " + b.reason
	if b.failed > 1 {
		text += " (and " + plural(b.failed-1, "more failure") + ")"
	}
	return text
}

// settle looks in the newest snapshot for the leaders that are waited for.
func (m *Model) settle() {
	now := m.opts.Now()
	waiting := m.pending[:0]
	for _, p := range m.pending {
		e := m.live.Find(p.target.Key)
		switch {
		case e != nil && succeeded(p.target, e):
			m.say(roleLed, oneLine(e.Leader, 60)+" leads "+oneLine(e.Name, 60)+" "+after(vacancy(p, e)))
		case now.Sub(p.done) > pendingTime:
			m.say(roleDelay, p.text()+": no leader since "+duration(now.Sub(p.done)))
		default:
			waiting = append(waiting, p)
		}
	}
	m.pending = waiting
}

// succeeded reports that the key is held anew since the target's hold: by
// another session, or by the same one in a later term.
func succeeded(t election.Target, e *election.Election) bool {
	if !e.Exists || !e.Pair.Held() {
		return false
	}
	return e.Pair.Session != t.Session || e.Term != t.Term && e.Pair.ModifyIndex > t.ModifyIndex
}

// vacancy is how long nobody led, as the terms have it.
func vacancy(p pending, e *election.Election) time.Duration {
	for i := len(e.Terms) - 1; i > 0; i-- {
		if before := e.Terms[i-1]; before.Session == p.target.Session && before.Over() {
			return max(0, e.Terms[i].Start.Sub(before.End))
		}
	}
	return max(0, e.Since.Sub(p.done))
}

// pendingText says what is waited for, empty when nothing is.
func (m *Model) pendingText(now time.Time) string {
	if len(m.pending) == 0 {
		return ""
	}
	p := m.pending[len(m.pending)-1]
	text := p.text() + ": no leader yet, " + duration(now.Sub(p.done))
	if e := m.live.Find(p.target.Key); e != nil && now.Before(e.LockDelayUntil) {
		text = p.text() + ": lock-delay for about " + duration(e.LockDelayUntil.Sub(now)+time.Second-1) + " more"
	}
	return text
}
