//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// recorder stores events like an observer: it keeps the board and answers requests for marks.
type recorder struct {
	b      *testing.B
	w      *sqlite.Writer
	board  *history.Board
	ps     election.Patterns
	at     time.Time
	marks  chan bool
	stored chan int // the number of events that are in the file
	stop   func()
}

func newRecorder(b *testing.B, path string, at time.Time, elections ...*election.Election) *recorder {
	b.Helper()
	r := &recorder{b: b, ps: patterns(b), at: at, marks: make(chan bool, 1), stored: make(chan int, 1<<20)}
	r.w = sqlite.NewWriter(path, sqlite.WriterOptions{
		Observer: "ana@bastion", Queue: 1 << 30, Delay: time.Millisecond,
		Mark: asks(r.marks), OnChange: func(st sqlite.Status) { r.stored <- int(st.Stored) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.w.Run(ctx) }()
	r.stop = func() {
		cancel()
		must(b, <-done)
	}
	s := &election.Snapshot{At: at, Datacenter: "dc1", Loaded: true, Elections: elections}
	r.board = history.NewBoard(s)
	r.w.Mark(s, r.ps)
	return r
}

func (r *recorder) store(events []election.Event) {
	for i := range events {
		r.at = events[i].Time
		r.board.Apply(&events[i])
	}
	r.w.Record(events)
	for n := len(events); n > 0; {
		n -= <-r.stored
	}
	select {
	case <-r.marks:
		all := election.Map(r.board.Elections(r.at), func(e *election.Election) *election.Election {
			copied := *e // the writer encodes it while the board changes
			copied.Terms = slices.Clone(e.Terms)
			return &copied
		})
		r.w.Mark(&election.Snapshot{At: r.at, Datacenter: "dc1", Loaded: true, Elections: all}, r.ps)
	default:
	}
}

// oneTerm returns the events of a term of 5 hours.
func oneTerm(name string, i, term int, at time.Time) []election.Event {
	e := election.Event{
		Time: at, Type: election.Elected, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1", Term: uint64(term),
		CreateIndex: uint64(10_000 + i%1000), ModifyIndex: uint64(10_000 + 10*i), Leader: fmt.Sprintf("%s-%d  10.0.0.%d:9000", name, i%3, i%250),
		Session: fmt.Sprintf("%08x-6350-7587-addf-a18084928f3c", i), Node: fmt.Sprintf("node-%d", i%50),
		Vacancy: time.Duration(i%20_000) * time.Millisecond, VacancyKnown: term > 1,
	}
	v := e
	v.Time, v.Type, v.Held, v.HeldKnown, v.VacancyKnown = at.Add(5*time.Hour), election.Vacated, 5*time.Hour, true, false
	x := v
	x.Type, x.HeldKnown, x.Time = election.Explained, false, v.Time.Add(100*time.Millisecond)
	x.Cause = []election.Cause{election.CheckCritical, election.Released, election.SessionExpiredOrDestroyed}[i%3]
	x.Evidence = "service:" + name + " on " + e.Node + ": HTTP GET http://10.0.0.6/health: 503 Service Unavailable"
	return []election.Event{e, v, x}
}

func size(b *testing.B, path string) {
	b.Helper()
	info, err := os.Stat(path)
	must(b, err)
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

const day = 24 * time.Hour

// BenchmarkHistory measures the queries for which a user waits, with a million events of 1,000 elections over 90 days.
// ELECTOP_BENCH_HISTORY names a file that is kept between runs.
func BenchmarkHistory(b *testing.B) {
	path, now := os.Getenv("ELECTOP_BENCH_HISTORY"), time.Now()
	if path == "" {
		path = b.TempDir() + "/bench.db"
	}
	if _, err := os.Stat(path); err != nil {
		r := newRecorder(b, path, now.Add(-90*day))
		const terms = 333_333
		var events []election.Event
		for i := range terms {
			events = append(events, oneTerm(fmt.Sprintf("billing-%04d", i%1000), i, i/1000+1, now.Add(-90*day+90*day/terms*time.Duration(i)))...)
			if len(events) > 900 || i == terms-1 {
				r.store(events)
				events = nil
			}
		}
		r.stop()
	}
	f := sqlite.NewFile(path)
	defer f.Close()
	events := func(q history.EventQuery) func() error {
		return func() error { _, err := f.Events(b.Context(), q); return err }
	}
	terms := func(q history.TermQuery) func() error {
		return func() error { _, err := f.Terms(b.Context(), q); return err }
	}
	some := history.Filter{Range: history.Range{Since: now.Add(-46 * day), Until: now.Add(-45 * day)}}
	for _, tt := range []struct {
		name string
		read func() error
	}{
		{"stats", func() error { _, err := f.Stats(b.Context(), history.Filter{}); return err }},
		{"state", func() error { _, err := f.State(b.Context(), now.Add(-day)); return err }},
		{"recall", func() error { _, err := history.Recall(b.Context(), f, now); return err }},
		{"events", events(history.EventQuery{})},
		{"events_of_a_day", events(history.EventQuery{Filter: some})},
		{"events_of_one_election", events(history.EventQuery{Filter: history.Filter{Names: []string{"billing-0500"}}})},
		{"events_of_a_datacenter", events(history.EventQuery{Filter: history.Filter{Datacenters: []string{"dc1"}}})},
		{"events_of_causes", events(history.EventQuery{Causes: []election.Cause{election.Released, election.NodeGone}})},
		{"events_of_a_rare_type", events(history.EventQuery{Types: []election.EventType{election.ConnectionLost}})},
		{"terms", terms(history.TermQuery{})},
		{"terms_of_a_day", terms(history.TermQuery{Filter: some, Page: history.Oldest})},
		{"terms_of_a_rare_cause", terms(history.TermQuery{Filter: some, Causes: []election.Cause{election.NodeGone}})},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				must(b, tt.read())
			}
			size(b, path)
		})
	}
}

