package cli

import (
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
	"electop/internal/metrics"
)

func newRecordCommand(d deps, o *options) *cobra.Command {
	r := &recording{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Observe without a screen and store the history",
		Long: `Observe the elections without a screen and store every event and term in the
history, until a signal ends it. It prints a line to standard error when it
starts to record, and when the connection to Consul is lost or restored.

It fails immediately if Consul cannot be read or the file cannot be used. After
that, it continues when Consul or the disk fails, and ends with exit code 1 only
if the file becomes unusable.

With --metrics or --listen it serves Prometheus metrics (/metrics), its own
health (/healthz) and the history (/v1/events, /v1/terms and more), which the
dashboard and every command of another host can use: electop --history
https://HOST:PORT. --metrics is for this host only. docs/recording.md describes
the API and has a systemd unit, a Consul service definition, alert rules and a
Grafana dashboard.`,
		Example: `  electop record --metrics :9273
  electop record -k 'vault/core/lock' --history /var/lib/electop/dc1.db --keep 365d
  electop record --listen :9273 --tls-cert cert.pem --tls-key key.pem --bearer-token-file token`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context()) },
	}
	r.web.register(cmd.Flags())
	return cmd
}

// recording is a run of record.
type recording struct {
	d        deps
	o        *options
	web      recordWeb
	client   *consulx.Client
	patterns election.Patterns
	path     string
	log      *slog.Logger
	rec      *historyRecorder
	listener *web.Listener    // nil without one
	metrics  *metrics.Metrics // nil without a listener
}

func (r *recording) run(ctx context.Context) (err error) {
	switch {
	case r.o.history == historyOff:
		return usagef("--history off: record writes the history; give a file")
	case isURL(r.o.history):
		return usagef("--history: record writes to a file, not to another recorder")
	}
	if err := r.web.validate(); err != nil {
		return err
	}
	if r.client, r.patterns, err = r.o.connect(); err != nil {
		return err
	}
	if r.path, err = r.o.historyPath(r.client); err != nil {
		return err
	}
	log, closeLog, err := r.o.logger(r.d)
	if err != nil {
		return err
	}
	defer closeLog()
	r.log = log
	if r.web.address != "" {
		if r.listener, err = r.web.open(ctx); err != nil {
			return err
		}
		defer r.listener.Close()
	}
	r.rec = newHistoryRecorder(logged(r.d.warn, r.log))
	r.rec.path = r.path
	w, err := sqlite.OpenWriter(ctx, r.path, r.rec.options(r.patterns, r.o.keep))
	if err != nil {
		return err
	}
	r.rec.start(w)
	err = r.observe(ctx)
	if lost := r.rec.close(); lost != nil {
		return lost
	}
	return err
}

// observe observes until ctx ends or the history cannot be written.
func (r *recording) observe(ctx context.Context) error {
	queue := newEventQueue() // a blocked stderr must not block the observer
	logEvents := eventLogger(r.log)
	var observer *observe.Observer
	snapshot := func() *election.Snapshot { return observer.Snapshot() }
	if r.listener != nil {
		r.metrics = r.newMetrics(snapshot)
	}
	observer = observe.New(r.client, observe.Options{
		Patterns: r.patterns, Logger: r.log, EventsOnly: true, OnLoaded: r.rec.loaded(r.client, r.patterns),
		OnEvents: func(events []election.Event) {
			logEvents(events)
			r.rec.events(events)
			queue.push(events)
			if r.metrics != nil {
				r.metrics.Events(events)
			}
		},
	})
	r.rec.observedAs(snapshot)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(gctx) })
	g.Go(func() error { return reportConnection(gctx, r.d, queue) })
	if r.listener != nil {
		g.Go(func() error { return r.serve(gctx, snapshot) })
	}
	g.Go(func() error {
		select {
		case <-gctx.Done():
			return nil
		case <-r.rec.done:
			return r.rec.err
		}
	})
	g.Go(func() error { return r.announce(gctx, observer) })
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// announce prints a line when the elections were read.
func (r *recording) announce(ctx context.Context, observer *observe.Observer) error {
	s, err := awaitSnapshot(ctx, r.client, r.patterns, observer.Snapshots())
	if err != nil {
		return err
	}
	line := "recording " + sanitize.Line(strings.Join(r.patterns.Strings(), ", "), 200) + " of " + sanitize.Line(s.Datacenter, 40) +
		" at " + r.client.Address() + " in " + sanitize.Line(r.path, 200)
	if r.listener != nil {
		line += ", serving " + r.listener.URL()
	}
	r.d.warn(line)
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
