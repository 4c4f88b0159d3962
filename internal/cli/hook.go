package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// hookGrace is how long a hook may take to end after SIGTERM.
const hookGrace = 2 * time.Second

// hooks runs a shell command for each event, one after the other and in the order
// of the events. A slow command delays the next one and nothing else: the queue
// has no bound, because no event may be skipped.
type hooks struct {
	d       deps
	command string
	timeout time.Duration // 0 for none
	queue   *eventQueue
}

// run runs the command for every event of the queue until ctx ends.
func (h *hooks) run(ctx context.Context) error {
	for {
		events, err := h.queue.pop(ctx)
		if err != nil {
			return err
		}
		for i, e := range events {
			if ctx.Err() != nil {
				h.reportDropped(len(events) - i + h.queue.drop())
				return ctx.Err()
			}
			h.handle(ctx, e)
		}
	}
}

// handle runs the command for one event. A failure is reported and no more: the
// next event may well succeed.
func (h *hooks) handle(ctx context.Context, e election.Event) {
	err := h.execute(ctx, e)
	if err == nil || ctx.Err() != nil {
		return
	}
	about := string(e.Type)
	if e.Election != "" {
		about += " " + sanitize.Line(e.Election, 40)
	}
	fmt.Fprintf(h.d.stderr, "electop: --exec for %s: %s\n", about, sanitize.Line(err.Error(), 200))
}

func (h *hooks) execute(ctx context.Context, e election.Event) error {
	event, err := jsonLine(e)
	if err != nil {
		return err
	}
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	cmd := exec.Command("sh", "-c", h.command) //nolint:noctx // runGroup ends it with all that it has started
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), stream(h.d.stdout), stream(h.d.stderr)
	err = runGroup(ctx, cmd, hookGrace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("did not end within %s and was killed", h.timeout)
	}
	return err
}

func (h *hooks) reportDropped(n int) {
	if n > 0 {
		fmt.Fprintf(h.d.stderr, "electop: --exec was not run for the last %d events\n", n)
	}
}