// BenchmarkFirstStart measures what the history costs when an observer finds 100,000 elections.
func BenchmarkFirstStart(b *testing.B) {
	now := time.Now()
	var all []*election.Election
	for i := range 100_000 {
		e := oneTerm(fmt.Sprintf("billing-%06d", i), i, 1, now)[0]
		all = append(all, &election.Election{
			Name: e.Election, Datacenter: "dc1", Exists: true, Leader: e.Leader, Term: 1, Since: now,
			Pair:  election.Pair{Key: e.Key, Session: e.Session, LockIndex: 1, CreateIndex: e.CreateIndex, ModifyIndex: e.ModifyIndex},
			Terms: []election.Term{{Number: 1, CreateIndex: e.CreateIndex, Session: e.Session, Leader: e.Leader, Node: e.Node, Start: now}},
		})
	}
	for b.Loop() {
		path, began := b.TempDir()+"/h.db", cpu(b)
		r := newRecorder(b, path, now, all...)
		r.store([]election.Event{{Time: now, Type: election.ConnectionLost, Datacenter: "dc1"}})
		b.ReportMetric(cpu(b)-began, "cpu-s/start")
		r.stop()
		size(b, path)
	}
}

// BenchmarkNewNames measures the size of a file after 120 days, of which retention keeps 90, in which 1,000 keys a day are created,
// led once, released and deleted.
func BenchmarkNewNames(b *testing.B) {
	const days, perDay = 120, 1000
	for b.Loop() {
		path, now := b.TempDir()+"/h.db", time.Now()
		for d := range days {
			at := now.Add(-time.Duration(days-d) * day)
			r := newRecorder(b, path, at)
			var all []election.Event
			for i := range perDay {
				events := oneTerm(fmt.Sprintf("job-%d-%d", d, i), d*perDay+i, 1, at.Add(time.Duration(i)*time.Second))
				events[2].Cause, events[2].Evidence = election.Released, "the session still exists and no longer holds the key"
				gone := events[1]
				gone.Type = election.Deleted
				all = append(all, append(events, gone)...)
			}
			r.store(all)
			r.stop()
			w := sqlite.NewWriter(path, sqlite.WriterOptions{})
			must(b, w.Open(b.Context()))
			must(b, errors.Join(w.Trim(b.Context(), at.Add(day), 0), w.Run(stopped())))
		}
		size(b, path)
	}
}

// cpu returns the CPU time of this process in seconds.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
