// Package metrics exposes electop's observations as Prometheus metrics.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"electop/election"
)

// DefaultElections is the default maximum number of elections per datacenter that have separate series. Each election
// has 4 series.
const DefaultElections = 2000

// Options configure the metrics.
type Options struct {
	Version string
	// Store returns the state of the history file.
	Store func() Store
	// Elections is the maximum number of elections per datacenter that have separate series; 0 means [DefaultElections].
	Elections int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Store is the state of the history file.
type Store struct {
	Queued          int
	Stored, Dropped uint64
	// Failing is set while the history file does not accept events.
	Failing bool
}

// Metrics are the metrics of a process that observes one or several datacenters.
type Metrics struct {
	options  Options
	registry *prometheus.Registry
}

// New returns metrics without a datacenter.
func New(o Options) *Metrics {
	if o.Elections <= 0 {
		o.Elections = DefaultElections
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Metrics{options: o, registry: prometheus.NewRegistry()}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "electop_build_info", Help: "Always 1; the labels are the versions of electop and Go.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build, store(o.Store),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler returns the handler that serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Observed counts the events of one datacenter. It reads all other values at each scrape.
type Observed struct {
	elections *elections
	ended     *prometheus.CounterVec
	vacancies prometheus.Histogram
	missed    prometheus.Counter
	lost      prometheus.Counter
}

// Observe adds the metrics of a datacenter. They have the label datacenter unless the name is empty. snapshot returns
// the newest snapshot. Observe fails if two datacenters have the same name.
func (m *Metrics) Observe(datacenter string, snapshot func() *election.Snapshot) (*Observed, error) {
	labels := prometheus.Labels{}
	if datacenter != "" {
		labels["datacenter"] = label(datacenter)
	}
	registry := prometheus.WrapRegistererWith(labels, m.registry)
	d := newObserved()
	d.elections = newElections(m.options, snapshot)
	for _, c := range []prometheus.Collector{d.elections, d.ended, d.vacancies, d.missed, d.lost} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// newObserved returns the counters of a datacenter.
func newObserved() *Observed {
	d := &Observed{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "electop_terms_ended_total", Help: "Terms whose end was noticed, by cause; some may have ended while the connection was lost.",
		}, []string{"cause"}),
		vacancies: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "electop_vacancy_seconds", Help: "Duration of the vacancies whose beginning and end were observed.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600},
		}),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "electop_terms_missed_total", Help: "Terms that were not observed, counted by LockIndex.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "electop_consul_connection_losses_total", Help: "Number of times the connection to Consul was lost.",
		}),
	}
	for _, cause := range election.Causes() {
		d.ended.WithLabelValues(string(cause)) // creates the series with the value 0, because increase() ignores the first sample
	}
	return d
}

// Events counts events. It does not block.
func (d *Observed) Events(events []election.Event) {
	d.elections.events(events)
	for i := range events {
		switch e := &events[i]; e.Type {
		case election.Elected:
			if e.VacancyKnown && !e.Initial {
				d.vacancies.Observe(e.Vacancy.Seconds())
			}
		case election.Explained:
			d.ended.WithLabelValues(string(knownCause(e.Cause))).Inc()
		case election.Missed:
			d.missed.Add(float64(e.Count))
		case election.ConnectionLost:
			d.lost.Inc()
		default:
		}
	}
}

// knownCause limits the values of the label to the known causes.
func knownCause(c election.Cause) election.Cause {
	for _, known := range election.Causes() {
		if c == known {
			return c
		}
	}
	return election.Unknown
}

// store reads the state of the history file.
type store func() Store

func (store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descQueued, descStored, descDropped, descWritable} {
		ch <- d
	}
}

func (s store) Collect(ch chan<- prometheus.Metric) {
	st := s()
	ch <- gauge(descQueued, float64(st.Queued))
	ch <- prometheus.MustNewConstMetric(descStored, prometheus.CounterValue, float64(st.Stored))
	ch <- prometheus.MustNewConstMetric(descDropped, prometheus.CounterValue, float64(st.Dropped))
	ch <- gauge(descWritable, flag(!st.Failing))
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
