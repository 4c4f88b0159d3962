package results

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

const drainKind election.ActionKind = "drain"

// drainRun is a confirmed drain. Each of its elections is an action of one batch.
type drainRun struct {
	node string
	run  act.Running
	// over is set after the last change. stopping is set after the user has stopped the drain.
	over, stopping bool
	// unverified says, in one line, what is not verified. It is empty if all results are verified.
	unverified string
}

// Stepped is the message with the changed elections of a drain.
type Stepped struct {
	of      *drainRun
	changes []act.Result
	more    bool
}

func (d *drainRun) next() tea.Msg {
	changes, more := d.run.Next()
	return Stepped{d, changes, more}
}

// suffix returns what is not verified as a suffix for a text, or "".
func (d *drainRun) suffix() string {
	if d.unverified == "" {
		return ""
	}
	return "; " + d.unverified
}

// StartDrain begins a drain and opens its live table.
func (l Log) StartDrain(c scene.Drain, s *scene.Scene) (Log, scene.Action) {
	d := &drainRun{node: c.Plan.NodesText(), run: c.Plan.Start(c.Destroy)}
	b := make(batch, 0, len(c.Plan.Items))
	for _, i := range c.Plan.Items {
		b = append(b, d.action(i, s.Now))
	}
	l.add(b)
	l.openOne(b)
	return l, scene.All{scene.Run{Cmd: d.next}, scene.ShowResults{}}
}

// action returns the action for one election of the drain.
func (d *drainRun) action(i *act.Item, at time.Time) *action {
	a := &action{
		Outcome: insight.Outcome{Action: drainKind, Target: i.Target}, name: i.Name(), at: at, claimed: new(atomic.Bool), drain: d,
		step: act.Result{Item: i, Status: act.Waiting}, over: i.Skip != "",
	}
	a.step.Leader = a.Old()
	if a.claimed.Store(true); a.over {
		a.step.Status, a.step.Reason = act.Skipped, i.Skip
	}
	return a
}

func (l *Log) stepped(msg Stepped, s *scene.Scene) scene.Action {
	b := l.draining()
	if b == nil || b[0].drain != msg.of {
		return nil
	}
	for _, r := range msg.changes {
		i := slices.IndexFunc(b, func(a *action) bool { return a.Target.Key == r.Item.Target.Key })
		if i < 0 { // the node acquired this election during the drain
			i = len(b)
			b = append(b, msg.of.action(r.Item, s.Now))
		}
		b[i].step, b[i].over = r, r.Status.Final()
	}
	for _, shown := range [][]batch{l.batches, l.panel.batches} {
		for i := range shown {
			if shown[i][0] == b[0] {
				shown[i] = b
			}
		}
	}
	if msg.more {
		return scene.Run{Cmd: msg.of.next}
	}
	msg.of.over = true
	if unverified := msg.of.run.Unverified(); unverified != "" {
		msg.of.unverified = "not verified whether " + msg.of.node + " leads an election: " + unverified
	}
	for _, a := range b {
		a.over, a.done = true, s.Now
	}
	if l.open {
		return nil
	}
	role := b.worst().look(s.Sym).Role
	if msg.of.unverified != "" {
		role = kit.Bad
	}
	return scene.Say{Role: role, Text: b.summary() + msg.of.suffix() + "  " + s.Sym.Dot + "  " + l.hint()}
}

// draining returns the batch of the drain in progress, or nil if there is none.
func (l *Log) draining() batch {
	for _, b := range l.batches {
		if b[0].drain != nil && !b[0].drain.over {
			return b
		}
	}
	return nil
}

// Draining returns the node of the drain in progress, or "" if there is none.
func (l Log) Draining() string {
	if b := l.draining(); b != nil {
		return b[0].drain.node
	}
	return ""
}

// stepWords describes the state of an election in a drain. It adds the age of the state while electop is connected to
// the datacenter.
func (a *action) stepWords(s *scene.Scene) string {
	if a.over {
		return a.step.Text()
	}
	text := a.step.Progress()
	if a.step.Status == act.Moving && !a.step.Since.IsZero() && s.Live.In(a.Target.Datacenter).Connection.State == election.Live {
		text += " for " + kit.Duration(s.Now.Sub(a.step.Since))
	}
	return text
}

// interrupted reports whether the drain ended before the election reached a final state.
func (a *action) interrupted() bool { return a.drain != nil && a.over && !a.step.Status.Final() }

// ledElsewhere reports whether a session on another node leads.
func (a *action) ledElsewhere() bool { return a.step.Leader.Session != "" && !a.step.Here }

// stepLook returns the symbol and the colour role of an election in a drain.
func (a *action) stepLook(sym *kit.Symbols) kit.Span {
	switch {
	case a.interrupted() && a.ledElsewhere():
		return kit.Span{kit.Quiet, sym.Led}
	case a.interrupted():
		return kit.Span{kit.Delay, sym.Warning}
	}
	switch a.step.Status {
	case act.Moved:
		return kit.Span{kit.Led, sym.Led}
	case act.Moving:
		return kit.Span{kit.Accent, sym.Connecting}
	case act.Vacant:
		return kit.Span{kit.Delay, sym.Vacant}
	case act.Stayed:
		return kit.Span{kit.Delay, sym.Warning}
	case act.Failed:
		return kit.Span{kit.Bad, sym.Critical}
	default:
		return kit.Span{kit.Quiet, sym.Idle}
	}
}

// stepOrder ranks the states of a drain in the same way as [action.outcomeOrder]: problems come first.
func (a *action) stepOrder() int {
	switch {
	case a.step.Status == act.Failed:
		return 0
	case a.step.Status == act.Stayed, a.step.Status == act.Vacant, a.interrupted() && !a.ledElsewhere():
		return 1
	}
	return 2
}

// unfinished returns the outcome for an election of a drain that was in progress when the program ended.
func (a *action) unfinished() insight.Outcome {
	o := a.Outcome
	o.Kind, o.Reason = insight.OutcomeFailed, "not released, because the dashboard ended"
	if a.step.Status == act.Moving {
		o.Kind, o.Reason = insight.OutcomeUnknown, "the dashboard ended before a leader was elected on another node"
	}
	return o
}

// events returns the lines about the batch in the Events view. For a drain, the first line describes the whole drain.
// Waiting and skipped elections have no line.
func (b batch) events(s *scene.Scene) []*election.Event {
	var all []*election.Event
	if d := b[0].drain; d != nil {
		all = append(all, &election.Event{
			Time: b[0].at, Type: scene.ActionEvent, Election: d.node, Datacenter: cmp.Or(b[0].Target.Datacenter, s.Live.Datacenter), Node: d.node, Evidence: "drain: " + b.tally() + d.suffix(),
		})
	}
	for _, a := range b {
		if a.drain == nil || a.step.Status != act.Skipped && a.step.Status != act.Waiting {
			all = append(all, a.event(s))
		}
	}
	return all
}
