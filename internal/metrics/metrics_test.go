package metrics_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/consultest"
	"electop/internal/metrics"
)

// stage feeds the metrics with the events and snapshots of a tracker.
type stage struct {
	t        *testing.T
	tracker  *tracker.Tracker
	metrics  *metrics.Metrics
	observed *metrics.Observed
	store    metrics.Store
	now      time.Time
	index    uint64
	pairs    []election.Pair
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t}
	s.metrics = metrics.New(metrics.Options{
		Version: "v1.2.3", Now: func() time.Time { return s.now }, Store: func() metrics.Store { return s.store },
	})
	s.observe("", "dc1")
	return s
}

// observe begins to feed the metrics with a datacenter.
func (s *stage) observe(label, datacenter string) {
	s.t.Helper()
	s.now, s.tracker, s.index = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC), tracker.New(tracker.Options{Patterns: consultest.Patterns(s.t)}), 100
	var err error
	s.observed, err = s.metrics.Observe(label, func() *election.Snapshot { return s.tracker.Snapshot(s.now) })
	consultest.Must(s.t, err)
	s.see(election.LinkUp{At: s.now, Source: "keys"})
	s.see(election.DatacenterRead{At: s.now, Datacenter: datacenter})
	s.see(election.SessionsRead{At: s.now, Sessions: []*election.Session{{ID: "s1", Node: "node-1", TTL: 10 * time.Second}, {ID: "s2", Node: "node-2"}}})
}

// newStages returns a stage for each datacenter. The stages share their metrics.
func newStages(t *testing.T, datacenters ...string) (all []*stage) {
	t.Helper()
	m := metrics.New(metrics.Options{
		Version: "v1.2.3", Now: func() time.Time { return all[0].now }, Store: func() metrics.Store { return metrics.Store{} },
	})
	for _, name := range datacenters {
		s := &stage{t: t, metrics: m}
		s.observe(name, name)
		all = append(all, s)
	}
	return all
}

func (s *stage) see(o election.Observation) { s.observed.Events(s.tracker.Observe(o)) }

func (s *stage) after(d time.Duration) *stage {
	s.now = s.now.Add(d)
	s.see(election.Clock{At: s.now})
	return s
}

func (s *stage) read() {
	read := election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: election.Pairs(s.pairs...)}
	slices.SortFunc(read.Pairs, election.ComparePairs)
	s.see(read)
}

// hold makes a session the holder of an election's key; "" makes the election vacant.
func (s *stage) hold(name, session string) {
	key := "service/" + name + "/leader"
	i := slices.IndexFunc(s.pairs, func(p election.Pair) bool { return p.Key == key })
	if i < 0 {
		i = len(s.pairs)
		s.pairs = append(s.pairs, election.Pair{Key: key, CreateIndex: s.index})
	}
	p := &s.pairs[i]
	s.index++
	if p.Session, p.ModifyIndex = session, s.index; session != "" {
		p.LockIndex++
		p.Value = []byte("leader of " + session)
	}
	s.read()
}

// scrape returns the response to a scrape.
func (s *stage) scrape() string {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		s.t.Fatal(w.Code, w.Body)
	}
	return w.Body.String()
}

// has checks that the response to a scrape contains these lines. A line that begins with ! must be absent. {web stands for
// the labels of the election web.
func (s *stage) has(lines ...string) {
	s.t.Helper()
	text := s.scrape()
	for _, line := range lines {
		want, absent := strings.CutPrefix(strings.ReplaceAll(line, "{web", web), "!")
		if strings.Contains("\n"+text, "\n"+want) == absent {
			s.t.Errorf("%s in\n%s", line, onlyElectop(text))
		}
	}
}

func onlyElectop(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "electop_") })
	return strings.Join(lines, "\n")
}

const web = `{election="web",key="service/web/leader"`

