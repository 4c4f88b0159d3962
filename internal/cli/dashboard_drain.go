package cli

import (
	"context"
	"errors"
	"io"

	"electop/consulx"
	"electop/internal/act"
	"electop/internal/crash"
)

// PlanDrain implements [ui.Backend]. A drain has its own client and observer, because the dashboard's observer does not
// read keys outside the patterns.
func (b *dashboard) PlanDrain(ctx context.Context, name, node string, progress func(done, total int)) (act.Plan, error) {
	c, err := b.find(name)
	if err != nil {
		return act.Plan{}, err
	}
	d := &drainer{
		lookup:  lookup{deps: deps{stderr: io.Discard}, store: c.store.Consistently(), patterns: c.Patterns()},
		Options: act.Defaults(), note: c.Note, searching: progress, connection: func(string) {},
	}
	if err := d.makePlan(ctx, []string{node}); err != nil {
		return act.Plan{}, errors.New(consulx.Describe(err))
	}
	d.plan.Start = func(destroy bool) *act.Running {
		d.plan.Destroy = destroy
		return b.startDrain(c, d)
	}
	return d.plan, nil
}

// startDrain carries out the plan. A slow screen never delays the drain.
func (b *dashboard) startDrain(c *datacenter, d *drainer) *act.Running {
	ctx, cancel := context.WithCancel(b.ctx)
	changes, ended := newQueue[act.Outcome](), make(chan struct{})
	var last []act.Outcome
	var unverified error
	crash.Go(&b.drains, func() {
		defer cancel()
		defer close(ended) // after last and unverified were set
		client, err := consulx.NewClient(c.of.consul)
		if err != nil {
			last, unverified = act.NewRunner(d.plan, nil).Results(), err
			return
		}
		defer client.Close()
		d.store, d.changed = consul{client.Consistently()}, func(r act.Outcome) { changes.push([]act.Outcome{r}) }
		last, unverified = d.execute(ctx, c.recorder)
	})
	return &act.Running{Stop: cancel, Next: func() ([]act.Outcome, string, bool) {
		select {
		case <-ended:
			return last, consulx.Describe(unverified), false
		case <-changes.filled:
			return changes.take(), "", true
		}
	}}
}
