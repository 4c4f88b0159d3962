package faults

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// killed is a history whose recorder is killed repeatedly while writers make 50 changes per second.
type killed struct {
	t    *testing.T
	file string
	args []string
	// seen contains the events that a reader found in the file before one of the kills.
	seen  map[string]bool
	kills []period // the periods after a kill in which no recorder may have observed
}

type period struct{ start, end time.Time }

// A recorder is killed at random times, 100 times with ELECTOP_FAULTS=all. Its successor waits for the lease: many are killed
// before they store anything. No event that a reader saw is lost, and the history tells every gap.
func TestNoStoredEventIsLostByKills(t *testing.T) {
	t.Parallel()
	times := 3
	if os.Getenv("ELECTOP_FAULTS") == "all" {
		times = 100
	}
	agent, rng := consultest.Shared(t), rand.New(rand.NewPCG(1, 1))
	k := &killed{
		t: t, file: filepath.Join(t.TempDir(), "h.db"), seen: map[string]bool{},
		args: []string{"--http-addr", agent.Addr(), "-k", "killed/*/leader"},
	}
	r := record(t, k.file, k.args...) // the recorder has no data about terms before its first observation
	log, stop := writeConstantly(t, agent, "killed")
	f := k.open()
	defer f.Close()
	var at []time.Time
	for range times {
		k.read(f, time.Duration(200+rng.IntN(1300))*time.Millisecond)
		at = append(at, time.Now())
		r.kill()
		k.checkFile()
		r = record(t, k.file, k.args...)
	}
	k.awaitSuccessor(f, at[len(at)-1])
	stop()
	k.awaitEnd(log)
	r.stop()
	k.checkGaps(f, at)
	k.checkEvents()
	k.checkTerms(log)
}

// awaitSuccessor waits until a recorder that started after a kill stores events.
func (k *killed) awaitSuccessor(f *sqlite.File, kill time.Time) {
	if !consultest.Poll(patience, func() bool {
		all, err := f.Observations(k.t.Context(), history.Range{})
		must(k.t, err)
		return len(all) > 1 && all[len(all)-1].To.After(kill)
	}) {
		k.t.Fatal("no recorder took over")
	}
}

// checkGaps checks that the gaps of the history are after kills and not longer than a takeover, and that only the last
// period has a regular end. The terms in these gaps may be unrecorded.
func (k *killed) checkGaps(f *sqlite.File, kills []time.Time) {
	all, err := f.Observations(k.t.Context(), history.Range{})
	if err != nil || len(all) < 2 || len(all) > len(kills)+1 {
		k.t.Fatalf("%v: %d periods of observation after %d kills", err, len(all), len(kills))
	}
	for i, next := range all[1:] {
		o, gap := all[i], period{start: all[i].To, end: next.From}
		killed := slices.ContainsFunc(kills, func(at time.Time) bool { return at.After(gap.start) && at.Before(gap.end) })
		if k.kills = append(k.kills, gap); !killed || o.Ending != "" || gap.end.Sub(gap.start) > patience {
			k.t.Errorf("the periods %+v and %+v have no gap between them, or not that of a kill", o, next)
		}
	}
	if last := all[len(all)-1]; last.Ending != "stopped" {
		k.t.Errorf("%+v", last)
	}
}

// Two recorders and three dashboards share a history. One of them stores the events; when it is killed, another takes
// over. No event is stored twice, and no term is lost outside of the gap.
func TestRecordersAndDashboardsShareAHistory(t *testing.T) {
	t.Parallel()
	agent := consultest.Shared(t)
	k := &killed{
		t: t, file: filepath.Join(t.TempDir(), "h.db"), seen: map[string]bool{},
		args: []string{"--http-addr", agent.Addr(), "-k", "shared/*/leader"},
	}
	first := record(t, k.file, k.args...)
	second := record(t, k.file, k.args...)
	for range 3 {
		openDashboard(t, []string{"NO_COLOR=1"}, append(k.args, "--history", k.file)...)
	}
	log, stop := writeConstantly(t, agent, "shared")
	f := k.open()
	defer f.Close()
	k.read(f, 2*time.Second)
	first.kill()
	k.checkFile()
	k.kills = []period{{start: time.Now(), end: time.Now().Add(patience)}} // the writers stop soon
	k.read(f, 2*time.Second)
	stop()
	k.awaitEnd(log)
	second.stop()
	k.checkEvents()
	k.checkTerms(log)
}

// writeConstantly makes 50 changes per second until stop is called.
func writeConstantly(t *testing.T, agent *consultest.Agent, prefix string) (log *truth, stop func()) {
	const writers, keys, pause = 5, 12, 100 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	var writing sync.WaitGroup
	log = newTruth()
	for i := range writers {
		var own []string
		for j := range keys {
			own = append(own, fmt.Sprintf("%s/%d-%02d/leader", prefix, i, j))
		}
		w := newWriter(fmt.Sprintf("w%d", i), uint64(i), log, []*api.Client{agent.Client()}, own...)
		writing.Go(func() { w.run(ctx, pause) })
	}
	stop = func() { cancel(); writing.Wait() }
	t.Cleanup(stop)
	return log, stop
}

