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
	"electop/internal/procgroup"
	"electop/internal/stream"
)

// execGrace is the time from SIGTERM to SIGKILL.
const execGrace = 2 * time.Second

// execRunner runs the command of --exec for each event, one at a time. A slow command
// delays only the next one: the queue is unbounded, because no event may be skipped.
type execRunner struct {
	d       deps
	command string
	timeout time.Duration // 0 for none
	queue   *eventQueue
}

// run runs the command for every event of the queue until ctx ends.
func (r *execRunner) run(ctx context.Context) error {
	for {
		events, err := r.queue.pop(ctx)
		if err != nil {
			return err
		}
		for i, e := range events {
			if ctx.Err() != nil {
				r.reportDropped(len(events) - i + r.queue.drop())
				return ctx.Err()
			}
			r.handle(ctx, e)
		}
	}
}

// handle runs the command for one event. It reports a failure and continues: the
// command may succeed for the next event.
func (r *execRunner) handle(ctx context.Context, e election.Event) {
	err := r.execute(ctx, e)
	if err == nil || ctx.Err() != nil {
		return
	}
	about := string(e.Type)
	if e.Election != "" {
		about += " " + sanitize.Line(e.Election, 40)
	}
	fmt.Fprintf(r.d.stderr, "electop: --exec for %s: %s\n", about, sanitize.Line(err.Error(), 200))
}

func (r *execRunner) execute(ctx context.Context, e election.Event) error {
	event, err := jsonLine(e)
	if err != nil {
		return err
	}
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	cmd := exec.Command("sh", "-c", r.command) //nolint:noctx // procgroup.Run stops the whole group
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), stream.Unwrap(r.d.stdout), stream.Unwrap(r.d.stderr)
	err = procgroup.Run(ctx, cmd, execGrace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("did not end within %s and was killed", r.timeout)
	}
	return err
}

func (r *execRunner) reportDropped(n int) {
	if n > 0 {
		fmt.Fprintf(r.d.stderr, "electop: --exec was not run for the last %d events\n", n)
	}
}
