package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
)

type watch struct {
	d      deps
	o      *options
	output string
	exec   string
	// execTimeout bounds the run time of one command of --exec. 0 means no limit.
	execTimeout time.Duration
	filter      eventFilter
}

const watchHelp = `Write every event as soon as it is known, one per line.

The first events describe the current state of each election ("initial": true):
one event per election, and for a semaphore one entered event per holder. A
vacated event does not wait for its cause: an explained event follows within a
second, and another one if the history shows that another electop process ended
the term.

The events are also stored in the history; see electop history.

--type and --no-initial select events for the output and for --exec. The history
contains all events.

With --exec, a shell runs the command for each event, in order, one at a time. A
slow or failing command does not delay the output, and no event is lost. A
command ends when all processes of its process group have ended. After
--exec-timeout, electop sends SIGTERM to the group, and SIGKILL 2s later. Then
the command for the next event starts. When watch ends, a running command is
stopped in the same way.

The command gets the event as JSON on standard input, and in environment
variables, which are empty if they do not apply:

` + execEnvHelp + `
Services choose these values: use the variables in double quotes, as in
"$ELECTOP_LEADER". Each value is one line without control characters, cut at
1000 characters; the JSON has the exact values.`

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
	cmd.Flags().DurationVar(&w.execTimeout, "exec-timeout", 30*time.Second, "time limit for one command of --exec; 0 for no limit")
	return cmd
}

func (w *watch) validate(cmd *cobra.Command) error {
	if w.execTimeout < 0 {
		return usagef("--exec-timeout %s: must be 0 or more", w.execTimeout)
	}
	return w.filter.validate(cmd)
}

func (w *watch) run(ctx context.Context, names []string) error {
	ls, err := w.o.open(ctx, w.d)
	if err != nil {
		return err
	}
	log, closeLog, err := w.o.logger()
	if err != nil {
		return err
	}
	defer closeLog()
	return w.follow(ctx, names, ls, log)
}

// follow observes and writes events until ctx ends or the output is closed.
func (w *watch) follow(ctx context.Context, names []string, ls lookups, log *slog.Logger) error {
	source := w.o.historySource(ls.all[0].client) // the history contains all datacenters
	if source != nil {
		defer source.Close()
	}
	shared := newSharedActions(source)
	queue := newEventQueue()
	logEvents := eventLogger(log)
	g, gctx := errgroup.WithContext(ctx)
	observers := make([]*observe.Observer, len(ls.all))
	for i, l := range ls.all {
		rec := w.o.record(l.client, logged(w.d.warn, log))
		defer rec.finish()
		observers[i] = newObserved(l.client, rec, observe.Options{
			Patterns: l.patterns, Logger: log, EventsOnly: true, Recall: recallFrom(source, log), OnEvents: func(events []election.Event) {
				logEvents(events)
				shared.events(events)
				queue.push(events)
			},
		})
		g.Go(func() error { return observers[i].Run(gctx) })
	}
	g.Go(func() error { return shared.run(gctx, noteIn(observers)) })
	execQueue := newEventQueue()
	if w.exec != "" {
		r := &execRunner{d: w.d, command: w.exec, timeout: w.execTimeout, queue: execQueue}
		g.Go(func() error { return r.run(gctx) })
	}
	g.Go(func() error {
		if err := ls.await(gctx, observers); err != nil {
			return err
		}
		if len(names) == 0 {
			g.Go(func() error { _, err := ls.elections(gctx, nil); return err }) // the warnings of this call must not delay the events
		}
		if err := w.choose(gctx, ls, names); err != nil {
			return err
		}
		return w.write(gctx, queue, execQueue)
	})
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// newObserved creates an observer that passes events to o.OnEvents and to rec. It does not start the observer.
func newObserved(client *consulx.Client, rec *historyRecorder, o observe.Options) *observe.Observer {
	events := o.OnEvents
	o.OnMark = rec.marked
	o.OnEvents = func(all []election.Event) {
		events(all) // write the events first, because the user waits for them
		rec.events(all)
	}
	observer := observe.New(client, o)
	rec.observedBy(observer.Mark)
	return observer
}

// noteIn returns a function that passes an action to every observer, because it may concern any datacenter.
func noteIn(observers []*observe.Observer) func(election.OperatorAction) {
	return func(a election.OperatorAction) {
		for _, o := range observers {
			o.Note(a)
		}
	}
}

// choose limits the events to the elections with these names, if there are names. If a datacenter could not be read
// yet, later events of this datacenter are compared with the names.
func (w *watch) choose(ctx context.Context, found lookups, names []string) error {
	w.filter.several = found.several
	if len(names) == 0 {
		return nil
	}
	w.filter.keys = map[watchedKey]bool{}
	for _, name := range names {
		chosen, err := found.elections(ctx, []string{name})
		if err != nil && !errors.Is(err, errUnread) {
			return err
		}
		for _, e := range slices.Concat(chosen...) {
			w.filter.keys[w.filter.keyIn(e.Datacenter, e.Key())] = true
		}
	}
	if found.failed != nil {
		w.filter.names = names
		for _, l := range found.all {
			w.filter.read = append(w.filter.read, l.client.Datacenter())
		}
	}
	return nil
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

// writeSize is the size of the buffer, in bytes, at which writeLines writes it.
const writeSize = 64 << 10

// writeEvents writes events in the format of the command.
func (w *watch) writeEvents(events []election.Event) error {
	return writeLines(w.d.stdout, events, w.format)
}

// writeLines writes several lines with one call, because the initial events of all elections arrive together.
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
		return []byte(eventLine(e, w.filter.several)), nil
	}
	return jsonLine(e)
}

// jsonLine formats an event as one line of JSON that is safe to show.
func jsonLine(e election.Event) ([]byte, error) {
	text, err := e.MarshalJSON()
	return append(sanitize.JSON(text), '\n'), err
}

// eventTime is the format of the time of an event.
const eventTime = "2006-01-02 15:04:05.000"

// eventLine formats an event as a line of text that is safe to show. It names the datacenter if there are several.
func eventLine(e election.Event, several bool) string {
	where := ""
	if several {
		where = fmt.Sprintf("%-8s  ", sanitize.Line(e.Datacenter, 40))
	}
	name := sanitize.Line(e.Election, 40)
	if e.Key == "" {
		name = "-"
	}
	return fmt.Sprintf("%s  %s%-16s  %-12s  %s\n", e.Time.Local().Format(eventTime), where, name, e.Type, e.Summary())
}
