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
	c, err := b.Find(name)
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
	d.plan.Start = func(destroy bool) act.Running {
		d.plan.Destroy = destroy
		return b.startDrain(c, d)
	}
	return d.plan, nil
}

// startDrain carries out the plan.
func (b *dashboard) startDrain(c *datacenter, d *drainer) act.Running {
	ctx, cancel := context.WithCancel(b.ctx)
	f := &drainFeed{stop: cancel, changes: newQueue[act.Outcome](), ended: make(chan struct{})}
	crash.Go(&b.drains, func() {
		defer cancel()
		defer close(f.ended)
		client, err := consulx.NewClient(c.of.consul)
		if err != nil {
			f.last, f.unverified = act.NewRunner(d.plan, nil).Results(), err
			return
		}
		defer client.Close()
		d.store, d.changed = consul{client.Consistently()}, func(r act.Outcome) { f.changes.push([]act.Outcome{r}) }
		f.last, f.unverified = d.execute(ctx, c.recorder)
	})
	return f
}

// drainFeed passes the changes of a drain to the dashboard. A slow screen never delays the drain.
type drainFeed struct {
	stop       context.CancelFunc
	changes    *queue[act.Outcome]
	ended      chan struct{} // closed after last and unverified were set
	last       []act.Outcome
	unverified error
}

// Next waits for changes.
func (f *drainFeed) Next() (changes []act.Outcome, more bool) {
	select {
	case <-f.ended:
		return f.last, false
	case <-f.changes.filled:
		return f.changes.take(), true
	}
}

// Unverified returns why it is not verified that no session on the node leads an election.
func (f *drainFeed) Unverified() string { return consulx.Describe(f.unverified) }

// Stop ends the drain after the writes in progress.
func (f *drainFeed) Stop() { f.stop() }
