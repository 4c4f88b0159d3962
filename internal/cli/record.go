package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/internal/feed"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
	"electop/internal/metrics"
)

func newRecordCommand(o *options) *cobra.Command {
	r := &recording{options: o}
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Observe without the dashboard and store the history",
		Long: `Observe the elections without the dashboard, and store every event and term in
the history file, until a signal terminates record. record prints a line to
standard error when it starts to record, and when the connection to the store
is lost or restored.

It fails immediately if it cannot read from the store or cannot use the history
file. Once it records, it continues if the store or the disk fails, and ends
with exit code 1 only if the file becomes unusable.

With --datacenter dc1,dc2 or all, one history contains all datacenters. record
fails only if none of them can be read. The metrics have the label datacenter,
and /healthz names each datacenter that is not observed.

With --metrics or --listen it serves Prometheus metrics (/metrics), its own
health (/healthz) and the history (/v1/events, /v1/terms and more), which the
dashboard and all commands on other hosts can use: electop --history
https://HOST:PORT. Other hosts need TLS and a token, unless --insecure is given.
docs/recording.md describes the API and contains a systemd unit, a Consul
service definition, alert rules and a Grafana dashboard.`,
		Example: `  electop record --metrics :9273
  electop record -k 'vault/core/lock' --history /var/lib/electop/dc1.db --keep 365d
  electop record --listen :9273 --tls-cert cert.pem --tls-key key.pem --bearer-token-file token`,
		Args: arguments(0, 0),
		RunE: work(r.run),
	}
	f := cmd.Flags()
	f.Func("metrics", "like --listen with this `ADDRESS`, but without a host, as in :9273, the host is 127.0.0.1", func(address string) error {
		if r.address = address; strings.HasPrefix(address, ":") {
			r.address = "127.0.0.1" + address
		}
		return nil
	})
	f.StringVar(&r.address, "listen", "", "serve Prometheus metrics, the history and /healthz on this address; other hosts can reach it only with --tls-cert, --tls-key and --bearer-token-file")
	f.StringVar(&r.tlsCert, "tls-cert", "", "file with the certificate of the listener and its chain")
	f.StringVar(&r.tlsKey, "tls-key", "", "file with the private key for --tls-cert")
	f.StringVar(&r.tokenFile, "bearer-token-file", "", "file with the bearer token that all requests except /healthz need")
	f.BoolVar(&r.insecure, "insecure", false, "let other hosts connect without TLS or without a token")
	cmd.MarkFlagsMutuallyExclusive("metrics", "listen")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

// recording is one run of `electop record`.
type recording struct {
	*options

	address, tlsCert, tlsKey, tokenFile string // of the listener; no listener if the address is empty
	insecure                            bool
	token                               string
	local                               bool // only this host can connect

	lookups
	path     string
	recs     []*historyRecorder // of each datacenter
	observed *observers
}

func (r *recording) run(ctx context.Context, _ []string) (err error) {
	switch {
	case r.history == historyOff:
		return usagef("--history off: record writes the history; use --history FILE")
	case isURL(r.history):
		return usagef("--history: record writes to a file, not to another recorder")
	}
	if err = r.validate(); err == nil {
		r.lookups, err = r.open(ctx)
	}
	if err != nil {
		return err
	}
	if r.path, err = r.historyPath(r.all[0].store); err != nil {
		return err
	}
	var listener net.Listener
	if r.address != "" {
		if listener, err = web.Listen(ctx, r.address, r.tlsCert, r.tlsKey); err != nil { // fails immediately if the address is in use
			return fmt.Errorf("--listen: %w", err)
		}
		defer listener.Close()
	}
	return r.record(ctx, listener)
}

// record records until ctx ends or the history cannot be written. All datacenters write to one file, but each with its
// own writer, because a period of observation applies to only one datacenter.
func (r *recording) record(ctx context.Context, listener net.Listener) (err error) {
	defer func() {
		var closed errgroup.Group
		for _, rec := range r.recs {
			closed.Go(rec.close) // concurrently: a disk that does not respond delays every writer
		}
		err = cmp.Or(closed.Wait(), err)
	}()
	warn := r.logged(r.warn)
	source := sqlite.NewFile(r.path, r.identities(r.all)...)
	defer source.Close()
	r.observed = newObservers(source, r.options)
	queue := newQueue[election.Event]() // a blocked stderr must not block the observer
	served := metrics.New(metrics.Options{Version: version(), Store: r.store})
	for _, l := range r.all {
		rec := l.newHistoryRecorder(r.path, false, warn)
		if err := rec.writer.Open(ctx); err != nil {
			return err
		}
		rec.start()
		r.recs = append(r.recs, rec)
		warn = func(string) {} // all writers use one file, so the first one reports its errors
		var counted *metrics.Observed
		observer := r.observed.add(l, rec, feed.Options{EventsOnly: true, Replay: true, OnEvents: func(events []election.Event) {
			queue.push(events)
			counted.Events(events)
		}})
		name := ""
		if r.several() {
			name = l.Datacenter()
		}
		if counted, err = served.Observe(name, observer.Snapshot); err != nil {
			return err
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		r.observed.run(gctx)
		return nil
	})
	for _, rec := range r.recs {
		g.Go(func() error { return rec.wait(gctx) })
	}
	g.Go(func() error { return r.reportConnections(gctx, queue) })
	if listener != nil {
		handler := web.NewHandler(web.Options{
			Source: source, Belongs: source.Belongs, Metrics: served.Handler(), Record: r.recs[0].writer.RecordAction, Token: r.token, Local: r.local,
			Health:  r.health,
			OnError: func(err error) { r.warn(historyError(err)) },
		})
		g.Go(func() error {
			return web.Serve(gctx, listener, handler, slog.NewLogLogger(r.log.Handler(), slog.LevelDebug))
		})
	}
	g.Go(func() error { return r.announce(gctx, listener) })
	return unlessInterrupted(ctx, g.Wait())
}

// reportConnections writes a line when the connection to the store or to a datacenter is lost or restored.
func (r *recording) reportConnections(ctx context.Context, queue *queue[election.Event]) error {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			what := "connection to " + r.observed.all[0].Snapshot().Store.String()
			if r.several() {
				what = "connection to " + r.kind + " " + clean(e.Datacenter)
			}
			switch e.Type {
			case election.ConnectionLost:
				r.warn(what + " lost: " + e.Summary())
			case election.ConnectionRestored:
				r.warn(what + " restored")
			default:
			}
		}
	}
}

// store returns the state of the history for the metrics.
func (r *recording) store() (sum metrics.Store) {
	for _, rec := range r.recs {
		st := rec.writer.Status()
		sum.Queued, sum.Stored, sum.Dropped = sum.Queued+st.Queued, sum.Stored+st.Stored, sum.Dropped+st.Dropped
		sum.Failing = sum.Failing || writeProblem(st) != ""
	}
	return sum
}
