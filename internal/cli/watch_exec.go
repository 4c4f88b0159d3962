package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/procgroup"
)

// execGrace is the time from SIGTERM to SIGKILL.
const execGrace = 2 * time.Second

// execRunner runs the command of --exec for each event. The field parallel limits how many commands run at a time. The
// queue is unbounded, so that a slow command delays only other commands and no event is skipped.
type execRunner struct {
	d        deps
	command  string
	timeout  time.Duration // 0 for no limit
	parallel int
	queue    *eventQueue

	waiting []election.Event
	busy    map[string]bool // keys of the elections whose command is running
	ended   chan string     // receives the key of each command that ended
}

// run runs the command for every event of the queue until ctx ends.
func (r *execRunner) run(ctx context.Context) error {
	r.busy, r.ended = map[string]bool{}, make(chan string)
	for {
		select {
		case <-ctx.Done():
			for range r.busy {
				<-r.ended // the commands stop because ctx has ended
			}
			r.reportDropped(len(r.waiting) + len(r.queue.take()))
			return ctx.Err()
		case <-r.queue.filled:
			r.waiting = append(r.waiting, r.queue.take()...)
		case key := <-r.ended:
			delete(r.busy, key)
		}
		r.start(ctx)
	}
}

// start starts commands for the oldest waiting events. It skips elections whose previous command is still running,
// because commands for one election must run in the order of its events.
func (r *execRunner) start(ctx context.Context) {
	for len(r.busy) < r.parallel && ctx.Err() == nil {
		i := slices.IndexFunc(r.waiting, func(e election.Event) bool { return !r.busy[e.Key] })
		if i < 0 {
			return
		}
		e := r.waiting[i]
		r.waiting = slices.Delete(r.waiting, i, i+1)
		r.busy[e.Key] = true
		go func() {
			r.handle(ctx, e)
			r.ended <- e.Key
		}()
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
