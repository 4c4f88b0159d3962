package results

import (
	"cmp"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/plan"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

const drainKind election.ActionKind = "drain"

// drain is a confirmed drain. Each of its elections is an action of one batch.
type drain struct {
	node string
	run  plan.Drain
	// over is set after the last change. stopping is set after the user has stopped the drain.
	over, stopping bool
	warning        string
}

// Stepped is the message with the changed elections of a drain.
type Stepped struct {
	of    *drain
	steps []plan.Step
	more  bool
}

func (d *drain) next() tea.Msg {
	steps, more := d.run.Next()
	return Stepped{d, steps, more}
}

// doubt returns the warning as a suffix for a text, or "" if there is none.
func (d *drain) doubt() string {
	if d.warning == "" {
		return ""
	}
	return "; " + d.warning
}

// StartDrain begins a drain and opens its live table.
func (l Log) StartDrain(p plan.Plan, s *scene.Scene) (Log, scene.Action) {
	d := &drain{node: p.Node, run: p.Start(p.Choice)}
	b := make(batch, 0, len(p.Items))
	for _, i := range p.Items {
		a := &action{
			Outcome: insight.Outcome{Action: drainKind, Target: i.Target}, name: i.Name, at: s.Now, claimed: new(atomic.Bool),
			drain: d, step: plan.Step{Status: plan.Waiting, Text: "led by " + scene.OneLine(i.Target.Leader, 60)},
		}
		a.claimed.Store(true)
		if i.Skip != "" {
			a.step, a.over = plan.Step{Status: plan.Skipped, Text: i.Skip}, true
		}
		b = append(b, a)
	}
	l.add(b)
	l.openOne(b)
	return l, scene.All{scene.Run{Cmd: d.next}, scene.ShowResults{}}
}

func (l *Log) stepped(msg Stepped, s *scene.Scene) scene.Action {
	b := l.draining()
	if b == nil || b[0].drain != msg.of {
		return nil
	}
	steps := make(map[string]plan.Step, len(msg.steps))
	for _, step := range msg.steps {
		steps[step.Key] = step
	}
	for _, a := range b {
		if step, changed := steps[a.Target.Key]; changed {
			a.step, a.over = step, step.Status.Final()
		}
	}
	if msg.more {
		return scene.Run{Cmd: msg.of.next}
	}
	msg.of.over, msg.of.warning = true, msg.of.run.Warning()
	for _, a := range b {
		a.over, a.done = true, s.Now
	}
	if l.open {
		return nil
	}
	return scene.Say{Role: b.worst().look(s.Sym).Role, Text: b.summary() + msg.of.doubt() + "  " + s.Sym.Dot + "  " + l.hint()}
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
	text := a.step.Text
	if !a.over && !a.step.Since.IsZero() && s.Live.In(a.Target.Datacenter).Connection.State == election.Live {
		text += " for " + term.Duration(s.Now.Sub(a.step.Since))
	}
	return text
}

// stepLook returns the symbol and the colour role of an election in a drain.
func (a *action) stepLook(sym *term.Symbols) term.Span {
	if a.step.Status == plan.Interrupted && a.step.Elsewhere {
		return term.Span{term.Quiet, sym.Led}
	}
	switch a.step.Status {
	case plan.Moved:
		return term.Span{term.Led, sym.Led}
	case plan.Moving:
		return term.Span{term.Accent, sym.Connecting}
	case plan.Vacant:
		return term.Span{term.Delay, sym.Vacant}
	case plan.Stayed, plan.Interrupted:
		return term.Span{term.Delay, sym.Warning}
	case plan.Failed:
		return term.Span{term.Bad, sym.Critical}
	default:
		return term.Span{term.Quiet, sym.Idle}
	}
}

// stepOrder ranks the states of a drain in the same way as [action.outcomeOrder]: problems come first.
func (a *action) stepOrder() int {
	switch {
	case a.step.Status == plan.Failed:
		return 0
	case a.step.Status == plan.Interrupted && a.step.Elsewhere:
		return 2
	case a.step.Status == plan.Stayed, a.step.Status == plan.Vacant, a.step.Status == plan.Interrupted:
		return 1
	}
	return 2
}

// unfinished returns the outcome for an election of a drain that was in progress when the program ended.
func (a *action) unfinished() insight.Outcome {
	o := a.Outcome
	o.Kind, o.Reason = insight.OutcomeFailed, "not released, because the dashboard ended"
	if a.step.Status == plan.Moving {
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
			Time: b[0].at, Type: scene.ActionEvent, Election: d.node, Datacenter: cmp.Or(b[0].Target.Datacenter, s.Live.Datacenter), Node: d.node, Evidence: "drain: " + b.tally() + d.doubt(),
		})
	}
	for _, a := range b {
		if a.drain == nil || a.step.Status != plan.Skipped && a.step.Status != plan.Waiting {
			all = append(all, a.event(s))
		}
	}
	return all
}
