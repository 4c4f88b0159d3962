package sqlite_test

import (
	"context"
	"database/sql"
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
	record(t, path, o)
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
	w.store(incident(t))
	defer w.stop()
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

// electop changes only the permissions of files that it creates.
func TestExistingFilesKeepTheirPermissions(t *testing.T) {
	folder := t.TempDir()
	program, link, own := filepath.Join(folder, "program"), filepath.Join(folder, "link"), filepath.Join(folder, "own.db")
	record(t, own, incident(t))
	for path, mode := range map[string]os.FileMode{program: 0o755, own: 0o660} {
		if path == program {
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{link: sqlite.ErrForeign, "/dev/null": sqlite.ErrForeign, own: nil} {
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		w := sqlite.NewWriter(path, sqlite.WriterOptions{})
		w.RecordAction(history.Action{Time: start(), By: "ana@bastion", Result: history.ResultDone})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Run(ctx); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: mode %v, before %v, %v", path, after.Mode(), before.Mode(), err)
		}
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	path := newPath(t)
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{Queue: 3})
	if err != nil {
		t.Fatal(err)
	}
	o := incident(t)
	n := feed(w, o) // no goroutine receives the events, so Record must not block
	if st := w.Status(); st.Waiting <= 0 || st.Queued != 3 || st.Dropped != uint64(n-2) {
		t.Errorf("%+v of %d events", st, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil || w.Status().Waiting != 0 {
		t.Fatal(err, w.Status())
	}
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 1 || all[0].Dropped != uint64(n-2) || len(stored(t, path)) != 2 {
		t.Errorf("%v, %+v", err, all)
	}
}

func TestPeriodsOfObservationEndWithTheConnection(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.observe(election.LinkUp{At: o.now, Source: "keys"})
	o.read(pair("s1", 10, 1, 20))
	o.after(time.Minute).observe(election.LinkLost{At: o.now, Source: "keys", Error: "refused"})
	o.after(time.Minute).observe(election.LinkUp{At: o.now, Source: "keys"})
	record(t, path, o)
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %+v", err, all)
	}
	if a, b := all[0], all[1]; !a.From.Equal(start()) || a.To.Sub(start()) != time.Minute || a.Ending != "connection_lost" ||
		b.From.Sub(start()) != 2*time.Minute || b.Ending != "stopped" || b.Lasting || a.Observer != "ana@bastion" {
		t.Errorf("%+v", all)
	}
}

// Time travel must show only elections that were watched at the time.
func TestTheStateContainsOnlyWatchedElections(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(o)
	ps, err := election.ParsePatterns([]string{"jobs/*"})
	if err != nil {
		t.Fatal(err)
	}
	o.after(time.Minute).observe(election.PatternsSet{At: o.now, Patterns: ps})
	o.observe(election.KeysRead{At: o.now, Range: election.PrefixRange("jobs/"), Pairs: []election.Pair{{Key: "jobs/a", Session: "s2", CreateIndex: 30, LockIndex: 1, ModifyIndex: 30}}})
	w.Mark(o.tracker.Snapshot(o.now), ps)
	w.stop()
	f := open(t, path)
	for at, want := range map[time.Duration]string{30 * time.Second: "web", 2 * time.Minute: "a"} {
		st, err := f.State(t.Context(), history.StateQuery{At: start().Add(at)})
		if err != nil || len(st.Elections) != 1 || st.Elections[0].Name != want || st.Elections[0].State(st.At) != election.Led {
			t.Errorf("after %s: %v %+v", at, err, st.Elections)
		}
	}
	all, err := f.Observations(t.Context(), history.Range{})
	if err != nil || len(all) != 2 || all[0].Ending != "patterns_changed" || !slices.Equal(all[1].Patterns, ps.Strings()) {
		t.Errorf("%v, %+v", err, all)
	}
}

// A process without the lease stores nothing, and takes over without losing an event.
func TestOneProcessStoresTheHistory(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	first := startWriter(t, path, sqlite.WriterOptions{Observer: "root@recorder"})
	first.store(o)
	first.waitFor(func() bool { return len(observations(t, path)) == 1 })
	second := startWriter(t, path, sqlite.WriterOptions{Observer: "ana@bastion"})
	same := newObserver(t, start())
	same.read(pair("s1", 10, 1, 20))
	same.now = time.Now() // events of the last seconds are kept
	same.read(pair("", 10, 1, 25))
	same.after(2 * time.Second)
	feed(second.Writer, same)
	second.waitFor(func() bool { return second.Status().Other == "root@recorder" })
	if n := len(stored(t, path)); n != 0 {
		t.Errorf("a process without the lease stored %d events", n)
	}
	o.now = same.now.Add(-2 * time.Second)
	first.store(withRead(o, pair("", 10, 1, 25))) // vacated; the first writer ends before it stores the cause
	first.stop()
	o = same
	second.waitFor(func() bool {
		second.Mark(o.tracker.Snapshot(o.now), patterns(t))
		return len(stored(t, path)) == 2
	})
	second.stop()
	if terms := termsIn(t, path); len(terms) != 1 || terms[0].Cause != election.Unknown {
		t.Errorf("%+v", terms)
	}
	if all := observations(t, path); len(all) != 2 || all[0].Observer != "root@recorder" || all[1].Observer != "ana@bastion" {
		t.Errorf("%+v", all)
	}
}

// withRead makes the observer read pairs.
func withRead(o *observer, pairs ...election.Pair) *observer {
	o.read(pairs...)
	return o
}

func observations(t *testing.T, path string) []history.Observation {
	t.Helper()
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (w *writer) waitFor(is func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !is(); <-tick.C {
		if time.Now().After(deadline) {
			w.t.Fatal("timeout")
		}
	}
}

// A term that ends while no observer is running has bounds, and the failover counts as a change.
func TestAFailoverWithoutAnObserverHasBounds(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.session("s1", "node-1")
	o.read(pair("s1", 10, 1, 20))
	record(t, path, o)
	last := observations(t, path)[0].To
	later := resume(t, path, last.Add(10*time.Minute))
	later.read(pair("s2", 10, 2, 50))
	later.observe(election.Clock{At: later.now.Add(2 * time.Second)})
	record(t, path, later)
	terms := termsIn(t, path)
	if len(terms) != 2 || !terms[0].NotBefore.Equal(last) || terms[0].StartKnown || !terms[1].SeenUntil.Equal(last) || !terms[1].End.Equal(later.now) {
		t.Fatalf("%+v", terms)
	}
	st, err := open(t, path).State(t.Context(), history.StateQuery{At: later.now.Add(time.Minute)})
	if err != nil || len(st.Elections) != 1 || st.Elections[0].Changes(st.At, time.Hour) != 1 {
		t.Errorf("%v %+v", err, st.Elections)
	}
	for _, e := range stored(t, path) {
		if !e.SeenUntil.Equal(last) || !e.Gap {
			t.Errorf("an event without bounds: %+v", e)
		}
	}
}

// A file that the token of the next observer cannot read completely must not invent ends of terms.
func TestAKeyThatIsHiddenAtTheStartIsNotDeleted(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	record(t, path, o)
	for filtered, over := range map[bool]bool{true: false, false: true} {
		next := newObserver(t, start().Add(time.Hour)) // without the recorded state
		next.observe(election.KeysRead{At: next.now, Range: election.PrefixRange("service/"), Filtered: filtered})
		record(t, path, next)
		if terms := termsIn(t, path); len(terms) != 1 || terms[0].Over() != over {
			t.Errorf("filtered %t: %+v", filtered, terms)
		}
		if over {
			break
		}
	}
}

func day(n int) time.Time { return time.Now().Add(-time.Duration(n) * 24 * time.Hour).Round(0).UTC() }

// Retention deletes whole periods, but nothing that still applies.
func TestRetentionKeepsThePresent(t *testing.T) {
	o, path := newObserver(t, day(60)), newPath(t)
	gone := pair("s1", 10, 1, 21)
	gone.Key = "service/gone/leader"
	slots := pair("", 5, 0, 7)
	slots.Key, slots.Flags, slots.Value = "service/jobs/leader", election.SemaphoreFlag, []byte(`{"Limit":2,"Holders":{"s1":true,"s2":true}}`)
	idle := pair("", 6, 0, 8)
	idle.Key = "service/idle/leader"
	o.read(gone, idle, slots, pair("s1", 10, 1, 20))
	for i := uint64(1); i <= 59; i++ { // one term per day
		o.after(24*time.Hour-time.Minute).read(idle, slots, pair("", 10, i, 20+10*i))
		o.after(time.Minute).read(idle, slots, pair("s1", 10, i+1, 25+10*i))
		o.mark()
	}
	record(t, path, o)
	before := len(stored(t, path))
	keep := 10 * 24 * time.Hour
	w := startWriter(t, path, sqlite.WriterOptions{Keep: &keep})
	w.stop()
	f := open(t, path)
	names, err := f.Elections(t.Context())
	if events := stored(t, path); err != nil || len(events) != before {
		t.Errorf("%v: a process without events deleted %d events", err, before-len(events))
	}
	trimAt(t, path, time.Now(), 0)
	events, terms := stored(t, path), termsIn(t, path)
	if len(events) >= before/4 || len(events) < 25 || time.Since(terms[len(terms)-1].End) > 12*24*time.Hour {
		t.Errorf("%d of %d events remain, and %d terms", len(events), before, len(terms))
	}
	for _, at := range []time.Time{day(9), day(5), time.Now()} {
		st, err := f.State(t.Context(), history.StateQuery{At: at})
		if err != nil || len(st.Elections) != 3 {
			t.Fatalf("%v: %+v", err, st.Elections)
		}
		if slots, ok := st.Elections[1].Pair.Slots(); !ok || len(slots.Holders) != 2 {
			t.Errorf("the holders of the semaphore are missing: %+v", st.Elections[1])
		}
	}
	if after, err := f.Elections(t.Context()); err != nil || len(after) != len(names)-1 || slices.ContainsFunc(after, func(e history.Election) bool { return e.Name == "gone" }) {
		t.Errorf("%v: %v, before %v", err, after, names)
	}
}

// trimAt runs retention as the writer of the file.
func trimAt(t *testing.T, path string, at time.Time, keep time.Duration) {
	t.Helper()
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{})
	if err == nil {
		err = w.Trim(t.Context(), at, keep)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(err, w.Run(ctx)); err != nil {
		t.Fatal(err)
	}
}

// After a jump of the clock, retention waits until the time is confirmed.
func TestAClockThatJumpsForwardDeletesNothing(t *testing.T) {
	o, path := newObserver(t, day(20)), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	for i := uint64(1); i <= 20; i++ {
		o.after(12 * time.Hour).read(pair("", 10, i, 20+10*i))
		o.after(12*time.Hour - time.Minute).read(pair("s1", 10, i+1, 25+10*i))
		o.after(time.Minute)
		o.mark()
	}
	record(t, path, o)
	before := len(stored(t, path))
	future := newObserver(t, day(-365))
	future.read(pair("s1", 10, 21, 225))
	w := startWriter(t, path, sqlite.WriterOptions{})
	feed(w.Writer, future)
	w.waitFor(func() bool { return len(observations(t, path)) == 2 })
	w.stop()
	trimAt(t, path, day(-365).Add(time.Hour), 0)
	if n := len(stored(t, path)); n != before {
		t.Errorf("%d of %d events remain", n, before)
	}
	trimAt(t, path, day(-365).Add(25*time.Hour), 0)
	if n := len(stored(t, path)); n != 0 {
		t.Errorf("%d events remain after a day", n)
	}
}

func TestAFileBelongsToOneCluster(t *testing.T) {
	path := newPath(t)
	run := func(cluster string) error {
		w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{Cluster: func(context.Context) string { return cluster }})
		if err != nil {
			t.Fatal(err)
		}
		feed(w, incident(t))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return w.Run(ctx)
	}
	for _, cluster := range []string{"a.consul", "", "a.consul"} {
		if err := run(cluster); err != nil {
			t.Errorf("%s: %v", cluster, err)
		}
	}
	n := len(stored(t, path))
	if err := run("b.consul"); !errors.Is(err, sqlite.ErrCluster) || len(stored(t, path)) != n {
		t.Errorf("%v; %d events, before %d", err, len(stored(t, path)), n)
	}
	if got, err := open(t, path).Cluster(t.Context()); err != nil || got != "a.consul" {
		t.Error(got, err)
	}
}

func TestAMovedFileEndsTheWriter(t *testing.T) {
	path := newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(incident(t))
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := <-w.done; !errors.Is(err, sqlite.ErrMoved) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("another file was created:", err)
	}
	if n := len(stored(t, path+".old")); n != 4 { // without its WAL
		t.Errorf("the moved file has %d events", n)
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("SQLite would apply %d bytes to a file that replaces the moved one", info.Size())
	}
}

// A process that was stopped while another one took over must not write as if it had the lease.
func TestAWriterThatLosesItsLeaseStoresNothing(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	w := startWriter(t, path, sqlite.WriterOptions{Observer: "ana@bastion"})
	w.store(o)
	w.waitFor(func() bool { return len(observations(t, path)) == 1 })
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA busy_timeout = 5000; UPDATE leases SET writer = 'another', observer = 'root@recorder', until = ?", time.Now().Add(300*time.Millisecond).UnixNano()); err != nil {
		t.Fatal(err)
	}
	o.after(time.Minute).read(pair("", 10, 1, 25))
	feed(w.Writer, o)
	w.waitFor(func() bool { return w.Status().Other == "root@recorder" })
	w.stop()
	if n := len(stored(t, path)); n != 0 {
		t.Errorf("%d events stored", n)
	}
	if all := observations(t, path); len(all) != 1 || all[0].Ending != "" {
		t.Errorf("%+v", all)
	}
}

func TestAWriterWithoutEventsCreatesNoFile(t *testing.T) {
	path := newPath(t)
	w := sqlite.NewWriter(path, sqlite.WriterOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	w.Record([]election.Event{{Time: start(), Type: election.Elected, Key: "a"}})
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
				w := sqlite.NewWriter(path, sqlite.WriterOptions{})
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

func TestObservationOfNoElectionIsAPeriod(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read()
	record(t, path, o)
	all := observations(t, path)
	if len(all) != 1 || !all[0].From.Equal(start()) || all[0].Datacenter != "dc1" || len(stored(t, path)) != 0 {
		t.Errorf("%+v", all)
	}
}

// No event may have a time that a reader shows as not observed.
func TestAPeriodOfObservationReachesItsLastEvent(t *testing.T) {
	o, path := newObserver(t, time.Now().Add(time.Hour)), newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{})
	defer w.stop()
	o.read(pair("s1", 10, 1, 20))
	o.after(time.Minute).read(pair("", 10, 1, 21))
	w.store(o)
	all := observations(t, path)
	if last := o.events[len(o.events)-1].Time; len(all) != 1 || all[0].To.Before(last) {
		t.Errorf("periods %+v; want one that ends at or after %v", all, last)
	}
}

// A command that only stores an action deletes nothing, and the period that another process set remains.
func TestACommandWithoutKeepDeletesNothing(t *testing.T) {
	o, path := newObserver(t, day(200)), newPath(t)
	o.read(pair("s1", 10, 1, 20))
	for i := uint64(1); i <= 150; i++ {
		o.after(24 * time.Hour).read(pair([]string{"s1", ""}[i%2], 10, 1+i/2, 20+10*i))
		o.mark()
	}
	keep := 365 * 24 * time.Hour
	w := startWriter(t, path, sqlite.WriterOptions{Keep: &keep})
	w.store(o)
	w.stop()
	before := len(stored(t, path))
	command := sqlite.NewWriter(path, sqlite.WriterOptions{})
	command.RecordAction(history.Action{Time: start(), By: "ana@bastion", Result: history.ResultDone})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := command.Run(ctx); err != nil {
		t.Fatal(err)
	}
	trimAt(t, path, time.Now(), 0)
	if n := len(stored(t, path)); n != before || n < 150 {
		t.Errorf("%d of %d events remain", n, before)
	}
}

// A client that follows the events receives those that are stored late.
func TestFollowingEventsByRow(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	page, err := open(t, path).Events(t.Context(), history.EventQuery{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	earlier := resume(t, path, o.now.Add(-30*time.Second)) // after the clock was set back
	earlier.read()
	record(t, path, earlier)
	var got []election.Event
	for range 5 {
		next, err := open(t, path).Events(t.Context(), history.EventQuery{After: page.Newer, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		got, page = append(got, next.Events...), next
	}
	if len(got) != len(earlier.events) || len(got) < 10 {
		t.Errorf("%d events, want %d", len(got), len(earlier.events))
	}
}
