package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/feed"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
	"electop/internal/metrics"
)

func newRecordCommand(o *options) *cobra.Command {
	r := &recording{o: o}
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
		RunE: work(func(ctx context.Context, _ []string) error { return r.run(ctx) }),
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
	o *options

	address, tlsCert, tlsKey, tokenFile string // of the listener; no listener if the address is empty
	insecure                            bool
	token                               string
	local                               bool // only this host can connect

	lookups
	path     string
	recs     []*historyRecorder // of each datacenter
	observed *observers
}

func (r *recording) run(ctx context.Context) (err error) {
	switch {
	case r.o.history == historyOff:
		return usagef("--history off: record writes the history; use --history FILE")
	case isURL(r.o.history):
		return usagef("--history: record writes to a file, not to another recorder")
	}
	if err = r.validate(); err == nil {
		r.lookups, err = r.o.open(ctx)
	}
	if err != nil {
		return err
	}
	if r.path, err = r.o.historyPath(r.all[0].store); err != nil {
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
	warn := r.o.logged(r.o.warn)
	source := sqlite.NewFile(r.path, r.o.identities(r.all)...)
	defer source.Close()
	r.observed = newObservers(source, r.o)
	queue := newQueue[election.Event]() // a blocked stderr must not block the observer
	served := metrics.New(metrics.Options{Version: version(), Store: r.store})
	for _, l := range r.all {
		rec := r.o.newHistoryRecorder(warn)
		w, err := sqlite.OpenWriter(ctx, r.path, rec.options(r.o.identity(l.store), r.o.keep.age))
		if err != nil {
			return err
		}
		rec.start(w)
		r.recs = append(r.recs, rec)
		warn = func(string) {} // all writers use one file, so the first one reports its errors
		var counted *metrics.Observed
		observer := r.observed.add(l, rec, feed.Options{EventsOnly: true, Replay: true, OnEvents: func(events []election.Event) {
			queue.push(events)
			counted.Events(events)
		}})
		name := ""
		if r.several() {
			name = l.store.Datacenter()
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
			OnError: func(err error) { r.o.warn(historyError(err)) },
		})
		g.Go(func() error {
			return web.Serve(gctx, listener, handler, slog.NewLogLogger(r.o.log.Handler(), slog.LevelDebug))
		})
	}
	g.Go(func() error { return r.announce(gctx, listener) })
	return unlessInterrupted(ctx, g.Wait())
}

// announce prints a line as soon as the elections have been read, and what other hosts need. If there are several
// datacenters, it warns about each datacenter that cannot be read yet.
func (r *recording) announce(ctx context.Context, listener net.Listener) error {
	read := r.lookups // health needs the datacenters that cannot be read yet, too
	if err := read.await(ctx, r.observed.all); err != nil {
		return err
	}
	names := make([]string, len(read.all))
	for i, l := range read.all {
		names[i] = sanitize.Line(l.snapshot.Datacenter, 40)
	}
	addresses, patterns := read.watched()
	line := "recording " + clean(strings.Join(patterns, ", ")) + " of " + strings.Join(names, ", ") + " at " + addresses + " in " + clean(r.path)
	if read.all[0].store.Cluster(ctx) == "" {
		line += "; Connect is disabled, so electop cannot check that the file belongs to this cluster"
	}
	if listener == nil {
		r.o.warn(line)
		return nil
	}
	url := "http://" + listener.Addr().String()
	if r.tlsCert != "" {
		url = strings.Replace(url, "http", "https", 1)
	}
	r.o.warn(line + ", serving " + url)
	if r.local {
		return nil
	}
	if host, err := os.Hostname(); err == nil {
		url = strings.NewReplacer("[::]", host, "0.0.0.0", host).Replace(url)
	}
	if r.token != "" {
		url += " --history-token-file FILE"
	}
	r.o.warn("on other hosts: electop --history " + url)
	if r.token != "" {
		r.o.warn("FILE is a copy of " + r.tokenFile + "; a CA of the system, or of --history-ca-file, must have signed the certificate")
	}
	return nil
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
				r.o.warn(what + " lost: " + e.Summary())
			case election.ConnectionRestored:
				r.o.warn(what + " restored")
			default:
			}
		}
	}
}

// stalledAfter is the time after which a disk counts as stalled if the queue has made no progress.
const stalledAfter = 30 * time.Second

// health returns nil while all elections are observed and all events are stored. Otherwise it returns the reasons. If
// there are several datacenters, it names the datacenters that are not observed.
func (r *recording) health() error {
	var reasons []string
	for i, l := range r.all {
		if err := unobserved(r.observed.all[i].Snapshot()); err != nil {
			reasons = append(reasons, l.fail(err).Error())
		}
	}
	for _, rec := range r.recs { // all writers use one file, so one reason is enough
		if problem := rec.problem(); problem != "" {
			reasons = append(reasons, problem)
			break
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(strings.Join(reasons, "; "))
}

// unobserved returns why some elections of a datacenter are not observed. It returns nil if all are observed.
func unobserved(s *election.Snapshot) error {
	switch c := s.Connection; {
	case c.State == election.Lost:
		return fmt.Errorf("the connection to %s has been lost since %s: %s", s.Store, election.FormatTime(c.Since), c.Error)
	case c.State != election.Live || !s.Loaded:
		return errors.New("the elections have not been read yet")
	case s.CountStale() > 0:
		return fmt.Errorf("the data of %s is stale: some queries fail", election.Plural(s.CountStale(), "election"))
	}
	return nil
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
