package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

// firstContact is how long Consul may take to answer for the first time. Later
// troubles are events, this one is an error: the address is probably wrong.
const firstContact = 10 * time.Second

type watch struct {
	d      deps
	o      *options
	output string
	exec   string
	// execTimeout is how long one command of --exec may run, 0 for no limit.
	execTimeout time.Duration
}

func newWatchCommand(d deps, o *options) *cobra.Command {
	w := &watch{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "watch [NAME…]",
		Short: "Write every event as it happens",
		Long: `Write every event the moment it is known, a line each.

It begins with one event per election as it stands ("initial": true); a semaphore
begins with one entered event per holder. A vacated event never waits for its
cause: an explained event follows within a second.

With --exec, a shell runs the command for each event, in order, one at a time.
Lines are written without waiting for it. A command has ended when every process
that it started in its process group has; after --exec-timeout they get SIGTERM,
2s later SIGKILL, and the next event's command runs. The same ends the command
that runs when watch itself ends.`,
		Example:           "  electop watch\n  electop watch -o json web | jq -c .type\n  electop watch --exec 'notify-send \"$(jq -r .election)\"'",
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, names []string) error { return w.run(cmd.Context(), names) },
	}
	outputFlag(cmd, &w.output, "text", "json")
	cmd.Flags().StringVar(&w.exec, "exec", "", "shell command to run for each event, one after the other, with the event's JSON on standard input")
	cmd.Flags().DurationVar(&w.execTimeout, "exec-timeout", 30*time.Second, "how long a command of --exec may run; 0 for no limit")
	return cmd
}

func (w *watch) run(ctx context.Context, names []string) error {
	if w.execTimeout < 0 {
		return usagef("--exec-timeout %s: want 0 or more", w.execTimeout)
	}
	client, ps, err := w.o.prepare()
	if err != nil {
		return err
	}
	log, closeLog, err := w.o.logger(w.d)
	if err != nil {
		return err
	}
	defer closeLog()
	queue := newEventQueue()
	note := logEvents(log)
	observer := consulx.NewObserver(client, consulx.ObserverOptions{
		Patterns: ps, Logger: log, EventsOnly: true, OnEvents: func(events []election.Event) {
			note(events)
			queue.push(events)
		},
	})
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(gctx) })
	g.Go(func() error { return awaitReaderGone(gctx, w.d.stdout) })
	hooked := newEventQueue()
	if w.exec != "" {
		h := &hooks{d: w.d, command: w.exec, timeout: w.execTimeout, queue: hooked}
		g.Go(func() error { return h.run(gctx) })
	}
	g.Go(func() error {
		first, err := firstLook(gctx, client, ps, observer.Snapshots())
		if err != nil {
			return err
		}
		look := lookup{w.d, client, ps, first}
		if len(names) == 0 {
			g.Go(func() error { look.note(gctx); return nil }) // events must not wait for it
		}
		wanted, err := w.wanted(gctx, look, names)
		if err != nil {
			return err
		}
		return w.write(gctx, queue, hooked, wanted)
	})
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// firstLook waits for the first whole snapshot, so that a wrong address or token
// is an error at once.
func firstLook(
	ctx context.Context, client *consulx.Client, ps election.Patterns, snapshots <-chan *election.Snapshot,
) (*election.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	for {
		select {
		case s := <-snapshots:
			if s == nil {
				return nil, context.Canceled
			}
			if s.Loaded {
				return s, nil
			}
			if s.Connection.State != election.Lost && len(s.Connection.Stale) == 0 {
				continue
			}
		case <-ctx.Done():
		}
		// A snapshot tells in words what is wrong, a look with the kind of error
		// that the exit code stands for.
		if _, err := consulx.Look(ctx, client, ps); err != nil {
			return nil, err
		}
	}
}

// wanted gives the keys to write of; nil means all. A name that nobody has is an
// error.
func (w *watch) wanted(ctx context.Context, look lookup, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	chosen, err := look.choose(ctx, names)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, e := range chosen {
		keys[e.Key()] = true
	}
	return keys, nil
}

// write writes the events of the queue, then hands them to the hooks.
func (w *watch) write(ctx context.Context, queue, hooked *eventQueue, wanted map[string]bool) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		if wanted != nil {
			events = slices.DeleteFunc(events, func(e election.Event) bool { return e.Key != "" && !wanted[e.Key] })
		}
		if err := w.all(events); err != nil {
			return err
		}
		if w.exec != "" {
			hooked.push(events)
		}
	}
}

// writeSize is from how many bytes on lines that are known together are written
// without waiting for the rest of them.
const writeSize = 64 << 10

// all writes events that are known together at once: at the start there is one
// for every election.
func (w *watch) all(events []election.Event) error {
	var lines []byte
	for i, e := range events {
		line, err := w.line(e)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
		if i == len(events)-1 || len(lines) >= writeSize {
			if _, err := w.d.stdout.Write(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	return nil
}

func (w *watch) line(e election.Event) ([]byte, error) {
	if w.output == "text" {
		return []byte(eventLine(e)), nil
	}
	return jsonLine(e)
}

// jsonLine is an event as JSON, safe to show.
func jsonLine(e election.Event) ([]byte, error) {
	text, err := e.MarshalJSON()
	return append(sanitize.JSON(text), '\n'), err
}

// eventLine is an event as a line of text, safe to show.
func eventLine(e election.Event) string {
	name := sanitize.Line(e.Election, 40)
	if e.Key == "" {
		name = "-"
	}
	return fmt.Sprintf("%s  %-16s  %-12s  %s\n", e.Time.Local().Format("2006-01-02 15:04:05.000"), name, e.Type, e.Summary())
}

// awaitReaderGone ends with io.ErrClosedPipe's kin when nobody reads the output
// any more, so that `electop watch | head -1` does not wait for a next event.
func awaitReaderGone(ctx context.Context, out io.Writer) error {
	if f, ok := stream(out).(*os.File); ok && isPipe(f) {
		return pollHangup(ctx, f)
	}
	return nil
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
