package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/internal/crash"
)

// dashboardDrains plans and runs the drains that the user starts in the dashboard. Each drain has its own client and
// observer, because the dashboard's observer does not read keys outside the patterns.
type dashboardDrains struct {
	b       dashboard
	note    func(election.OperatorAction)
	ctx     context.Context //nolint:containedctx // ends the drains with the dashboard
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newDashboardDrains(ctx context.Context, b dashboard, note func(election.OperatorAction)) *dashboardDrains {
	x := &dashboardDrains{b: b, note: note}
	x.ctx, x.cancel = context.WithCancel(ctx)
	return x
}

// close stops the drain in progress and waits for its writes.
func (x *dashboardDrains) close() {
	x.cancel()
	x.running.Wait()
}

// plan predicts the effects of a drain of a node.
func (x *dashboardDrains) plan(ctx context.Context, name, node string, progress func(done, total int)) (act.Plan, error) {
	c, err := x.b.in(name)
	if err != nil {
		return act.Plan{}, err
	}
	client, err := c.connect()
	if err != nil {
		return act.Plan{}, errors.New(consulx.Describe(err))
	}
	defer client.Close()
	d := &drainer{
		lookup:  lookup{stderr: io.Discard, client: client.Consistently(), patterns: c.Patterns()},
		Options: act.Defaults(), note: x.note, searching: progress,
	}
	if err := d.makePlan(ctx, []string{node}); err != nil {
		return act.Plan{}, errors.New(consulx.Describe(err))
	}
	d.plan.Start = func(destroy bool) act.Running {
		d.plan.Destroy = destroy
		return x.start(c, d)
	}
	return d.plan, nil
}

// start carries out the plan.
func (x *dashboardDrains) start(c *datacenter, d *drainer) act.Running {
	ctx, cancel := context.WithCancel(x.ctx)
	f := &drainFeed{stop: cancel, ready: make(chan struct{}, 1), ended: make(chan struct{})}
	crash.Go(&x.running, func() {
		defer cancel()
		defer close(f.ended)
		client, err := c.connect()
		if err != nil {
			f.last, f.unverified = act.NewRunner(d.plan, nil).Results(), err
			return
		}
		defer client.Close()
		d.client = client.Consistently()
		f.last, f.unverified = d.execute(ctx, c.recorder, f.changed, func(string) {})
	})
	return f
}

// drainInterval is the minimum time between two updates of a drain in the dashboard.
const drainInterval = 100 * time.Millisecond

// drainFeed passes the changes of a drain to the dashboard. A slow screen never delays the drain.
type drainFeed struct {
	stop  context.CancelFunc
	ready chan struct{}
	ended chan struct{} // closed after last and unverified were set

	mu         sync.Mutex
	changes    []act.Result
	last       []act.Result
	unverified error
}

// changed stores a changed result until Next returns it. It does not block.
func (f *drainFeed) changed(r act.Result) {
	f.mu.Lock()
	f.changes = append(f.changes, r)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// Next waits for a change. It returns all changes of one drainInterval together, so that the screen is drawn less
// often.
func (f *drainFeed) Next() (changes []act.Result, more bool) {
	timer := time.NewTimer(drainInterval)
	defer timer.Stop()
	select {
	case <-f.ready:
	case <-f.ended:
	}
	select {
	case <-timer.C:
	case <-f.ended:
		return f.last, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	changes, f.changes = f.changes, nil
	return changes, true
}

// Unverified returns why it is not verified that no session on the node leads an election.
func (f *drainFeed) Unverified() string { return consulx.Describe(f.unverified) }

// Stop ends the drain after the writes in progress.
func (f *drainFeed) Stop() { f.stop() }
