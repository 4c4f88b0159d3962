package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history/sqlite"
)

func newRecordCommand(d deps, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "record",
		Short: "Observe without a screen and store the history",
		Long: `Observe the elections without a screen and store every event and term in the
history, until a signal ends it. It prints a line when it has begun, and when the
connection to Consul is lost or restored, to standard error.

It fails at once if Consul cannot be read or the file cannot be used. Later it
continues when Consul or the disk fails, and ends with exit code 1 only if the
file becomes unusable. docs/history.md has a systemd unit.`,
		Example: "  electop record\n  electop record -k 'vault/core/lock' --history /var/lib/electop/dc1.db --keep 365d",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRecord(cmd.Context(), d, o) },
	}
}

func runRecord(ctx context.Context, d deps, o *options) error {
	if o.history == historyOff {
		return usagef("--history off: record writes the history")
	}
	client, ps, err := o.connect()
	if err != nil {
		return err
	}
	path, err := o.historyPath(client)
	if err != nil {
		return err
	}
	rec := newHistoryRecorder(d.warn)
	w, err := sqlite.OpenWriter(ctx, path, rec.options(ps, o.keep))
	if err != nil {
		return err
	}
	rec.start(w)
	err = observeFor(ctx, d, o, client, ps, path, rec)
	if lost := rec.close(); lost != nil {
		return lost
	}
	return err
}

// observeFor observes until ctx ends or the history cannot be written.
func observeFor(
	ctx context.Context, d deps, o *options, client *consulx.Client, ps election.Patterns, path string, rec *historyRecorder,
) error {
	log, closeLog, err := o.logger(d)
	if err != nil {
		return err
	}
	defer closeLog()
	queue := newEventQueue() // a blocked stderr must not block the observer
	logEvents := eventLogger(log)
	observer := observe.New(client, observe.Options{
		Patterns: ps, Logger: log, EventsOnly: true, OnEvents: func(events []election.Event) {
			logEvents(events)
			rec.events(events)
			queue.push(events)
		},
	})
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(gctx) })
	g.Go(func() error { return reportConnection(gctx, d, queue) })
	g.Go(func() error {
		select {
		case <-gctx.Done():
			return nil
		case <-rec.done:
			return rec.err
		}
	})
	g.Go(func() error {
		s, err := awaitSnapshot(gctx, client, ps, observer.Snapshots())
		if err == nil {
			d.warn("recording " + sanitize.Line(strings.Join(ps.Strings(), ", "), 200) + " of " + sanitize.Line(s.Datacenter, 40) +
				" at " + client.Address() + " in " + sanitize.Line(path, 200))
		}
		return err
	})
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// reportConnection writes a line when the connection to Consul is lost or restored.
func reportConnection(ctx context.Context, d deps, queue *eventQueue) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			switch e.Type {
			case election.ConnectionLost:
				d.warn("connection to Consul lost: " + e.Summary())
			case election.ConnectionRestored:
				d.warn("connection to Consul restored")
			default:
			}
		}
	}
}
