package drain

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/internal/act"
	"electop/ui/scene"
)

// request is one request for a plan. The command of the request writes the counters. Only the event loop may use the
// other fields.
type request struct {
	ctx         context.Context //nolint:containedctx // of the commands of one request
	cancel      context.CancelFunc
	done, total atomic.Int64
	over        bool
}

func newRequest(ctx context.Context) *request {
	r := &request{}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// Planned is the message with the result of a request for a plan.
type Planned struct {
	of   *request
	plan act.Plan
	err  error
}

// Tick is the message that redraws the progress of a request.
type Tick struct{ of *request }

// tickTime is the interval between redraws of the progress.
const tickTime = 200 * time.Millisecond

// commands returns the commands that read the plan and redraw the progress.
func (r *request) commands(plans Planner, datacenter, node string) tea.Cmd {
	return tea.Batch(func() tea.Msg {
		defer r.cancel()
		p, err := plans(r.ctx, datacenter, node, func(done, total int) {
			r.total.Store(int64(total))
			r.done.Store(int64(done))
		})
		return Planned{r, p, err}
	}, r.tick())
}

// tick returns the command for the next redraw. It returns nil after the end of the request.
func (r *request) tick() tea.Cmd {
	if r.over {
		return nil
	}
	return tea.Tick(tickTime, func(time.Time) tea.Msg { return Tick{r} })
}

// Awaits returns the message that enables the confirmation. It returns nil if none is needed.
func (d Model) Awaits() *scene.Noticed {
	if d.stage != planned {
		return nil
	}
	return d.notice.Awaits()
}
