package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/supervise"
)

// execGrace is the time from SIGTERM to SIGKILL.
const execGrace = 2 * time.Second

// runCommands runs the command of --exec for every event of the queue until ctx ends. The queue is unbounded, so that a
// slow command delays only other commands and no event is skipped. After a failure, the command may succeed for the next
// event.
func (w *watch) runCommands(ctx context.Context, queue *queue[election.Event]) error {
	var waiting []election.Event
	for ctx.Err() == nil {
		if len(waiting) == 0 {
			waiting, _ = queue.pop(ctx) // the only error is that ctx has ended
			continue
		}
		e := waiting[0]
		waiting = waiting[1:]
		if err := w.runCommand(ctx, e); err != nil && ctx.Err() == nil {
			about := strings.TrimSpace(string(e.Type) + " " + sanitize.Line(e.Election, 40))
			w.warn("--exec for " + about + ": " + clean(err.Error()))
		}
	}
	if n := len(waiting) + len(queue.take()); n > 0 {
		w.warn("--exec was not run for the last " + election.Plural(n, "event"))
	}
	return ctx.Err()
}

func (w *watch) runCommand(ctx context.Context, e election.Event) error {
	event, err := jsonLine(e)
	if err != nil {
		return err
	}
	env, err := execEnv(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.execTimeout, math.MaxInt64))
	defer cancel()
	cmd := exec.Command("sh", "-c", w.exec) //nolint:noctx // supervise.Run stops the whole group
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), w.stdout, w.stderr
	err = supervise.RunGroup(ctx, cmd, execGrace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the command did not end within %s and was stopped", w.execTimeout)
	}
	return err
}

// execEnvLength bounds the length of a variable. The kernel does not start a command if a variable exceeds its limit
// (128 KiB on Linux), and a key may be longer.
const execEnvLength = 1000

// execEnv returns the environment of a command of --exec. The command inherits no variable about an event from an outer
// electop.
func execEnv(event []byte) ([]string, error) {
	const prefix = "ELECTOP_"
	all := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, prefix) && !strings.HasPrefix(v, contextEnv+"=") && !strings.HasPrefix(v, historyTokenEnv+"=")
	})
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.UseNumber()
	err := decoder.Decode(&fields)
	for name, value := range fields {
		all = append(all, prefix+strings.ToUpper(name)+"="+sanitize.Line(fmt.Sprint(value), execEnvLength))
	}
	return all, err
}
