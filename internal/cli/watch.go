package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/feed"
)

type watch struct {
	*options
	exec string
	// execTimeout bounds the run time of one command of --exec. 0 means no limit.
	execTimeout time.Duration
	types       []election.EventType // selects events by type; nil selects all
	noInitial   bool
	names       []string // selects elections; nil selects all
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

The command gets the event as JSON on standard input, and each field of it in an
environment variable: ELECTOP_TYPE, ELECTOP_TIME, ELECTOP_ELECTION, ELECTOP_KEY,
ELECTOP_LEADER, ELECTOP_NODE, ELECTOP_CAUSE, ELECTOP_VACANCY_MS and so on. A
field that the event does not have is unset. Services choose these values: use
the variables in double quotes, as in "$ELECTOP_LEADER". Each value is one line
without control characters, cut at 1000 characters; the JSON has the exact
values.`

func newWatchCommand(o *options) *cobra.Command {
	w := &watch{options: o}
	cmd := &cobra.Command{
		Use:   "watch [NAME…]",
		Short: "Write every event as it happens",
		Long:  watchHelp,
		Example: `  electop watch
  electop watch -o json web | jq -c .type
  electop watch --type vacated,elected --no-initial
  electop watch --type vacated --no-initial --exec 'notify-send "$ELECTOP_ELECTION has no leader"'`,
		ValidArgsFunction: completeNames(o),
		RunE:              work(w.run),
	}
	o.outputFlag(cmd, "text")
	f := cmd.Flags()
	f.Var(wordsFlag[election.EventType]{&w.types, election.EventTypes()}, "type", fmt.Sprintf("only events of these types, separated by commas: %v", election.EventTypes()))
	f.BoolVar(&w.noInitial, "no-initial", false, "omit the events that describe the state at the start")
	f.StringVar(&w.exec, "exec", "", "shell command to run for each event, with the event's JSON on standard input")
	f.DurationVar(&w.execTimeout, "exec-timeout", 30*time.Second, "time limit for one command of --exec; 0 for no limit")
	return cmd
}

// run observes and writes events until ctx ends or the output is closed.
func (w *watch) run(ctx context.Context, names []string) error {
	w.names = names
	ls, err := w.open(ctx)
	if err != nil {
		return err
	}
	source := w.historySource(ls.all...)
	if source != nil {
		defer source.Close()
	}
	queue := newQueue[election.Event]()
	observed := newObservers(source, w.options)
	for _, l := range ls.all {
		rec := l.record(w.logged(w.warn))
		defer rec.finish()
		observed.add(l, rec, feed.Options{EventsOnly: true, OnEvents: queue.push})
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		observed.run(gctx)
		return nil
	})
	execQueue := newQueue[election.Event]()
	if w.exec != "" {
		g.Go(func() error { return w.runCommands(gctx, execQueue) })
	}
	g.Go(func() error {
		if err := ls.await(gctx, observed.all); err != nil {
			return err
		}
		for _, name := range w.names {
			if _, err := ls.elections(gctx, []string{name}); err != nil && !errors.Is(err, errUnread) {
				return err
			}
		}
		several, read := ls.several(), ls
		if ls = (lookups{}); len(w.names) == 0 { // the first snapshots need much memory
			g.Go(func() error { _, err := read.elections(gctx, nil); return err }) // the warnings of this call must not delay the events
		}
		return w.write(gctx, several, queue, execQueue)
	})
	return unlessInterrupted(ctx, g.Wait())
}

// write writes events until ctx ends, and passes them to execQueue.
func (w *watch) write(ctx context.Context, several bool, queue, execQueue *queue[election.Event]) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		events = slices.DeleteFunc(events, func(e election.Event) bool { return !w.selects(e) })
		err = writeLines(w.stdout, events, func(e election.Event) ([]byte, error) {
			if w.output == "json" {
				return jsonLine(e)
			}
			return []byte(eventLine(e, several)), nil
		})
		if err != nil {
			return err
		}
		if w.exec != "" {
			execQueue.push(events)
		}
	}
}

// selects reports whether the command writes an event. Events about connections have no key and belong to every name.
func (w *watch) selects(e election.Event) bool {
	return (!w.noInitial || !e.Initial) && (len(w.types) == 0 || slices.Contains(w.types, e.Type)) &&
		(len(w.names) == 0 || e.Key == "" || slices.ContainsFunc(w.names, func(name string) bool {
			return slices.Contains([]string{e.Election, e.Key, "/" + e.Election, "/" + e.Key}, name)
		}))
}

// writeLines writes several lines with one call, because the initial events of all elections arrive together.
func writeLines[T any](out io.Writer, all []T, format func(T) ([]byte, error)) error {
	w := bufio.NewWriterSize(out, min(len(all)<<9, 64<<10)) // a buffer for each event would be expensive
	for _, v := range all {
		line, err := format(v)
		if err != nil {
			return err
		}
		_, _ = w.Write(line) // Flush returns the error
	}
	return w.Flush()
}

// jsonLine formats a value as one line of JSON that is safe to show.
func jsonLine[T any](v T) (text []byte, err error) {
	if m, ok := any(v).(json.Marshaler); ok { // json.Marshal would check and copy the text, for half of the CPU time
		text, err = m.MarshalJSON()
	} else {
		text, err = json.Marshal(v)
	}
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

// queue passes values from a goroutine that must not block to a consumer that may be slow. It is unbounded, because no
// event may be skipped.
type queue[T any] struct {
	mu     sync.Mutex
	values []T
	filled chan struct{} // receives a value after a push
}

func newQueue[T any]() *queue[T] { return &queue[T]{filled: make(chan struct{}, 1)} }

func (q *queue[T]) push(values []T) {
	q.mu.Lock()
	q.values = append(q.values, values...)
	q.mu.Unlock()
	feed.Notify(q.filled)
}

// pop waits for values and removes all of them.
func (q *queue[T]) pop(ctx context.Context) ([]T, error) {
	for {
		if values := q.take(); len(values) > 0 {
			return values, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.filled:
		}
	}
}

// take removes and returns the queued values without waiting.
func (q *queue[T]) take() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	values := q.values
	q.values = nil
	return values
}
