package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// benchFile returns a history with this number of events: 1000 elections over 90 days, and for each term an elected, a
// vacated and an explained event. ELECTOP_BENCH_HISTORY names a file that is kept between runs.
func benchFile(b *testing.B, events int) string {
	b.Helper()
	path := os.Getenv("ELECTOP_BENCH_HISTORY")
	if path == "" {
		path = filepath.Join(b.TempDir(), "bench.db")
	}
	if info, err := os.Stat(path); err == nil && info.Size() > 1<<20 {
		return path
	}
	stored := make(chan int, 1<<20)
	w, err := sqlite.OpenWriter(b.Context(), path, sqlite.WriterOptions{
		Observer: "ana@bastion", Queue: 1 << 30,
		OnStored: func(e []election.Event) { stored <- len(e) },
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	began, at := time.Now(), time.Now().Add(-90*24*time.Hour)
	ps := election.Patterns{mustPattern(b)}
	board := history.NewBoard(&election.Snapshot{At: at, Datacenter: "dc1"}, ps)
	mark := func() {
		w.Mark(&election.Snapshot{At: at, Datacenter: "dc1", Loaded: true, Elections: board.Elections(at)}, ps)
	}
	mark()
	recorded := 0
	step := 90 * 24 * time.Hour / time.Duration(events/3)
	for i := range events / 3 {
		at = at.Add(step)
		term := oneTerm(i, at)
		for j := range term {
			board.Apply(&term[j])
		}
		w.Record(term)
		if i%333 == 332 { // as often as a writer requests it
			mark()
		}
		if recorded += 3; i%20_000 == 19_999 || i == events/3-1 {
			for recorded > 0 {
				recorded -= <-stored
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.Logf("%d events in %s", events, time.Since(began).Round(time.Millisecond))
	return path
}

func mustPattern(b *testing.B) election.Pattern {
	p, err := election.ParsePattern(election.DefaultPattern)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func oneTerm(i int, at time.Time) []election.Event {
	n, term := i%1000, uint64(i/1000+1)
	name := fmt.Sprintf("billing-%04d", n)
	e := election.Event{
		Time: at, Type: election.Elected, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1", Term: term,
		CreateIndex: uint64(n + 1), ModifyIndex: uint64(10_000 + 10*i), Leader: fmt.Sprintf("%s-%d  10.0.0.%d:9000", name, i%3, i%250),
		Session: fmt.Sprintf("%08x-6350-7587-addf-a18084928f3c", i), Node: fmt.Sprintf("node-%d", i%50),
		Vacancy: time.Duration(i%20_000) * time.Millisecond, VacancyKnown: term > 1,
	}
	held := 5 * time.Hour
	v := e
	v.Time, v.Type, v.Held, v.HeldKnown, v.VacancyKnown = at.Add(held), election.Vacated, held, true, false
	x := v
	x.Type, x.HeldKnown, x.Time = election.Explained, false, v.Time.Add(100*time.Millisecond)
	x.Cause = []election.Cause{election.CheckCritical, election.Released, election.SessionExpiredOrDestroyed}[i%3]
	x.Evidence = "service:" + name + " on " + e.Node + ": HTTP GET http://10.0.0.6/health: 503 Service Unavailable"
	return []election.Event{e, v, x}
}

// BenchmarkHistory measures the queries for which a user waits, with a million events.
func BenchmarkHistory(b *testing.B) {
	path := benchFile(b, 1_000_000)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	f, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("stats", func(b *testing.B) {
		for b.Loop() {
			_, err := f.Stats(ctx, history.Filter{})
			check(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	})
	b.Run("first_page", func(b *testing.B) {
		for b.Loop() {
			_, err := f.Events(ctx, history.EventQuery{})
			check(err)
		}
	})
	b.Run("page_in_the_middle", func(b *testing.B) {
		page, err := f.Events(ctx, history.EventQuery{Filter: history.Filter{Range: history.Range{Until: time.Now().Add(-45 * 24 * time.Hour)}}})
		check(err)
		for b.Loop() {
			page, err = f.Events(ctx, history.EventQuery{Before: page.Older})
			check(err)
		}
	})
	b.Run("page_of_one_election", func(b *testing.B) {
		for b.Loop() {
			_, err := f.Events(ctx, history.EventQuery{Filter: history.Filter{Names: []string{"billing-0500"}}})
			check(err)
		}
	})
	b.Run("page_of_a_cause", func(b *testing.B) {
		for b.Loop() {
			_, err := f.Events(ctx, history.EventQuery{Causes: []election.Cause{election.Released}})
			check(err)
		}
	})
	b.Run("page_of_a_rare_type", func(b *testing.B) {
		for b.Loop() {
			_, err := f.Events(ctx, history.EventQuery{Types: []election.EventType{election.ConnectionLost}})
			check(err)
		}
	})
	b.Run("state", func(b *testing.B) {
		for b.Loop() {
			_, err := f.State(ctx, history.StateQuery{At: time.Now().Add(-24 * time.Hour)})
			check(err)
		}
	})
	b.Run("open_and_recall", func(b *testing.B) { // the reads before the first frame of the dashboard
		for b.Loop() {
			f, err := sqlite.OpenFile(ctx, path)
			check(err)
			_, err = history.Recall(ctx, f, time.Now())
			check(err)
			check(f.Close())
		}
	})
}

// BenchmarkFirstStart measures what the history costs when an observer finds 100,000 elections.
func BenchmarkFirstStart(b *testing.B) {
	s := &election.Snapshot{At: time.Now(), Datacenter: "dc1", Loaded: true}
	for i := range 100_000 {
		key := fmt.Sprintf("service/billing-%06d/leader", i)
		term := election.Term{Number: 1, CreateIndex: uint64(i + 1), Session: fmt.Sprintf("%08x-6350-7587-addf-a18084928f3c", i), Leader: "billing", Node: "node-1", Start: s.At}
		s.Elections = append(s.Elections, &election.Election{
			Name: fmt.Sprintf("billing-%06d", i), Datacenter: "dc1", Exists: true, Leader: "billing", Term: 1, Since: s.At, Terms: []election.Term{term},
			Pair: election.Pair{Key: key, Session: term.Session, LockIndex: 1, CreateIndex: term.CreateIndex, ModifyIndex: term.CreateIndex},
		})
	}
	ps := election.Patterns{mustPattern(b)}
	for b.Loop() {
		path := b.TempDir() + "/h.db"
		w, err := sqlite.OpenWriter(b.Context(), path, sqlite.WriterOptions{})
		if err != nil {
			b.Fatal(err)
		}
		w.Mark(s, ps)
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		if err := w.Run(ctx); err != nil {
			b.Fatal(err)
		}
		f, err := sqlite.OpenFile(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		st, err := f.State(b.Context(), history.StateQuery{At: time.Now()})
		if err != nil || len(st.Elections) != 100_000 {
			b.Fatal(err, len(st.Elections))
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/state")
		f.Close()
	}
}