func TestSeriesFollowTheElection(t *testing.T) {
	s := newStage(t)
	s.hold("web", "s1")
	s.has(`electop_election_leader_info{web,leader="leader of s1",node="node-1"} 1`, `electop_election_has_leader{web} 1`,
		`electop_election_changes_total{web} 0`, `electop_election_without_leader_seconds_total{web} 0`,
		`electop_elections{state="led"} 1`, `electop_elections{state="vacant"} 0`, `electop_elections{state="semaphore"} 0`,
		`electop_build_info{goversion="go`, `electop_elections_omitted 0`, `electop_terms_ended_total{cause="check_critical"} 0`)
	s.hold("web", "")
	s.after(3 * time.Second)
	s.has(`electop_election_has_leader{web} 0`, `electop_election_without_leader_seconds_total{web} 3`, `!electop_election_leader_info`,
		`electop_elections{state="vacant"} 1`, `electop_terms_ended_total{cause="unknown"} 1`)
	s.after(2*time.Second).hold("web", "s2")
	s.after(time.Minute)
	s.has(`electop_election_leader_info{web,leader="leader of s2",node="node-2"} 1`, `!electop_election_leader_info{web,leader="leader of s1"`,
		`electop_election_changes_total{web} 1`, `electop_election_without_leader_seconds_total{web} 5`,
		`electop_vacancy_seconds_bucket{le="5"} 1`, `electop_vacancy_seconds_bucket{le="2.5"} 0`, `electop_vacancy_seconds_sum 5`, `electop_outage_max_seconds_sum 25`)
	s.pairs = nil
	s.read()
	s.has(`!electop_election_leader_info`, `electop_election_has_leader{web} 0`)
}

// A holder that writes another value for each scrape does not create a series for each.
func TestAChangingValueCreatesNoSeries(t *testing.T) {
	s := newStage(t)
	s.hold("web", "s1")
	series := map[string]bool{}
	for i := range 20 {
		s.pairs[0].Value = []byte(strconv.Itoa(1_700_000_000 + i))
		s.pairs[0].ModifyIndex++
		s.after(time.Second).read()
		for line := range strings.Lines(s.scrape()) {
			if strings.HasPrefix(line, "electop_election_leader_info") {
				series[line] = true
			}
		}
	}
	if len(series) > 2 {
		t.Errorf("%d series: %v", len(series), series)
	}
	s.hold("web", "")
	s.hold("web", "s2")
	s.has(`electop_election_leader_info{web,leader="leader of s2",node="node-2"} 1`)
}

func TestSeriesEndWithTheElection(t *testing.T) {
	s := newStage(t)
	s.hold("web", "s1")
	s.has(`electop_election_changes_total{web`)
	// A tracker keeps a deleted election for some time; this new tracker has never observed web.
	s.tracker = newStage(t).tracker
	s.has(`!electop_election_`, `electop_elections{state="led"} 0`)
}

func TestTimeWithoutObservationIsNotCounted(t *testing.T) {
	s := newStage(t)
	s.hold("web", "s1")
	s.hold("web", "")
	s.after(2 * time.Second)
	s.see(election.LinkLost{At: s.now, Source: "keys", Error: "refused"})
	s.has(`electop_store_connected 0`, `!electop_election_has_leader`, `electop_elections_stale 1`, `electop_store_connection_losses_total 1`)
	s.after(time.Hour)
	s.has(`electop_election_without_leader_seconds_total{web} 2`)
}

func TestSemaphoresHaveNoLeader(t *testing.T) {
	s := newStage(t)
	s.pairs = []election.Pair{{
		Key: "service/slots/leader", Flags: election.SemaphoreFlag, CreateIndex: 1, ModifyIndex: 1, Value: []byte(`{"Limit":2,"Holders":{"s1":true}}`),
	}}
	s.read()
	s.has(`electop_elections{state="semaphore"} 1`, `!electop_election_has_leader`, `!electop_election_leader_info`)
	s.after(time.Minute)
	s.has(`electop_election_without_leader_seconds_total{election="slots",key="service/slots/leader"} 0`)
}