func (k *killed) open() *sqlite.File {
	f := sqlite.NewFile(k.file)
	must(k.t, f.Open(k.t.Context()))
	return f
}

// read adds the latest events of the file to seen, for d and until there are some: the terms of keys that no recorder has
// seen before a gap are not counted.
func (k *killed) read(f *sqlite.File, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) || len(k.seen) == 0; {
		page, err := f.Events(k.t.Context(), history.EventQuery{Limit: 200})
		must(k.t, err)
		for i := range page.Items {
			k.seen[identity(&page.Items[i])] = true
		}
	}
}

// identity returns text that differs between any two events.
func identity(e *election.Event) string {
	return fmt.Sprint(e.Type, e.Key, " ", e.CreateIndex, e.Term, e.ModifyIndex, e.Session, e.Initial) // a more certain cause replaces another
}

func (k *killed) checkFile() {
	db, err := sql.Open("sqlite", "file:"+k.file)
	must(k.t, err)
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(k.t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		k.t.Fatalf("%v: %s", err, verdict)
	}
}

// awaitEnd waits until the history and the log have the same state of each key.
func (k *killed) awaitEnd(log *truth) {
	f := k.open()
	defer f.Close()
	var wrong []string
	if !consultest.Poll(patience, func() bool {
		st, err := f.State(k.t.Context(), time.Now())
		must(k.t, err)
		leaders := map[string]string{}
		for _, e := range st.Elections {
			leaders[e.Key()] = e.Leader
		}
		wrong = nil
		for key, k := range log.keys {
			want := ""
			if k.held {
				want = k.terms[len(k.terms)-1].id
			}
			if leaders[key] != want {
				wrong = append(wrong, fmt.Sprintf("%s: %q leads, want %q", key, leaders[key], want))
			}
		}
		return len(wrong) == 0
	}) {
		k.t.Fatalf("not recorded:\n%s", strings.Join(wrong, "\n"))
	}
}

// checkEvents checks that every event in seen is stored, and that no event is stored twice.
func (k *killed) checkEvents() {
	f := k.open()
	defer f.Close()
	page, err := f.Events(k.t.Context(), history.EventQuery{Limit: 1 << 20})
	must(k.t, err)
	stored := map[string]int{}
	for i := range page.Items {
		what := identity(&page.Items[i])
		if stored[what]++; stored[what] == 2 {
			k.t.Errorf("stored twice: %s", what)
		}
	}
	for what := range k.seen {
		if stored[what] == 0 {
			k.t.Errorf("lost: %s", what)
		}
	}
	k.t.Logf("%d gaps, %d events seen before a kill, %d stored", len(k.kills), len(k.seen), len(page.Items))
}

// checkTerms checks that each term in the log was recorded once, was counted as missed, or occurred in a gap. The
// history must contain no other terms.
func (k *killed) checkTerms(log *truth) {
	recorded := map[string]int{}
	type stored struct {
		Key, Session, Leader string
		Term                 uint64
		CreateIndex          uint64 `json:"create_index"`
	}
	for _, r := range historyLines[stored](k.t, k.file, "--terms") {
		recorded[fmt.Sprint(r.Key, r.CreateIndex, " ", r.Term, " ", r.Session, " ", r.Leader)]++
	}
	missed := map[string]int{}
	for _, e := range historyLines[election.Event](k.t, k.file, "--type", "missed") {
		missed[fmt.Sprint(e.Key, e.CreateIndex)] += int(e.Count)
	}
	terms, found, counted, inGaps := 0, len(recorded), 0, 0
	for key, truth := range log.keys {
		unrecorded := map[uint64][]term{}
		for _, t := range truth.terms {
			terms++
			what := fmt.Sprint(key, t.create, " ", t.lock, " ", t.session, " ", t.id)
			if recorded[what] == 0 {
				unrecorded[t.create] = append(unrecorded[t.create], t)
			}
			if recorded[what] > 1 {
				k.t.Errorf("recorded %d times: %s", recorded[what], what)
			}
			delete(recorded, what)
		}
		for create, all := range unrecorded {
			n := missed[fmt.Sprint(key, create)]
			counted += n
			if n > len(all) || n < len(all) && !truth.uncountable[create] {
				k.t.Errorf("%s: %d terms are not recorded, but %d are counted as missed: %+v", key, len(all), n, all)
			}
			for _, t := range all[min(n, len(all)):] {
				if inGaps++; !k.hidden(t) {
					k.t.Errorf("%s: a term is neither recorded nor in a gap: %+v", key, t)
				}
			}
		}
	}
	for what := range recorded {
		k.t.Errorf("a recorded term is not in the log: %s", what)
	}
	k.t.Logf("%d terms in the log: %d recorded, %d counted as missed, %d of keys that were deleted in a gap", terms, found, counted, inGaps)
}

// hidden reports whether a recorder may have missed a term of a deleted key, because the term was in a gap or too
// short.
func (k *killed) hidden(t term) bool {
	const short = time.Second
	if !t.ending.IsZero() && t.ending.Sub(t.asked) < short {
		return true
	}
	for _, p := range k.kills {
		if t.asked.Before(p.end.Add(short)) && (t.ending.IsZero() || t.ending.After(p.start.Add(-short))) {
			return true
		}
	}
	return false
}
