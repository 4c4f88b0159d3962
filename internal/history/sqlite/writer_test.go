package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// incident returns an hour of one election, with two terms, a changed value and a vacancy.
func incident(t *testing.T) *observer {
	o := newObserver(t, start())
	o.session("s1", "node-1")
	o.session("s2", "node-2")
	o.read(pair("s1", 10, 1, 20))
	changed := pair("s1", 10, 1, 25)
	changed.Value = []byte("web-1b")
	o.after(10 * time.Minute).read(changed)
	free := changed
	free.Session, free.ModifyIndex = "", 30
	o.after(10 * time.Minute).read(free)
	o.after(15 * time.Second).read(pair("s2", 10, 2, 40))
	return o.after(40 * time.Minute)
}

func TestEventsAreReadBackAsTheyWereObserved(t *testing.T) {
	o, path := incident(t), newPath(t)
	record(t, path, o.events)
	got := stored(t, path)
	for i := range o.events {
		o.events[i].Time = o.events[i].Time.UTC()
	}
	if !slices.Equal(got, o.events) {
		t.Errorf("got\n%+v\nwant\n%+v", got, o.events)
	}
}

func TestFilesBelongToTheirOwnerOnly(t *testing.T) {
	path := newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(incident(t).events)
	defer w.stop()
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	path := newPath(t)
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{Queue: 3, Patterns: patterns(t)})
	if err != nil {
		t.Fatal(err)
	}
	events := incident(t).events
	w.Record(events) // no goroutine receives the events, so Record must not block
	if st := w.Status(); st.Waiting <= 0 || st.Queued != 3 || st.Dropped != uint64(len(events)-3) {
		t.Errorf("%+v of %d events", st, len(events))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil || w.Status().Waiting != 0 {
		t.Fatal(err, w.Status())
	}
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 1 || all[0].Dropped != uint64(len(events)-3) || len(stored(t, path)) != 3 {
		t.Errorf("%v, %+v", err, all)
	}
}

func TestDropsAreCountedWhenTheConnectionIsLostMeanwhile(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.observe(election.LinkUp{At: o.now, Source: "keys"})
	o.read(pair("s1", 10, 1, 20))
	o.after(time.Minute).observe(election.LinkLost{At: o.now, Source: "keys", Error: "refused"})
	kept := len(o.events)
	o.after(time.Minute).observe(election.LinkUp{At: o.now, Source: "keys"})
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{Queue: kept, Patterns: patterns(t)})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(o.events)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 1 || all[0].Ending != "connection_lost" || all[0].Dropped != uint64(len(o.events)-kept) {
		t.Errorf("error %v, periods %+v; %d events, %d kept", err, all, len(o.events), kept)
	}
}

func TestPeriodsOfObservationEndWithTheConnection(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.observe(election.LinkUp{At: o.now, Source: "keys"})
	o.read(pair("s1", 10, 1, 20))
	o.after(time.Minute).observe(election.LinkLost{At: o.now, Source: "keys", Error: "refused"})
	o.after(time.Minute).observe(election.LinkUp{At: o.now, Source: "keys"})
	record(t, path, o.events)
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %+v", err, all)
	}
	if a, b := all[0], all[1]; !a.From.Equal(start()) || a.To.Sub(start()) != time.Minute || a.Ending != "connection_lost" ||
		b.From.Sub(start()) != 2*time.Minute || b.Ending != "stopped" || b.Lasting || a.Observer != "ana@bastion" {
		t.Errorf("%+v", all)
	}
}

func TestPeriodsOfObservationEndWhenThePatternsChange(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(o.events)
	ps, err := election.ParsePatterns([]string{"service/*/leader", "jobs/*"})
	if err != nil {
		t.Fatal(err)
	}
	w.Observe(ps)
	o.events = nil
	o.after(time.Minute).read(pair("", 10, 1, 21))
	w.store(o.events)
	w.stop()
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %+v", err, all)
	}
	if a, b := all[0], all[1]; a.Ending != "patterns_changed" || len(a.Patterns) != 1 || b.Ending != "stopped" || !slices.Equal(b.Patterns, ps.Strings()) {
		t.Errorf("%+v", all)
	}
}

func TestRetentionKeepsThePresent(t *testing.T) {
	o, path := newObserver(t, time.Now().Add(-100*24*time.Hour-time.Hour)), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	for i := uint64(1); i <= 100; i++ { // one term per day
		o.after(24*time.Hour - time.Minute).read(pair("", 10, i, 20+10*i))
		o.after(time.Minute).read(pair("s1", 10, i+1, 25+10*i))
	}
	gone := pair("s1", 10, 1, 20)
	gone.Key = "service/gone/leader"
	old := newObserver(t, time.Now().Add(-99*24*time.Hour))
	old.read(gone)
	old.read()
	record(t, path, slices.Concat(old.events, o.events))
	before := len(stored(t, path))
	w := startWriter(t, path, sqlite.WriterOptions{Keep: 10 * 24 * time.Hour})
	o.after(time.Second)
	w.store(o.read(pair("", 10, 101, 2000)))
	w.stop()
	events, terms := stored(t, path), termsIn(t, path)
	if len(events) >= before/5 || len(events) < 20 {
		t.Errorf("%d of %d events remain", len(events), before)
	}
	if oldest := terms[len(terms)-2]; oldest.Key == "service/web/leader" && time.Since(oldest.Start) > 12*24*time.Hour {
		t.Errorf("an expired term was not deleted: %+v", oldest)
	}
	f := open(t, path)
	st, err := f.State(t.Context(), history.StateQuery{At: time.Now()})
	if err != nil || len(st.Elections) != 1 || st.Elections[0].State(time.Now()) != election.Vacant {
		t.Errorf("%v: %+v", err, st.Elections)
	}
	st, err = f.State(t.Context(), history.StateQuery{At: old.now.Add(time.Hour)})
	if i := slices.IndexFunc(st.Elections, func(e *election.Election) bool { return e.Name == "gone" }); err != nil || i < 0 || st.Elections[i].Exists {
		t.Errorf("%v: %+v", err, st.Elections)
	}
}