func TestSeriesAreBounded(t *testing.T) {
	s := newStage(t)
	for i := range 2002 {
		s.hold("web-"+strconv.Itoa(i), "s1")
	}
	s.has(`electop_elections_omitted 2`, `electop_elections{state="led"} 2002`)
	if n := strings.Count(s.scrape(), "\nelectop_election_changes_total{"); n != 2000 {
		t.Errorf("%d elections", n)
	}
	// The events of elections without a separate series still count.
	s.hold("web-2001", "s2")
	s.after(2 * time.Second)
	s.has(`electop_terms_ended_total{cause="unknown"} 1`)
}

func TestLabelsAreSafeAndDistinct(t *testing.T) {
	s := newStage(t)
	long := strings.Repeat("x", 200)
	for _, name := range []string{"a\x1b[31m\"\\", long + "1", long + "2"} {
		s.hold(name, "s1")
	}
	text := s.scrape()
	if strings.ContainsRune(text, '\x1b') || strings.Contains(text, long) {
		t.Error(onlyElectop(text))
	}
	s.has(`electop_elections_omitted 1`) // two elections have equal labels
}

func TestStateOfTheHistory(t *testing.T) {
	s := newStage(t)
	s.store = metrics.Store{Queued: 5, Stored: 7, Dropped: 2, Failing: true}
	s.has(`electop_history_queue_length 5`, `electop_history_stored_events_total 7`, `electop_history_dropped_events_total 2`, `electop_history_writable 0`)
	s.has(fmt.Sprintf(`electop_store_last_contact_timestamp_seconds %g`, float64(s.now.Unix())))
}

const webIn = `{datacenter="%s",election="web",key="service/web/leader"`

func TestSeriesOfSeveralDatacenters(t *testing.T) {
	all := newStages(t, "dc1", "dc2")
	dc1, dc2 := all[0], all[1]
	web1, web2 := fmt.Sprintf(webIn, "dc1"), fmt.Sprintf(webIn, "dc2")
	dc1.hold("web", "s1")
	dc2.hold("web", "s1")
	dc2.hold("web", "")
	dc2.hold("web", "s2")
	dc1.has(`electop_election_leader_info`+web1+`,leader="leader of s1",node="node-1"} 1`, `electop_election_leader_info`+web2+`,leader="leader of s2",node="node-2"} 1`,
		`electop_election_changes_total`+web1+`} 0`, `electop_election_changes_total`+web2+`} 1`, `electop_elections_omitted{datacenter="dc2"} 0`,
		`electop_vacancy_seconds_count{datacenter="dc1"} 0`, `electop_vacancy_seconds_count{datacenter="dc2"} 1`, `electop_history_writable 1`)
	dc2.see(election.LinkLost{At: dc2.now, Source: "keys", Error: "refused"})
	dc1.has(`electop_store_connected{datacenter="dc1"} 1`, `electop_store_connected{datacenter="dc2"} 0`, `electop_elections_stale{datacenter="dc1"} 0`,
		`electop_elections_stale{datacenter="dc2"} 1`, `electop_store_connection_losses_total{datacenter="dc2"} 1`, `electop_elections{datacenter="dc2",state="led"} 1`,
		`electop_election_has_leader`+web1+`} 1`, `!electop_election_has_leader`+web2, `electop_terms_missed_total{datacenter="dc1"} 0`,
		`electop_terms_ended_total{datacenter="dc1",cause="released"} 0`, `!electop_store_connected 1`)
	if _, err := dc1.metrics.Observe("dc2", nil); err == nil {
		t.Error("Observe returned no error for a second datacenter with the same name")
	}
}

// promtool runs Prometheus's promtool.
func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), consultest.Program(t, "promtool", "apt-get install prometheus"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || strings.Contains(out.String(), "electop_") && args[1] == "metrics" {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
}
