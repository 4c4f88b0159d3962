// Package metrics exposes electop's observations as Prometheus metrics.
package metrics

import (
	"maps"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"electop/election"
	"electop/election/sanitize"
)

// maxElections is the maximum number of elections per datacenter that have separate series. Each election
// has 4 series.
const maxElections = 2000

// Options configure the metrics.
type Options struct {
	Version string
	// Store returns the state of the history file.
	Store func() Store
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
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Metrics{options: o, registry: prometheus.NewRegistry()}
	m.registry.MustRegister(m.process(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler returns the handler that serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Observed counts the events of one datacenter. At each scrape, it reads all other values from the newest snapshot, so
// that a series ends when the snapshot no longer contains its leader or election.
type Observed struct {
	Options
	snapshot  func() *election.Snapshot
	ended     *prometheus.CounterVec
	vacancies prometheus.Histogram
	outages   prometheus.Histogram
	missed    prometheus.Counter
	lost      prometheus.Counter

	mu  sync.Mutex
	all map[string]*counts // by key
}

// Observe adds the metrics of a datacenter. They have the label datacenter unless the name is empty. snapshot returns
// the newest snapshot. Observe fails if two datacenters have the same name.
func (m *Metrics) Observe(datacenter string, snapshot func() *election.Snapshot) (*Observed, error) {
	labels := prometheus.Labels{}
	if datacenter != "" {
		labels["datacenter"] = label(datacenter)
	}
	d := &Observed{
		Options: m.options, snapshot: snapshot, all: map[string]*counts{},
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "electop_terms_ended_total", Help: "Terms whose end was noticed, by cause; some may have ended while the connection was lost.",
		}, []string{"cause"}),
		vacancies: histogram("electop_vacancy_seconds", "Duration of the vacancies whose beginning and end were observed: the shortest possible outages."),
		outages:   histogram("electop_outage_max_seconds", "Longest possible outage of these vacancies, if the last sign of life of the leader is known."),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "electop_terms_missed_total", Help: "Terms that were not observed, counted by LockIndex.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "electop_store_connection_losses_total", Help: "Number of times the connection to Consul or etcd was lost.",
		}),
	}
	for _, cause := range election.Causes() {
		d.ended.WithLabelValues(string(cause)) // creates the series with the value 0, because increase() ignores the first sample
	}
	registry := prometheus.WrapRegistererWith(labels, m.registry)
	for _, c := range []prometheus.Collector{d, d.ended, d.vacancies, d.outages, d.missed, d.lost} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600},
	})
}

// Events counts events. It does not block.
func (d *Observed) Events(events []election.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range events {
		switch e := &events[i]; e.Type {
		case election.Elected:
			if c := d.counts(e.Key, e.Time); c != nil {
				c.count(e.Time, false)
				if !e.Initial {
					c.changes++
				}
			}
			if e.VacancyKnown {
				d.vacancies.Observe(e.Vacancy.Seconds())
				if !e.AliveUntil.IsZero() {
					d.outages.Observe(e.Time.Sub(e.AliveUntil).Seconds())
				}
			}
		case election.Vacated:
			if c := d.counts(e.Key, e.Time); c != nil {
				c.count(e.Time, true)
			}
		case election.Explained:
			d.ended.WithLabelValues(string(e.Cause)).Inc()
		case election.Missed:
			d.missed.Add(float64(e.Count))
		case election.ConnectionLost:
			d.lost.Inc()
			for _, c := range d.all {
				c.count(e.Time, false) // the state is unknown until the next event or the next scrape with a connection
			}
		default:
		}
	}
}

// counts returns the counters of an election, or nil if the maximum number of elections is reached.
func (d *Observed) counts(key string, at time.Time) *counts {
	c := d.all[key]
	if c == nil && len(d.all) < maxElections {
		c = &counts{at: at}
		d.all[key] = c
	}
	return c
}