func TestRetentionBySize(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	for i := uint64(1); i <= 5000; i++ {
		o.after(time.Second).read(pair("s1", 10, i, 20+10*i))
		o.after(time.Second).read(pair("", 10, i, 25+10*i))
	}
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(o.events)
	w.stop()
	before, _ := os.Stat(path)
	w = startWriter(t, path, sqlite.WriterOptions{MaxBytes: 1 << 20})
	o.after(time.Second)
	w.store(o.read(pair("s1", 10, 5001, 90_000)))
	for i := uint64(0); len(stored(t, path)) > 9000; i++ { // a step of retention runs after every write
		o.after(time.Second)
		w.store(o.read(pair(map[bool]string{true: "", false: "s1"}[i%2 == 0], 10, 5001+(i+1)/2, 90_001+i)))
	}
	w.stop()
	if after, err := os.Stat(path); err != nil || after.Size() > before.Size()/2+1<<20 {
		t.Errorf("error %v, %d of %d bytes remain", err, after.Size(), before.Size())
	}
}

func TestAWriterWithoutEventsCreatesNoFile(t *testing.T) {
	path := newPath(t)
	w := sqlite.NewWriter(path, sqlite.WriterOptions{Patterns: patterns(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	w.Record(newObserver(t, start()).read(pair("a", 1, 1, 1)))
	if got := w.Status().Dropped; got != 1 {
		t.Errorf("%d events dropped after Run, want 1", got)
	}
}

// The race is repeated, because some writers must open the file while another one creates it.
func TestSeveralWritersCreateAFileTogether(t *testing.T) {
	const writers = 6
	for range 20 {
		path := newPath(t)
		var g errgroup.Group
		for range writers {
			g.Go(func() error {
				w := sqlite.NewWriter(path, sqlite.WriterOptions{Patterns: patterns(t)})
				w.RecordAction(history.Action{Time: start(), By: "ana@bastion", Result: history.ResultDone})
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				return w.Run(ctx)
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		actions, err := open(t, path).Actions(t.Context(), history.Range{})
		if err != nil || len(actions) != writers {
			t.Fatalf("%v: %d actions, want %d", err, len(actions), writers)
		}
	}
}

func TestAKeyThatWasDeletedUnobservedEndsItsTerm(t *testing.T) {
	began := time.Now().Add(time.Hour).UTC() // heartbeats use the real time, so the test's times are later
	o, path := newObserver(t, began), newPath(t)
	o.session("s1", "node-1")
	o.read(pair("s1", 10, 1, 20))
	record(t, path, o.events)
	found := election.Event{
		Time: began.Add(time.Hour), Type: election.Deleted, Election: "web", Key: "service/web/leader", Datacenter: "dc1", CreateIndex: 10, Gap: true,
	}
	for range 2 { // both observers start at the same time
		record(t, path, []election.Event{found})
	}
	terms := termsIn(t, path)
	if len(terms) != 1 || !terms[0].End.Equal(found.Time) || !terms[0].SeenUntil.Equal(began) {
		t.Errorf("%+v", terms)
	}
	if n := len(stored(t, path)); n != 2 {
		t.Errorf("%d events, want 2: elected and deleted", n)
	}
	st, err := open(t, path).State(t.Context(), history.StateQuery{At: found.Time.Add(time.Second)})
	if err != nil || len(st.Elections) != 1 || st.Elections[0].Exists || st.Elections[0].Leader != "" {
		t.Errorf("%v %+v", err, st.Elections)
	}
	// Another observer reports a deletion late. The next term must not end because of it.
	again := newObserver(t, began.Add(2*time.Hour))
	again.read(pair("s1", 99, 1, 100))
	record(t, path, append(again.events, found))
	if terms = termsIn(t, path); len(terms) != 2 || terms[0].Over() {
		t.Errorf("%+v", terms)
	}
}

func TestObservationOfNoElectionIsAPeriod(t *testing.T) {
	path := newPath(t)
	record(t, path, []election.Event{sqlite.Observing("dc1", start())})
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 1 || !all[0].From.Equal(start()) || all[0].Datacenter != "dc1" || len(stored(t, path)) != 0 {
		t.Errorf("%v %+v", err, all)
	}
}

// No event may have a time that a reader shows as not observed.
func TestAPeriodOfObservationReachesItsLastEvent(t *testing.T) {
	o, path := newObserver(t, time.Now().Add(time.Hour)), newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{})
	defer w.stop()
	w.store(o.read(pair("s1", 10, 1, 20)))
	w.store(o.after(time.Minute).read(pair("", 10, 1, 21)))
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if last := o.events[len(o.events)-1].Time; err != nil || len(all) != 1 || all[0].To.Before(last) {
		t.Errorf("error %v, periods %+v; want one that ends at or after %v", err, all, last)
	}
}
