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
)

// execGrace is the time from SIGTERM to SIGKILL.
const execGrace = 2 * time.Second

// execRunner runs the command of --exec for each event, one at a time. The queue is unbounded, so that a slow command
// delays only other commands and no event is skipped.
type execRunner struct {
	d       deps
	command string
	timeout time.Duration // 0 for no limit
	queue   *eventQueue
}

// run runs the command for every event of the queue until ctx ends.
func (r *execRunner) run(ctx context.Context) error {
	var waiting []election.Event
	for ctx.Err() == nil {
		if len(waiting) == 0 {
			waiting, _ = r.queue.pop(ctx) // the only error is that ctx has ended
			continue
		}
		r.handle(ctx, waiting[0])
		waiting = waiting[1:]
	}
	r.reportDropped(len(waiting) + len(r.queue.take()))
	return ctx.Err()
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
	cmd.Env = execEnv(e)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), r.d.stdout, r.d.stderr
	err = procgroup.Run(ctx, cmd, execGrace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the command did not end within %s and was stopped", r.timeout)
	}
	return err
}

func (r *execRunner) reportDropped(n int) {
	if n > 0 {
		fmt.Fprintf(r.d.stderr, "electop: --exec was not run for the last %s\n", election.Plural(uint64(n), "event"))
	}
}