// Describe lists nothing: the registry checks the metrics when it collects them.
func (*Observed) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of all elections. It holds the mutex, so no event is counted in the meantime, and the
// snapshot contains every counted event.
func (d *Observed) Collect(ch chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, s := d.Now(), d.snapshot()
	live := s.Connection.State == election.Live
	states := map[election.State]int{election.Led: 0, election.Vacant: 0, election.InLockDelay: 0, election.OfSemaphore: 0, election.Idle: 0}
	for _, e := range s.Elections {
		states[e.State(now)]++
	}
	maps.DeleteFunc(d.all, func(key string, _ *counts) bool { return s.Find(election.KeyID(key)) == nil })
	used := map[[2]string]bool{}
	for _, e := range s.Elections {
		c, labels := d.counts(e.Key(), now), [2]string{label(e.Name), label(e.Key())}
		if c == nil || used[labels] {
			continue
		}
		used[labels] = true
		_, stale := s.StaleSince(e.Key())
		known, state := live && !stale && !e.Unreadable, e.State(now)
		c.count(now, known && (state == election.Vacant || state == election.InLockDelay))
		ch <- counter(descChanges, float64(c.changes), labels[:]...)
		ch <- counter(descWithout, c.without.Seconds(), labels[:]...)
		leader := c.leaderOf(e)
		if known && state != election.OfSemaphore {
			ch <- gauge(descLed, flag(state == election.Led), labels[:]...)
		}
		if known && state == election.Led {
			ch <- gauge(descLeader, 1, labels[0], labels[1], leader, label(e.Node()))
		}
	}
	for state, n := range states {
		ch <- gauge(descStates, float64(n), string(state))
	}
	ch <- gauge(descOmitted, float64(len(s.Elections)-len(used)))
	ch <- gauge(descConnected, flag(live))
	stale := len(s.Elections)
	if live {
		stale = s.CountStale()
	}
	ch <- gauge(descStale, float64(stale))
	if at := s.Connection.LastContact; !at.IsZero() {
		ch <- gauge(descContact, float64(at.UnixMilli())/1000)
	}
}

// process collects the versions and the state of the history file.
func (m *Metrics) process() prometheus.CollectorFunc {
	return func(ch chan<- prometheus.Metric) {
		ch <- gauge(descBuild, 1, m.options.Version, runtime.Version())
		st := m.options.Store()
		ch <- gauge(descQueued, float64(st.Queued))
		ch <- counter(descStored, float64(st.Stored))
		ch <- counter(descDropped, float64(st.Dropped))
		ch <- gauge(descWritable, flag(!st.Failing))
	}
}

func counter(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
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

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

//nolint:gochecknoglobals // descriptions of metrics are constant
var (
	descLeader = desc("electop_election_leader_info", "Always 1; the labels contain the leader and its node. An election without a leader has no series.",
		"election", "key", "leader", "node")
	descLed = desc("electop_election_has_leader",
		"1 if the election has a leader, otherwise 0. Semaphores, and keys whose state is unknown, have no series.", "election", "key")
	descChanges = desc("electop_election_changes_total", "Terms whose beginning was noticed; some may have begun while the connection was lost.", "election", "key")
	descWithout = desc("electop_election_without_leader_seconds_total", "Observed time without a leader.", "election", "key")
	descStates  = desc("electop_elections", "Elections by state.", "state")
	descOmitted = desc("electop_elections_omitted", "Elections without separate series, because of the limit or because several elections have equal labels.")
	descStale   = desc("electop_elections_stale", "Elections whose state is not current.")

	descConnected = desc("electop_store_connected", "1 while electop observes Consul or etcd, otherwise 0.")
	descContact   = desc("electop_store_last_contact_timestamp_seconds", "Time at which the state of all elections was last known to be current.")

	descBuild = desc("electop_build_info", "Always 1; the labels are the versions of electop and Go.", "version", "goversion")

	descQueued   = desc("electop_history_queue_length", "Events in the queue that are not yet stored in the history.")
	descStored   = desc("electop_history_stored_events_total", "Events stored in the history file.")
	descDropped  = desc("electop_history_dropped_events_total", "Events dropped because the history queue was full.")
	descWritable = desc("electop_history_writable", "1 while the history file accepts events, otherwise 0.")
)

func label(s string) string { return sanitize.Line(s, 120) }

// counts contains the counters of one election.
type counts struct {
	changes uint64
	without time.Duration
	vacant  bool
	at      time.Time // without includes the time until at
	// session holds the key according to the latest scrape, and leader is its label. relabeled is set if it changed.
	session, leader string
	relabeled       bool
}

func (c *counts) count(at time.Time, vacant bool) {
	if at.After(c.at) {
		if c.vacant {
			c.without += at.Sub(c.at)
		}
		c.at = at
	}
	c.vacant = vacant
}

// leaderOf returns the label of the leader. It changes at most once in a term, after a late read of the session: a holder
// that writes a time as its value must not create a series for each scrape.
func (c *counts) leaderOf(e *election.Election) string {
	switch {
	case e.Pair.Session != c.session:
		c.session, c.leader, c.relabeled = e.Pair.Session, label(e.Leader), false
	case !c.relabeled && label(e.Leader) != c.leader:
		c.leader, c.relabeled = label(e.Leader), true
	}
	return c.leader
}
