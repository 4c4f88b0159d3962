package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
	"electop/internal/metrics"
)

// recordWeb holds the flags of `electop record` for its listener.
type recordWeb struct {
	metrics, listen string
	tlsCert, tlsKey string
	bearerTokenFile string

	// The method validate sets these fields. flag is the name of the flag in use, --metrics or --listen. local is set
	// if only this host can connect.
	flag, address string
	local         bool
	bearerToken   string
}

func (w *recordWeb) register(f *pflag.FlagSet) {
	f.StringVar(&w.metrics, "metrics", "", "serve Prometheus metrics, the history and /healthz on this loopback address, such as 127.0.0.1:9273 or :9273")
	f.StringVar(&w.listen, "listen", "", "like --metrics, but on any address; an address that other hosts can reach requires --tls-cert or --bearer-token-file")
	f.StringVar(&w.tlsCert, "tls-cert", "", "file with the certificate of the listener and its chain")
	f.StringVar(&w.tlsKey, "tls-key", "", "file with the private key for --tls-cert")
	f.StringVar(&w.bearerTokenFile, "bearer-token-file", "", "file with the bearer token that all requests except /healthz need")
}

// validate checks the flags and reads the token.
func (w *recordWeb) validate() (err error) {
	w.flag, w.address = "--listen", w.listen
	if w.metrics != "" {
		w.flag, w.address = "--metrics", w.metrics
	}
	switch {
	case w.metrics != "" && w.listen != "":
		return usagef("--metrics and --listen are mutually exclusive: --listen also serves the metrics")
	case (w.tlsCert == "") != (w.tlsKey == ""):
		return usagef("--tls-cert and --tls-key must be used together")
	case w.address == "" && (w.tlsCert != "" || w.bearerTokenFile != ""):
		return usagef("--tls-cert and --bearer-token-file require --metrics or --listen")
	}
	if w.bearerTokenFile != "" {
		if w.bearerToken, err = readToken(w.bearerTokenFile); err != nil {
			return usagef("--bearer-token-file: %v", err)
		}
	}
	if w.address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(w.address)
	if host == "" && w.metrics != "" {
		host = "127.0.0.1"
	}
	given := sanitize.Line(w.address, 100)
	w.local, w.address = web.Loopback(host), net.JoinHostPort(host, port)
	switch {
	case err != nil:
		return usagef("%s %q: must be an address such as 127.0.0.1:9273", w.flag, given)
	case w.metrics != "" && !w.local:
		return usagef("--metrics %q is not a loopback address; use --listen with --tls-cert and --tls-key or --bearer-token-file", given)
	case !w.local && w.tlsCert == "" && w.bearerToken == "":
		return usagef("--listen %q: other hosts could read the history; use --tls-cert and --tls-key or --bearer-token-file, or both", given)
	}
	return nil
}

// open listens on the address, so that record fails immediately if the address is in use.
func (w *recordWeb) open(ctx context.Context) (*web.Listener, error) {
	l, err := web.Listen(ctx, w.address, w.tlsCert, w.tlsKey)
	if err != nil {
		return nil, errors.New(w.flag + ": " + err.Error())
	}
	return l, nil
}

// serve handles requests until ctx ends.
func (r *recording) serve(ctx context.Context) error {
	handler := web.NewHandler(web.Options{
		Source: r.source, Metrics: r.metrics.Handler(), Record: r.places[0].rec.writer.RecordAction, Token: r.web.bearerToken, Local: r.web.local,
		Health:  r.health,
		OnError: func(err error) { r.d.warn(historyError(err)) },
	})
	return r.listener.Serve(ctx, handler, func(line string) { r.log.Debug("http", "error", sanitize.Line(line, 400)) })
}

// stalledAfter is the time after which a disk counts as stalled if the queue has made no progress.
const stalledAfter = 30 * time.Second

// health returns nil while all elections are observed and all events are stored. Otherwise it returns the reasons. If
// there are several datacenters, it names the datacenters that are not observed.
func (r *recording) health() error {
	var reasons []string
	for _, p := range r.places {
		if err := unobserved(p.observer.Snapshot()); err != nil {
			reasons = append(reasons, p.fail(err).Error())
		}
	}
	for _, p := range r.places { // all writers use one file, so one reason is enough
		if err := p.rec.unstored(); err != nil {
			reasons = append(reasons, err.Error())
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
		return fmt.Errorf("the connection to Consul has been lost since %s: %s", election.FormatTime(c.Since), c.Error)
	case c.State != election.Live || !s.Loaded:
		return errors.New("the elections have not been read yet")
	case s.CountStale() > 0:
		return fmt.Errorf("the data of %s is stale: some queries fail", countElections(s.CountStale()))
	}
	return nil
}

// unstored returns why events are not stored. It returns nil if they are stored.
func (r *historyRecorder) unstored() error {
	select {
	case <-r.done:
		return errors.New("electop can no longer write the history")
	default:
	}
	switch st := r.writer.Status(); {
	case st.Err != nil:
		var e *sqlite.Error
		if errors.As(st.Err, &e) {
			return errors.New("events are not stored: " + e.Reason())
		}
		return errors.New("events are not stored")
	case st.Waiting > stalledAfter:
		return fmt.Errorf("no event was stored for %s although the queue contains %s: the disk does not respond", st.Waiting.Round(time.Second), election.Plural(uint64(st.Queued), "event")) //nolint:gosec // a queue length
	}
	return nil
}

// newMetrics returns the metrics of a recording.
func (r *recording) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Options{Version: version(), Store: func() (sum metrics.Store) {
		for _, p := range r.places {
			st := p.rec.writer.Status()
			sum.Queued, sum.Stored, sum.Dropped = sum.Queued+st.Queued, sum.Stored+st.Stored, sum.Dropped+st.Dropped
			sum.Failing = sum.Failing || st.Err != nil || st.Waiting > stalledAfter
		}
		return sum
	}})
}
