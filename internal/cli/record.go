package cli

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

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
		Short: "Observe without the dashboard and store the history",
		Long: `Observe the elections without the dashboard, and store every event and term in
the history file, until a signal terminates record. record prints a line to
standard error when it starts to record, and when the connection to Consul is
lost or restored.

It fails immediately if it cannot read from Consul or cannot use the history
file. Once it records, it continues if Consul or the disk fails, and ends with
exit code 1 only if the file becomes unusable.

With --datacenter dc1,dc2 or all, one history contains all datacenters. record
fails only if none of them can be read. The metrics have the label datacenter,
and /healthz names each datacenter that is not observed.

With --metrics or --listen it serves Prometheus metrics (/metrics), its own
health (/healthz) and the history (/v1/events, /v1/terms and more), which the
dashboard and all commands on other hosts can use: electop --history
https://HOST:PORT. --metrics is for this host only. docs/recording.md describes
the API and contains a systemd unit, a Consul service definition, alert rules
and a Grafana dashboard.`,
		Example: `  electop record --metrics :9273
  electop record -k 'vault/core/lock' --history /var/lib/electop/dc1.db --keep 365d
  electop record --listen :9273 --tls-cert cert.pem --tls-key key.pem --bearer-token-file token`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context()) },
	}
	r.web.register(cmd.Flags())
	return cmd
}

// recording is one run of `electop record`.
type recording struct {
	d   deps
	o   *options
	web recordWeb
	lookups
	path     string
	log      *slog.Logger
	places   []recordedDatacenter
	listener *web.Listener    // nil if there is no listener
	metrics  *metrics.Metrics // nil if there is no listener
	source   *sqlite.File
	shared   *sharedActions
}

// recordedDatacenter is a datacenter with its observer and its history recorder.
type recordedDatacenter struct {
	lookup
	observer *observe.Observer
	rec      *historyRecorder
}

func (r *recording) run(ctx context.Context) (err error) {
	switch {
	case r.o.history == historyOff:
		return usagef("--history off: record writes the history; use --history FILE")
	case isURL(r.o.history):
		return usagef("--history: record writes to a file, not to another recorder")
	}
	if err := r.web.validate(); err != nil {
		return err
	}
	if r.lookups, err = r.o.open(ctx, r.d); err != nil {
		return err
	}
	if r.path, err = r.o.historyPath(r.all[0].client); err != nil {
		return err
	}
	log, closeLog, err := r.o.logger()
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
	return r.record(ctx)
}

// record records until ctx ends or the history cannot be written. All datacenters write to one file, but each with its
// own writer, because a period of observation applies to only one datacenter.
func (r *recording) record(ctx context.Context) (err error) {
	var recs []*historyRecorder
	defer func() {
		lost := make([]error, len(recs))
		var closed sync.WaitGroup
		for i, rec := range recs {
			closed.Go(func() { lost[i] = rec.close() }) // close them concurrently: a disk that does not respond delays every writer
		}
		closed.Wait()
		err = cmp.Or(append(lost, err)...)
	}()
	warn := withoutRepeats(logged(r.d.warn, r.log)) // each writer reports the errors and changes of the file
	for _, l := range r.all {
		rec := newHistoryRecorder(warn)
		rec.path = r.path
		w, err := sqlite.OpenWriter(ctx, r.path, rec.options(l.client, r.o.keep))
		if err != nil {
			return err
		}
		rec.start(w)
		recs = append(recs, rec)
	}
	r.source = sqlite.NewFile(r.path, r.all[0].client.Cluster)
	defer r.source.Close()
	r.shared = newSharedActions(r.source)
	queue := newEventQueue() // a blocked stderr must not block the observer
	if err := r.prepare(recs, queue); err != nil {
		return err
	}
	return r.observe(ctx, queue)
}

// repeatWithin is the time within which all writers of a file report the same error or change.
const repeatWithin = 10 * time.Second

