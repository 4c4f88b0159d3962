// Package metrics exposes electop's observations as Prometheus metrics.
package metrics

import (
	"errors"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

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
	options Options
	started time.Time
	mu      sync.Mutex
	all     []*Observed
}

// New returns metrics without a datacenter.
func New(o Options) *Metrics {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Metrics{options: o, started: time.Now()}
}

// Handler returns the handler that serves the metrics to Prometheus. It does not use Prometheus's client library, whose
// initialization takes a millisecond and a megabyte in every command.
func (m *Metrics) Handler() http.Handler {
	scrapes := make(chan bool, 4)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case scrapes <- true:
			defer func() { <-scrapes }()
		default:
			http.Error(w, "too many concurrent scrapes; retry later", http.StatusServiceUnavailable)
			return
		}
		format := expfmt.NewFormat(expfmt.TypeTextPlain)
		w.Header().Set("Content-Type", string(format))
		encoder, all := expfmt.NewEncoder(w, format), m.collect()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if encoder.Encode(all[name]) != nil {
				return // the client is gone
			}
		}
	})
}

// collect returns all metrics by name.
func (m *Metrics) collect() map[string]*dto.MetricFamily {
	s, st := scrape{all: map[string]*dto.MetricFamily{}}, m.options.Store()
	s.add("electop_build_info", "Always 1; the labels are the versions of electop and Go.", 1, "goversion", runtime.Version(), "version", m.options.Version)
	s.add("process_start_time_seconds", "Time at which electop started.", seconds(m.started))
	s.add("electop_history_queue_length", "Events in the queue that are not yet stored in the history.", float64(st.Queued))
	s.add("electop_history_stored_events_total", "Events stored in the history file.", float64(st.Stored))
	s.add("electop_history_dropped_events_total", "Events dropped because the history queue was full.", float64(st.Dropped))
	s.add("electop_history_writable", "1 while the history file accepts events, otherwise 0.", flag(!st.Failing))
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.all {
		if s.labels = nil; d.datacenter != "" {
			s.labels = []string{"datacenter", d.datacenter}
		}
		d.collect(&s)
	}
	return s.all
}

// Observed counts the events of one datacenter. At each scrape, it reads all other values from the newest snapshot, so
// that a series ends when the snapshot no longer contains its leader or election.
type Observed struct {
	Options
	datacenter string // the label, or ""
	snapshot   func() *election.Snapshot

	mu                 sync.Mutex
	all                map[string]*counts // by key
	ended              map[election.Cause]uint64
	vacancies, outages histogram
	missed, lost       uint64
}

