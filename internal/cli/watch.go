package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/stream"
)

type watch struct {
	d      deps
	o      *options
	output string
	exec   string
	// execTimeout bounds one command of --exec, 0 for no limit.
	execTimeout  time.Duration
	execParallel int
	filter       eventFilter
}

// maxExecParallel limits the processes that a burst of events can start.
const maxExecParallel = 256

const watchHelp = `Write every event as soon as it is known, one per line.

The first events are the current state of each election ("initial": true): one
event per election, and for a semaphore one entered event per holder. A vacated
event does not wait for its cause: an explained event follows within a second, and
another one if the history shows that another electop process ended the term.

The events are also stored in the history; see electop history.

--type and --no-initial select events for the output and for --exec. The history
contains all events.

With --exec, a shell runs the command for each event, in order, one at a time.
A command that is slow or fails delays no output and loses no event. A command ends when all processes of its process group have ended.
After --exec-timeout the group gets SIGTERM, 2s later SIGKILL, and the command
for the next event starts. When watch ends, a running command is stopped in the
same way. With --exec-parallel N, up to N commands run at once; those for the same
election still run one at a time, in order.

The command gets the event as JSON on standard input and in variables, which are
empty if they do not apply:

` + execEnvHelp + `
Services choose these values: use the variables in double quotes, as in
"$ELECTOP_LEADER". Each value is one line without control characters, cut at 1000
characters; the JSON has the exact values.`

func newWatchCommand(d deps, o *options) *cobra.Command {
	w := &watch{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "watch [NAME…]",
		Short: "Write every event as it happens",
		Long:  watchHelp,
		Example: `  electop watch
  electop watch -o json web | jq -c .type
  electop watch --type vacated,elected --no-initial
  electop watch --type vacated --no-initial --exec 'notify-send "$ELECTOP_ELECTION has no leader"'`,
		ValidArgsFunction: completeNames(o),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := w.validate(cmd); err != nil {
				return err
			}
			return w.run(cmd.Context(), names)
		},
	}
	w.filter.flags(cmd)
	outputFlag(cmd, &w.output, "text", "json")
	cmd.Flags().StringVar(&w.exec, "exec", "", "shell command to run for each event, with the event's JSON on standard input")
	cmd.Flags().IntVar(&w.execParallel, "exec-parallel", 1, "maximum number of commands of --exec that run at once")
	cmd.Flags().DurationVar(&w.execTimeout, "exec-timeout", 30*time.Second, "time limit for one command of --exec; 0 for no limit")
	return cmd
}

func (w *watch) validate(cmd *cobra.Command) error {
	switch {
	case w.execTimeout < 0:
		return usagef("--exec-timeout %s: must be 0 or more", w.execTimeout)
	case w.execParallel < 1 || w.execParallel > maxExecParallel:
		return usagef("--exec-parallel %d: must be 1 to %d", w.execParallel, maxExecParallel)
	}
	return w.filter.validate(cmd)
}

func (w *watch) run(ctx context.Context, names []string) error {
	client, ps, err := w.o.connect()
	if err != nil {
		return err
	}
	log, closeLog, err := w.o.logger(w.d)
	if err != nil {
		return err
	}
	defer closeLog()
	return w.follow(ctx, names, client, ps, log)
}

// follow observes and writes events until ctx ends or the output is closed.
func (w *watch) follow(ctx context.Context, names []string, client *consulx.Client, ps election.Patterns, log *slog.Logger) error {
	rec := w.o.record(client, ps, logged(w.d.warn, log))
	defer rec.finish()
	source := w.o.historySource(client)
	if source != nil {
		defer source.Close()
	}
	shared := newSharedActions(source)
	queue := newEventQueue()
	logEvents := eventLogger(log)
	observer := observe.New(client, observe.Options{
		Patterns: ps, Logger: log, EventsOnly: true, OnLoaded: rec.loaded(client, ps), OnEvents: func(events []election.Event) {
			logEvents(events)
			rec.events(events)
			shared.events(events)
			queue.push(events)
		},
	})
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(gctx) })
	g.Go(func() error { return shared.run(gctx, observer.Note) })
	g.Go(func() error { return stream.AwaitReader(gctx, w.d.stdout) })
	execQueue := newEventQueue()
	if w.exec != "" {
		r := &execRunner{d: w.d, command: w.exec, timeout: w.execTimeout, parallel: w.execParallel, queue: execQueue}
		g.Go(func() error { return r.run(gctx) })
	}
	g.Go(func() error {
		first, err := awaitSnapshot(gctx, client, ps, observer.Snapshots())
		if err != nil {
			return err
		}
		find := lookup{w.d.stderr, client, ps, first}
		if len(names) == 0 {
			g.Go(func() error { find.warnMissing(gctx); return nil }) // events must not wait for it
		}
		if w.filter.keys, err = selectKeys(gctx, find, names); err != nil {
			return err
		}
		return w.write(gctx, queue, execQueue)
	})
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// selectKeys returns the keys of the elections with these names, nil for all.
func selectKeys(ctx context.Context, find lookup, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	chosen, err := find.elections(ctx, names)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, e := range chosen {
		keys[e.Key()] = true
	}
	return keys, nil
}

// write writes the selected events, then queues them for --exec.
func (w *watch) write(ctx context.Context, queue, execQueue *eventQueue) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		events = w.filter.selected(events)
		if err := w.writeEvents(events); err != nil {
			return err
		}
		if w.exec != "" {
			execQueue.push(events)
		}
	}
}

// writeSize is the number of bytes that are written at once.
const writeSize = 64 << 10

// writeEvents writes events in the format of the command.
func (w *watch) writeEvents(events []election.Event) error {
	return writeLines(w.d.stdout, events, w.format)
}

// writeLines writes several lines at once, because the initial events of all elections arrive together.
func writeLines[T any](out io.Writer, all []T, format func(T) ([]byte, error)) error {
	var lines []byte
	for i, v := range all {
		line, err := format(v)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
		if i == len(all)-1 || len(lines) >= writeSize {
			if _, err := out.Write(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	return nil
}

func (w *watch) format(e election.Event) ([]byte, error) {
	if w.output == "text" {
		return []byte(eventLine(e)), nil
	}
	return jsonLine(e)
}

// jsonLine formats an event as JSON, safe to show.
func jsonLine(e election.Event) ([]byte, error) {
	text, err := e.MarshalJSON()
	return append(sanitize.JSON(text), '\n'), err
}

// eventTime is the format of the time of an event.
const eventTime = "2006-01-02 15:04:05.000"

// eventLine formats an event as text, safe to show.
func eventLine(e election.Event) string {
	name := sanitize.Line(e.Election, 40)
	if e.Key == "" {
		name = "-"
	}
	return fmt.Sprintf("%s  %-16s  %-12s  %s\n", e.Time.Local().Format(eventTime), name, e.Type, e.Summary())
}
