package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/crash"
	"electop/internal/drain"
	"electop/ui"
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
func (x *dashboardDrains) plan(ctx context.Context, name, node string, progress func(done, total int)) (ui.DrainPlan, error) {
	c := x.b.in(name)
	if c == nil {
		return ui.DrainPlan{}, errUnknownDatacenter
	}
	w := &warnings{log: x.b.log}
	r := &drainRun{drainCommand: newDrain(deps{stderr: w}), progress: progress, note: x.note}
	p, err := makePlan(ctx, c, r, node)
	if err != nil {
		return ui.DrainPlan{}, errors.New(consulx.Describe(err))
	}
	p.Gaps = append(p.Gaps, w.take()...)
	p.Start = func(choice ui.DrainChoice) ui.Drain {
		r.apply(choice)
		return x.start(c, r, w)
	}
	return p, nil
}

func makePlan(ctx context.Context, c *datacenter, r *drainRun, node string) (ui.DrainPlan, error) {
	client, err := c.connect()
	if err != nil {
		return ui.DrainPlan{}, err
	}
	defer client.Close()
	once, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	patterns := c.observer.Patterns()
	s, err := observe.Once(once, client, patterns)
	if err != nil {
		return ui.DrainPlan{}, err
	}
	r.lookup = lookup{stderr: r.d.stderr, client: client, patterns: patterns, snapshot: s}
	if err := r.makePlan(ctx, []string{node}); err != nil {
		return ui.DrainPlan{}, err
	}
	return r.shown(), nil
}

// shown returns the plan in the form that the dashboard shows.
func (r *drainRun) shown() ui.DrainPlan {
	node := nodeNames(r.plan.Nodes)
	p := ui.DrainPlan{
		Node: node, Course: fmt.Sprintf(
			"electop releases each election at most %d times. If a session on %s acquires the key again, electop releases it again: at first immediately, later after a pause if another node has a likely candidate. An election has moved when a session on another node has led it for %s. At most %d elections move at a time.",
			r.rounds, node, r.settle, drain.Parallel),
		LastResort: fmt.Sprintf("If a session on %s leads an election after %s, electop destroys this session once, unless the session holds a key that is not part of the drain.",
			node, releaseCount(r.rounds)),
	}
	if r.incomplete != "" {
		p.Gaps = append(p.Gaps, r.incomplete)
	}
	for _, i := range r.plan.Items {
		p.Items = append(p.Items, ui.DrainItem{
			Target: i.Target, Name: targetName(i.Target), Watched: i.Watched, Next: nextElsewhere(i), Likely: i.Likely > 0,
			Effect: i.Effect, Last: i.Last, Skip: i.Skip,
		})
	}
	return p
}

// apply sets the options that the user chose in the dialog with the plan.
func (r *drainRun) apply(c ui.DrainChoice) {
	r.destroy = c.Destroy
	for _, item := range r.plan.Planned() {
		if c.Exclude[item.Target.Key] {
			item.Skip = ui.DrainExcluded
		}
	}
}

// start carries out the plan.
func (x *dashboardDrains) start(c *datacenter, r *drainRun, w *warnings) ui.Drain {
	ctx, cancel := context.WithCancel(x.ctx)
	f := &drainFeed{stop: cancel, ready: make(chan struct{}, 1), ended: make(chan struct{}), changes: map[*drain.Item]drain.Result{}}
	crash.Go(&x.running, func() {
		defer cancel()
		results, err := move(ctx, c, r, f)
		f.warning = strings.Join(w.take(), "; ")
		f.end(r, results, err)
	})
	return f
}

func move(ctx context.Context, c *datacenter, r *drainRun, f *drainFeed) ([]drain.Result, error) {
	client, err := c.connect()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	r.client = client
	return r.move(ctx, c.recorder, f.changed)
}

// drainFeed passes the changes of a drain to the dashboard. A slow screen never delays the drain.
type drainFeed struct {
	stop  context.CancelFunc
	ready chan struct{}
	ended chan struct{} // closed after the last change was stored

	mu      sync.Mutex
	changes map[*drain.Item]drain.Result
	last    []ui.DrainStep // last and warning are set before ended is closed
	warning string
}

// changed stores a changed result until Next returns it. It does not block.
func (f *drainFeed) changed(r drain.Result) {
	f.mu.Lock()
	f.changes[r.Item] = r
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// end stores the final results, or the error with which the drain ended.
func (f *drainFeed) end(r *drainRun, results []drain.Result, err error) {
	for _, result := range results {
		f.last = append(f.last, lastStep(result))
	}
	if err != nil {
		for _, item := range r.plan.Planned() {
			step := ui.DrainStep{Key: item.Target.Key, Status: ui.DrainStatus(drain.Failed), Text: consulx.Describe(err)}
			if errors.Is(err, errInterrupted) {
				step.Status, step.Text = ui.DrainInterrupted, "interrupted before any release"
			}
			f.last = append(f.last, step)
		}
	}
	close(f.ended)
}

// Next waits for a change. It returns all changes of one drainInterval together, so that the screen is drawn less
// often.
func (f *drainFeed) Next() (steps []ui.DrainStep, more bool) {
	timer := time.NewTimer(drainInterval)
	defer timer.Stop()
	select {
	case <-f.ready:
		select {
		case <-timer.C:
		case <-f.ended:
		}
	case <-f.ended:
	}
	select {
	case <-f.ended:
		return f.last, false
	default:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.changes {
		steps = append(steps, stepOf(r))
	}
	clear(f.changes)
	return steps, true
}

// Warning returns the reason why the results are uncertain.
func (f *drainFeed) Warning() string { return f.warning }

// Stop ends the drain after the writes in progress.
func (f *drainFeed) Stop() { f.stop() }

// stepOf describes an election of a drain in progress.
func stepOf(r drain.Result) ui.DrainStep {
	step := ui.DrainStep{
		Key: r.Item.Target.Key, Status: ui.DrainStatus(r.Status), Text: drainText(r), Elsewhere: r.Leader.Session != "" && !r.Here,
	}
	switch r.Status {
	case drain.Waiting:
		step.Text = presentLeader(r)
	case drain.Moving:
		step.Text, step.Since = presentLeader(r), r.Since
		if r.Rounds > 0 {
			step.Text = releaseCount(r.Rounds) + pauseText(r) + ", " + step.Text
		}
	case drain.Skipped:
		step.Text = r.Reason
	default:
	}
	return step
}

// lastStep describes an election when the drain has ended.
func lastStep(r drain.Result) ui.DrainStep {
	step := stepOf(r)
	if !r.Status.Final() {
		step.Status, step.Text, step.Since = ui.DrainInterrupted, drainText(r), time.Time{}
	}
	return step
}

// warnings logs the warnings of a drain and keeps them.
type warnings struct {
	log *slog.Logger

	mu    sync.Mutex
	lines []string
}

var _ io.Writer = (*warnings)(nil)

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "electop: ")
		w.log.Warn(line)
		w.lines = append(w.lines, line)
	}
	return len(p), nil
}

// take returns the stored warnings and removes them.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	return lines
}