// Observe adds the metrics of a datacenter. They have the label datacenter unless the name is empty. snapshot returns
// the newest snapshot. Observe fails if two datacenters have the same name.
func (m *Metrics) Observe(datacenter string, snapshot func() *election.Snapshot) (*Observed, error) {
	d := &Observed{Options: m.options, datacenter: label(datacenter), snapshot: snapshot, all: map[string]*counts{}, ended: map[election.Cause]uint64{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.all, func(o *Observed) bool { return o.datacenter == d.datacenter }) {
		return nil, errors.New("several datacenters have the name " + datacenter)
	}
	m.all = append(m.all, d)
	return d, nil
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
				d.vacancies.add(e.Vacancy)
				if !e.AliveUntil.IsZero() {
					d.outages.add(e.Time.Sub(e.AliveUntil))
				}
			}
		case election.Vacated:
			if c := d.counts(e.Key, e.Time); c != nil {
				c.count(e.Time, true)
			}
		case election.Explained:
			d.ended[e.Cause]++
		case election.Missed:
			d.missed += e.Count
		case election.ConnectionLost:
			d.lost++
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

// collect adds the metrics of all elections. It holds the mutex, so no event is counted in the meantime, and the snapshot
// contains every counted event.
func (d *Observed) collect(r *scrape) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, s := d.Now(), d.snapshot()
	live := s.Connection.State == election.Live
	states := map[election.State]int{}
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
		of := []string{"election", labels[0], "key", labels[1]}
		_, stale := s.StaleSince(e.Key())
		known, state := live && !stale && !e.Unreadable, e.State(now)
		c.count(now, known && (state == election.Vacant || state == election.InLockDelay))
		r.add("electop_election_changes_total", "Terms whose beginning was noticed; some may have begun while the connection was lost.", float64(c.changes), of...)
		r.add("electop_election_without_leader_seconds_total", "Observed time without a leader.", c.without.Seconds(), of...)
		leader := c.leaderOf(e)
		if known && state != election.OfSemaphore {
			r.add("electop_election_has_leader", "1 if the election has a leader, otherwise 0. Semaphores, and keys whose state is unknown, have no series.", flag(state == election.Led), of...)
		}
		if known && state == election.Led {
			r.add("electop_election_leader_info", "Always 1; the labels contain the leader and its node. An election without a leader has no series.", 1, append(of, "leader", leader, "node", label(e.Node()))...)
		}
	}
	for _, state := range []election.State{election.Led, election.Vacant, election.InLockDelay, election.OfSemaphore, election.Idle} {
		r.add("electop_elections", "Elections by state.", float64(states[state]), "state", string(state))
	}
	r.add("electop_elections_omitted", "Elections without separate series, because of the limit or because several elections have equal labels.", float64(len(s.Elections)-len(used)))
	r.add("electop_store_connected", "1 while electop observes Consul or etcd, otherwise 0.", flag(live))
	stale := len(s.Elections)
	if live {
		stale = s.CountStale()
	}
	r.add("electop_elections_stale", "Elections whose state is not current.", float64(stale))
	if at := s.Connection.LastContact; !at.IsZero() {
		r.add("electop_store_last_contact_timestamp_seconds", "Time at which the state of all elections was last known to be current.", seconds(at))
	}
	for _, cause := range election.Causes() { // also those that did not occur, because increase() ignores the first sample
		r.add("electop_terms_ended_total", "Terms whose end was noticed, by cause; some may have ended while the connection was lost.", float64(d.ended[cause]), "cause", string(cause))
	}
	r.add("electop_terms_missed_total", "Terms that were not observed, counted by LockIndex.", float64(d.missed))
	r.add("electop_store_connection_losses_total", "Number of times the connection to Consul or etcd was lost.", float64(d.lost))
	r.metric("electop_vacancy_seconds", "Duration of the vacancies whose beginning and end were observed: the shortest possible outages.", dto.MetricType_HISTOGRAM).Histogram = d.vacancies.export()
	r.metric("electop_outage_max_seconds", "Longest possible outage of these vacancies, if the last sign of life of the leader is known.", dto.MetricType_HISTOGRAM).Histogram = d.outages.export()
}

// bounds are those of the histograms, in seconds.
var bounds = [...]float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600} //nolint:gochecknoglobals // constant

// histogram counts durations.
type histogram struct {
	sum    float64
	n      uint64
	counts [len(bounds)]uint64 // of the durations up to the bound
}

func (h *histogram) add(d time.Duration) {
	for i, bound := range bounds {
		if d.Seconds() <= bound {
			h.counts[i]++
		}
	}
	h.n++
	h.sum += d.Seconds()
}

func (h histogram) export() *dto.Histogram {
	out := &dto.Histogram{SampleSum: &h.sum, SampleCount: &h.n}
	for i := range bounds {
		out.Bucket = append(out.Bucket, &dto.Bucket{UpperBound: &bounds[i], CumulativeCount: &h.counts[i]})
	}
	return out
}

// scrape is a response.
type scrape struct {
	all    map[string]*dto.MetricFamily // by name
	labels []string                     // names and values for all metrics that are added
}

// metric adds a metric without a value. labels contains the names and the values.
func (s *scrape) metric(name, help string, kind dto.MetricType, labels ...string) *dto.Metric {
	m := &dto.Metric{}
	for pair := range slices.Chunk(slices.Concat(s.labels, labels), 2) {
		m.Label = append(m.Label, &dto.LabelPair{Name: &pair[0], Value: &pair[1]})
	}
	if s.all[name] == nil {
		s.all[name] = &dto.MetricFamily{Name: &name, Help: &help, Type: &kind}
	}
	s.all[name].Metric = append(s.all[name].Metric, m)
	return m
}

// add adds a counter, whose name ends with _total, or a gauge.
func (s *scrape) add(name, help string, v float64, labels ...string) {
	if strings.HasSuffix(name, "_total") {
		s.metric(name, help, dto.MetricType_COUNTER, labels...).Counter = &dto.Counter{Value: &v}
	} else {
		s.metric(name, help, dto.MetricType_GAUGE, labels...).Gauge = &dto.Gauge{Value: &v}
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

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