// withoutRepeats returns a function that passes lines to warn. It drops a line that equals the previous line if less
// than repeatWithin has passed.
func withoutRepeats(warn func(line string)) func(line string) {
	var mu sync.Mutex
	var last string
	var at time.Time
	return func(line string) {
		mu.Lock()
		repeated := line == last && time.Since(at) < repeatWithin
		last, at = line, time.Now()
		mu.Unlock()
		if !repeated {
			warn(line)
		}
	}
}

// prepare creates the observer of each datacenter.
func (r *recording) prepare(recs []*historyRecorder, queue *eventQueue) (err error) {
	if r.listener != nil {
		r.metrics = r.newMetrics()
	}
	logEvents := eventLogger(r.log)
	for i, l := range r.all {
		var counted *metrics.Observed
		observer := newObserved(l.client, recs[i], observe.Options{
			Patterns: l.patterns, Logger: r.log, EventsOnly: true, Recall: recallFrom(r.source, r.log), OnEvents: func(events []election.Event) {
				logEvents(events)
				r.shared.events(events)
				queue.push(events)
				if counted != nil {
					counted.Events(events)
				}
			},
		})
		r.places = append(r.places, recordedDatacenter{l, observer, recs[i]})
		if r.metrics == nil {
			continue
		}
		if counted, err = r.metrics.Observe(r.inDatacenter(l.client), observer.Snapshot); err != nil {
			return err
		}
	}
	return nil
}

// inDatacenter returns the name of a datacenter. It returns "" if there is only one datacenter.
func (r *recording) inDatacenter(client *consulx.Client) string {
	if !r.several {
		return ""
	}
	return client.Datacenter()
}

// observe observes until ctx ends or the history cannot be written.
func (r *recording) observe(ctx context.Context, queue *eventQueue) error {
	g, gctx := errgroup.WithContext(ctx)
	observers := make([]*observe.Observer, len(r.places))
	for i, p := range r.places {
		observers[i] = p.observer
	}
	g.Go(func() error { return r.shared.run(gctx, noteIn(observers)) })
	for _, p := range r.places {
		g.Go(func() error { return p.observer.Run(gctx) })
		g.Go(func() error {
			select {
			case <-gctx.Done():
				return nil
			case <-p.rec.done:
				return p.rec.err
			}
		})
	}
	g.Go(func() error { return r.reportConnections(gctx, queue) })
	if r.listener != nil {
		g.Go(func() error { return r.serve(gctx) })
	}
	g.Go(func() error { return r.announce(gctx, observers) })
	if err := g.Wait(); !interrupted(ctx, err) {
		return err
	}
	return nil
}

// announce prints a line as soon as the elections have been read. If there are several datacenters, it warns about each
// datacenter that cannot be read yet.
func (r *recording) announce(ctx context.Context, observers []*observe.Observer) error {
	read := r.lookups // the requests of r.serve need the datacenters that cannot be read yet, too
	if err := read.await(ctx, observers); err != nil {
		return err
	}
	names := make([]string, len(read.all))
	for i, l := range read.all {
		names[i] = sanitize.Line(l.snapshot.Datacenter, 40)
	}
	line := "recording " + sanitize.Line(strings.Join(r.all[0].patterns.Strings(), ", "), 200) + " of " + strings.Join(names, ", ") +
		" at " + r.all[0].client.Address() + " in " + sanitize.Line(r.path, 200)
	if r.listener != nil {
		line += ", serving " + r.listener.URL()
	}
	if r.all[0].client.Cluster(ctx) == "" {
		line += "; Connect is disabled, so electop cannot check that the file belongs to this cluster"
	}
	r.d.warn(line)
	return nil
}

// reportConnections writes a line when the connection to Consul or to a datacenter is lost or restored.
func (r *recording) reportConnections(ctx context.Context, queue *eventQueue) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			what := "connection to Consul"
			if r.several {
				what = "connection to datacenter " + sanitize.Line(e.Datacenter, 60)
			}
			switch e.Type {
			case election.ConnectionLost:
				r.d.warn(what + " lost: " + e.Summary())
			case election.ConnectionRestored:
				r.d.warn(what + " restored")
			default:
			}
		}
	}
}
