package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/consultest"
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

func TestAnIncidentIsReadBackAsItWasObserved(t *testing.T) {
	o, path := incident(t), newPath(t)
	record(t, path, o)
	if got := stored(t, path); !slices.EqualFunc(got, o.events, func(a, b election.Event) bool { b.Time = b.Time.UTC(); return a == b }) {
		t.Errorf("got\n%+v\nwant\n%+v", got, o.events)
	}
	terms := termsIn(t, path)
	if len(terms) != 2 {
		t.Fatalf("%+v", terms)
	}
	second, first := terms[0], terms[1]
	lost, hour := history.Seconds(15*time.Second), history.Seconds(time.Hour)
	if first.StartKnown || first.NextNotBefore != first.Next || first.Held(o.now) != 20*time.Minute || first.Cause != election.Unknown || first.Evidence == "" || first.Leader != "web-1b" ||
		first.Node != "node-1" || first.Vacancy == nil || *first.Vacancy != lost || first.Election != "web" || first.After().String() != "15 to 36s" {
		t.Errorf("%+v", first)
	}
	if text, err := json.Marshal(first); err != nil || !strings.Contains(string(text), `"outage_min_ms":15000,"outage_max_ms":35500`) {
		t.Errorf("%v: %s", err, text)
	}
	if second.Over() || !second.StartKnown || second.Number != 2 || second.Node != "node-2" || second.Vacancy != nil {
		t.Errorf("%+v", second)
	}
	// The stored period of observation uses the real time. This period uses the time of the test.
	st := stats(t, path, start(), start().Add(time.Hour))
	if len(st.Elections) != 1 {
		t.Fatalf("%+v", st)
	}
	for _, s := range []history.Summary{st.Elections[0], st.Total} {
		if s.Terms != 2 || s.Observed != hour || s.Led != hour-lost || s.AvailabilityMin == nil || *s.AvailabilityMin != 1-35.5/3600 || *s.AvailabilityMax != 1-15./3600 ||
			s.Vacancies != 1 || s.VacancyP50 != lost || s.VacancyP95 != lost || s.VacancyMax != lost || s.Causes[election.Unknown] != 1 ||
			s.Longest != history.Seconds(39*time.Minute+45*time.Second) || s.Mean != (hour/3+s.Longest)/2 {
			t.Errorf("%+v", s)
		}
	}
}

func TestATermCountsUntilTheEndOfTheRange(t *testing.T) {
	o, path := incident(t), newPath(t)
	o.read(pair("", 10, 2, 50))
	o.after(time.Minute)
	record(t, path, o)
	if st := stats(t, path, start(), start().Add(21*time.Minute)); *st.Total.AvailabilityMin != 1-35.5/1260 {
		t.Error(st)
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	path := newPath(t)
	w, o := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour, Queue: 3}), incident(t)
	n := feed(w, o) // no goroutine receives the events, so Record must not block
	if st := w.Status(); st.Waiting <= 0 || st.Queued != 3 || st.Dropped != uint64(n-2) {
		t.Errorf("%+v of %d events", st, n)
	}
	if err := finish(t, w); err != nil || w.Status().Waiting != 0 {
		t.Fatal(err, w.Status())
	}
	if all := observations(t, path); len(all) != 1 || all[0].Dropped != uint64(n-2) || len(stored(t, path)) != 2 {
		t.Errorf("%+v", all)
	}
	w.Record([]election.Event{{Time: start(), Type: election.Elected, Key: "a"}})
	if got := w.Status().Dropped; got != uint64(n-1) {
		t.Errorf("%d events dropped after Run", got)
	}
}

func TestPeriodsOfObservation(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.observe(election.LinkUp{At: o.now, Source: "keys"})
	o.read() // also without an election
	o.after(time.Minute).observe(election.LinkLost{At: o.now, Source: "keys", Error: "refused"})
	o.after(time.Minute).observe(election.LinkUp{At: o.now, Source: "keys"})
	record(t, path, o)
	all := observations(t, path)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	if a, b := all[0], all[1]; !a.From.Equal(start()) || a.To.Sub(start()) != time.Minute || a.Ending != "connection_lost" || a.Datacenter != "dc1" ||
		b.From.Sub(start()) != 2*time.Minute || b.Ending != "stopped" || b.Lasting || a.Observer != "ana@bastion" {
		t.Errorf("%+v", all)
	}
	for after, want := range map[time.Duration]bool{0: true, time.Second: false} {
		if st, err := open(t, path).State(t.Context(), all[0].To.Add(after)); err != nil || st.Observed != want {
			t.Errorf("%s: %v %+v", after, err, st)
		}
	}
}

// A mark without a connection is stale: it begins no observation, and is no checkpoint.
func TestAMarkWithoutAConnectionIsNotStored(t *testing.T) {
	o, path := led(t, start()), newPath(t)
	record(t, path, o)
	o.after(time.Minute).observe(election.LinkLost{At: o.now, Source: "keys", Error: "refused"})
	stale := o.tracker.Snapshot(o.now)
	stale.Elections = nil
	w := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour})
	w.Mark(stale, patterns(t))
	if err := finish(t, w); err != nil || len(observations(t, path)) != 1 || len(stateAt(t, path, o.now)) != 1 || termsIn(t, path)[0].Over() {
		t.Errorf("%v %+v %+v", err, observations(t, path), termsIn(t, path))
	}
}

// A process that was stopped, or whose clock was set, tells a gap and begins another period.
func TestAClockThatJumpsIsAGap(t *testing.T) {
	for by, ending := range map[time.Duration]string{time.Hour: "suspended", 5 * time.Second: "suspended", -5 * time.Minute: "clock_set"} {
		path, now, marks := newPath(t), make(chan time.Time, 1), make(chan bool, 9)
		at := start()
		o := led(t, at)
		w := startWriter(t, path, sqlite.WriterOptions{Mark: asks(marks), Now: func() time.Time {
			select {
			case at = <-now:
			default:
			}
			return at
		}})
		feed(w.Writer, o)
		w.awaitPeriods(1)
		now <- start().Add(by)
		<-marks
		o.now = start().Add(by)
		w.Mark(o.tracker.Snapshot(o.now), patterns(t))
		w.awaitPeriods(2)
		w.stop()
		for _, x := range observations(t, path) {
			if x.Ending != "stopped" && (x.Ending != ending || x.To.Sub(start()) > time.Second) || x.Ending == "stopped" && !x.From.Equal(start().Add(by)) {
				t.Errorf("%s: %+v", by, x)
			}
		}
		if e := stateAt(t, path, start().Add(by)); len(e) != 1 || e[0].State(o.now) != election.Led || len(termsIn(t, path)) != 1 {
			t.Errorf("%s: %+v", by, e)
		}
	}
}

// Time travel must show only elections that were watched at the time. Later observers of the others continue them.
func TestTheStateContainsOnlyWatchedElections(t *testing.T) {
	o, path, waits := led(t, start()), newPath(t), led(t, start())
	o.after(time.Second).read(pair("s2", 10, 2, 30))
	waits.after(time.Second).read(pair("s2", 10, 2, 30))
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(o)
	ps := patterns(t, "jobs/*")
	o.after(time.Minute).observe(election.PatternsSet{At: o.now, Patterns: ps})
	o.observe(election.KeysRead{At: o.now, Range: election.PrefixRange("jobs/"), Pairs: []*election.Pair{{Key: "jobs/a", Session: "s2", CreateIndex: 30, LockIndex: 1, ModifyIndex: 30}}})
	w.Mark(o.tracker.Snapshot(o.now), ps)
	w.Mark(o.tracker.Snapshot(o.now), ps)
	w.stop()
	record(t, path, waits) // stores nothing twice
	later := resume(t, path, o.now.Add(time.Hour))
	later.marked = true
	later.read(pair("", 10, 4, 50))
	later.after(time.Millisecond).read(pair("s5", 10, 5, 60))
	later.mark()
	record(t, path, later)
	var events []string
	for _, e := range stored(t, path) {
		events = append(events, fmt.Sprint(e.Type, " ", e.Session, e.Count))
	}
	if want := []string{"vacated s10", "elected s20", "vacated s20", "missed 2", "elected s50"}; !slices.Equal(events, want) || !termsIn(t, path)[2].NextNotBefore.IsZero() {
		t.Errorf("got %v, want %v", events, want)
	}
	for at, want := range map[time.Duration]string{30 * time.Second: "web", 2 * time.Minute: "a"} {
		if all := stateAt(t, path, start().Add(at)); len(all) != 1 || all[0].Name != want || all[0].State(start().Add(at)) != election.Led {
			t.Errorf("after %s: %+v", at, all)
		}
	}
	if all := observations(t, path); len(all) != 3 || all[0].Ending != "patterns_changed" || !slices.Equal(all[0].Patterns, patterns(t).Strings()) || !slices.Equal(all[1].Patterns, ps.Strings()) {
		t.Errorf("%+v", all)
	}
}

// A term lasted at least until its key was last watched. Observations of other keys prove nothing about it.
func TestATermLastedWhileItsKeyWasWatched(t *testing.T) {
	jobs := election.Patterns{election.KeyPattern("jobs/a")}
	for name, now := range map[string][]election.Pair{"changed": {pair("s2", 10, 2, 30)}, "deleted": nil} {
		path, at := newPath(t), start()
		observe := func(ps election.Patterns, keys election.Range, pairs ...election.Pair) {
			o := &observer{t: t, now: at, tracker: tracker.New(tracker.Options{Patterns: ps}), marked: true}
			o.observe(election.DatacenterRead{At: at, Datacenter: "dc1"})
			o.observe(election.KeysRead{At: at, Range: keys, Pairs: election.Pairs(pairs...)})
			w := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour, Now: func() time.Time { return o.now }})
			w.Mark(o.tracker.Snapshot(at), ps)
			must(t, finish(t, w))
			at = at.Add(time.Minute)
		}
		observe(patterns(t), election.PrefixRange("service/"), pair("s1", 10, 1, 20))
		observe(jobs, election.KeyRange("jobs/a"))
		observe(patterns(t), election.PrefixRange("service/"), now...)
		terms := termsIn(t, path)
		if first := terms[len(terms)-1]; !first.SeenUntil.Equal(start()) || !first.End.Equal(start().Add(2*time.Minute)) {
			t.Errorf("%s: %+v", name, first)
		}
	}
}

// A process without the lease stores nothing, and takes over without losing an event.
func TestOneProcessStoresTheHistory(t *testing.T) {
	o, path := led(t, time.Now()), newPath(t)
	first := startWriter(t, path, sqlite.WriterOptions{Observer: "root@recorder", Lease: 10 * time.Second})
	feed(first.Writer, o)
	first.awaitPeriods(1)
	same := led(t, o.now)
	marks, others := make(chan bool, 1), make(chan string, 9)
	second := startWriter(t, path, sqlite.WriterOptions{Observer: "ana@bastion", Lease: 10 * time.Second, Mark: asks(marks), OnChange: func(st sqlite.Status) {
		if st.Other != "" {
			others <- st.Other
		}
	}})
	feed(second.Writer, same)
	if other := <-others; other != "root@recorder" || second.Status().Other != other {
		t.Error(other)
	}
	o.read(pair("", 10, 1, 25))
	first.store(o) // vacated; the first writer ends before it stores the cause
	same.read(pair("", 10, 1, 25))
	same.after(2 * time.Second)
	feed(second.Writer, same)
	first.stop()
	<-marks
	second.Mark(same.tracker.Snapshot(same.now), patterns(t))
	second.awaitPeriods(2)
	second.stop()
	if terms := termsIn(t, path); len(terms) != 1 || terms[0].Cause != election.Unknown || len(stored(t, path)) != 2 {
		t.Errorf("%+v %+v", terms, stored(t, path))
	}
	if all := observations(t, path); all[0].Observer != "root@recorder" || all[1].Observer != "ana@bastion" {
		t.Errorf("%+v", all)
	}
}

// After a kill or a regular end, another process takes over with what it observed since the latest heartbeat, and what it
// read just before it: the one that ended may have been slower.
func TestTheEventsAfterAnotherProcessAreStored(t *testing.T) {
	for _, end := range []string{"SELECT 'killed'", "DELETE FROM leases"} {
		t.Run(end, func(t *testing.T) { takeOver(t, end) })
	}
}

func takeOver(t *testing.T, end string) {
	t.Helper()
	o, path := led(t, start().Add(-time.Second)), newPath(t)
	var beats atomic.Int64
	record(t, path, o)
	kill(t, path, start())
	same := led(t, start().Add(-time.Second))
	same.after(990 * time.Millisecond).read(pair("", 10, 1, 25))
	marks := make(chan bool, 9)
	second := startWriter(t, path, sqlite.WriterOptions{Observer: "ana@bastion", Lease: 10 * time.Second, Mark: asks(marks),
		Now: func() time.Time { return start().Add(time.Duration(beats.Load())) }})
	feed(second.Writer, same)
	second.awaitYield()
	same.after(510 * time.Millisecond).read(pair("s2", 10, 2, 30)) // only the second process observes this term
	feed(second.Writer, same)
	inSQL(t, path, end)
	beats.Store(int64(12 * time.Second))
	<-marks
	second.Mark(same.tracker.Snapshot(start().Add(12*time.Second)), patterns(t))
	second.awaitPeriods(2)
	second.stop()
	if terms := termsIn(t, path); len(stored(t, path)) != 2 || len(terms) != 2 || terms[1].End.Sub(start()) != -10*time.Millisecond || terms[0].Start.Sub(start()) != 500*time.Millisecond {
		t.Errorf("%+v", terms)
	}
}

// A process that waits for the lease of a killed process, and ends before it gets it, stores nothing: the time is a gap.
func TestAProcessThatEndsBeforeItStoresLeavesAGap(t *testing.T) {
	o, path := led(t, start()), newPath(t)
	run := func(at time.Time, o *observer) *writer {
		w := startWriter(t, path, sqlite.WriterOptions{Lease: 10 * time.Second, Now: func() time.Time { return at }})
		feed(w.Writer, o)
		return w
	}
	first := run(start(), o)
	first.awaitPeriods(1)
	first.stop()
	kill(t, path, start())
	waiting := led(t, start().Add(time.Second))
	waiting.read(pair("", 10, 1, 25))
	second := run(start().Add(12*time.Second), waiting)
	second.awaitYield()
	second.stop()
	last := newObserver(t, start().Add(30*time.Second))
	last.read(pair("", 10, 1, 25))
	third := run(start().Add(30*time.Second), last)
	third.awaitPeriods(2)
	third.stop()
	cover := history.NewCoverage(observations(t, path), history.Filter{Range: history.Range{Until: start().Add(30 * time.Second)}})
	gaps := cover.Gaps(cover.Any())
	if len(gaps) != 1 || !gaps[0].Since.Equal(start()) || !gaps[0].Until.Equal(start().Add(30*time.Second)) {
		t.Errorf("%+v", gaps)
	}
	if terms := termsIn(t, path); len(terms) != 1 || !terms[0].SeenUntil.Equal(start()) || !terms[0].End.Equal(start().Add(30*time.Second)) {
		t.Errorf("%+v", terms)
	}
}

// A recorder that replaces another one leaves a gap as short as possible: its first transaction collects no events.
func TestARecorderBeginsAtOnce(t *testing.T) {
	o, path := led(t, start()), newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{Recorder: true, Delay: time.Hour, Lease: time.Hour})
	feed(w.Writer, o)
	w.awaitPeriods(1)
	w.stop()
}

// A recorder takes the lease of a dashboard, which may watch fewer keys. The dashboard yields, and another recorder waits.
func TestARecorderTakesPrecedence(t *testing.T) {
	o, path := led(t, time.Now().Add(-time.Minute)), newPath(t)
	snapshot := func() *election.Snapshot { return o.tracker.Snapshot(time.Now()) }
	dashboard := startWriter(t, path, sqlite.WriterOptions{Observer: "ana@bastion", Lease: 2 * time.Second})
	dashboard.Mark(snapshot(), patterns(t))
	dashboard.awaitPeriods(1)
	var writers []*writer
	for _, name := range []string{"root@recorder", "root@second"} {
		w := new(writer)
		*w = *startWriter(t, path, sqlite.WriterOptions{Observer: name, Recorder: true, Lease: 2 * time.Second, Mark: func() { go func() { w.Mark(snapshot(), patterns(t)) }() }})
		w.Mark(snapshot(), patterns(t))
		w.waitFor(func() bool { return w.Status().Other != "" })
		w.awaitPeriods(2)
		writers = append(writers, w)
	}
	dashboard.Mark(snapshot(), patterns(t))
	dashboard.awaitYield()
	writers[1].awaitYield()
	dashboard.stop()
	writers[1].stop()
	writers[0].stop()
	if all := observations(t, path); len(all) != 2 || all[1].Observer != "root@recorder" || all[1].Ending != "stopped" || len(termsIn(t, path)) != 1 {
		t.Errorf("%+v", all)
	}
}

func (w *writer) waitFor(is func() bool) {
	w.t.Helper()
	if !consultest.Poll(patience, is) {
		w.t.Fatal("timeout")
	}
}

// awaitPeriods waits until the file has n periods of observation.
func (w *writer) awaitPeriods(n int) {
	w.t.Helper()
	w.waitFor(func() bool { return len(observations(w.t, w.path)) == n })
}

// awaitYield waits until the writer waits for the lease of the recorder.
func (w *writer) awaitYield() {
	w.t.Helper()
	w.waitFor(func() bool { return w.Status().Other == "root@recorder" })
}

// A process that was stopped while another one took over must not write as if it had the lease. A recorder does not take
// the lease back until its knowledge is up to date.
func TestAWriterThatLosesItsLeaseStoresNothing(t *testing.T) {
	for _, recorder := range []bool{false, true} {
		o, path := led(t, start()), newPath(t)
		w := startWriter(t, path, sqlite.WriterOptions{Observer: "root@recorder", Recorder: recorder, Lease: time.Minute})
		feed(w.Writer, o)
		w.awaitPeriods(1)
		inSQL(t, path, fmt.Sprintf("UPDATE leases SET writer = 'another', observer = 'ana@bastion', recorder = 0, renewed = %d", time.Now().UnixNano()))
		o.after(time.Minute).read(pair("", 10, 1, 25))
		feed(w.Writer, o)
		w.waitFor(func() bool { return w.Status().Other == "ana@bastion" || w.Status().Stored > 0 })
		w.stop()
		if all := observations(t, path); len(stored(t, path)) != 0 || len(all) != 1 || all[0].Ending != "" {
			t.Errorf("%+v", all)
		}
	}
}

func inSQL(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec("PRAGMA busy_timeout = 5000; " + statement)
		err = errors.Join(err, db.Close())
	}
	must(t, err)
}

// A file that the token of the next observer cannot read completely must not invent ends of terms.
func TestAKeyThatIsHiddenAtTheStartIsNotDeleted(t *testing.T) {
	o, path := led(t, start()), newPath(t)
	record(t, path, o)
	for _, filtered := range []bool{true, false} {
		next := newObserver(t, start().Add(time.Hour)) // without the recorded state
		next.observe(election.KeysRead{At: next.now, Range: election.PrefixRange("service/"), Filtered: filtered})
		record(t, path, next)
		if terms := termsIn(t, path); len(terms) != 1 || terms[0].Over() == filtered {
			t.Errorf("filtered %t: %+v", filtered, terms)
		}
	}
}

// All actions of a command are stored at once, and explain the terms that they ended, whichever is stored first.
func TestActionsExplainTheTermsThatTheyEnded(t *testing.T) {
	const leaders = 150
	for _, first := range []string{"events", "actions"} {
		o, path := newObserver(t, time.Now().Add(-5*time.Second)), newPath(t)
		pairs := make([]election.Pair, leaders)
		for i := range pairs {
			pairs[i] = pair("s1", 10, 1, 20)
			pairs[i].Key = fmt.Sprintf("service/web-%d/leader", i)
		}
		o.read(pairs...)
		for i := range pairs {
			pairs[i].Session, pairs[i].ModifyIndex = "", 30
		}
		o.after(time.Second).read(pairs...)
		o.after(2 * time.Second)
		w := startWriter(t, path, sqlite.WriterOptions{}) // a command that does not observe
		for i := range pairs {
			w.RecordAction(history.Action{
				Time: o.now.Add(-2 * time.Second), By: "ana@bastion", Kind: election.ActionRelease, Datacenter: "dc1", Key: pairs[i].Key, Session: "s1", CreateIndex: 10, Term: 1, Result: history.ResultDone,
			})
		}
		if first == "events" {
			record(t, path, o)
		}
		w.waitFor(func() bool {
			return len(actions(t, path)) >= leaders
		})
		w.stop()
		record(t, path, o)
		if n := len(actions(t, path)); n != leaders {
			t.Errorf("%d actions", n)
		}
		for _, term := range termsIn(t, path) {
			if term.Cause != election.OperatorRelease || term.By != "ana@bastion" || term.Evidence != "released with electop by ana@bastion" {
				t.Fatalf("%s first: %+v", first, term)
			}
		}
		if e := stateAt(t, path, o.now)[7].LastTerm(); e == nil || e.Cause != election.OperatorRelease {
			t.Errorf("%s first: %+v", first, e)
		}
	}
}

// No later guess replaces the cause of an operator's action, neither in the file nor on a board.
func TestAnOperatorsActionRemainsTheCause(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.read(pair("", 10, 0, 5))
	b := history.NewBoard(o.tracker.Snapshot(o.now))
	e := election.Event{Election: "web", Key: "service/web/leader", Datacenter: "dc1", Term: 1, CreateIndex: 10, ModifyIndex: 20, Session: "s1"}
	for i, kind := range []election.EventType{election.Elected, election.Vacated, election.Explained, election.Explained} {
		e.Time, e.Type, e.ModifyIndex = start().Add(time.Duration(i+1)*time.Second), kind, e.ModifyIndex+1
		e.Cause, e.By = []election.Cause{"", "", election.OperatorRelease, election.Released}[i], []string{"", "", "ana@bastion", ""}[i]
		o.stream = append(o.stream, step{event: e})
		b.Apply(&e)
	}
	record(t, path, o)
	if terms, all := termsIn(t, path), stored(t, path); len(all) != 3 || len(terms) != 1 || terms[0].Cause != election.OperatorRelease || terms[0].By != "ana@bastion" {
		t.Errorf("%+v %+v", terms, all)
	}
	if last := b.Elections(e.Time)[0].LastTerm(); last == nil || last.Cause != election.OperatorRelease {
		t.Errorf("%+v", last)
	}
}

// Other hosts can send many actions. They must neither delay the events nor lock the file for long.
func TestManyActionsDoNotStopTheWriter(t *testing.T) {
	path := newPath(t)
	record(t, path, decade(t))
	w := startWriter(t, path, sqlite.WriterOptions{})
	for range 600 {
		w.RecordAction(history.Action{Time: start().Add(time.Minute), By: "eve", Kind: election.ActionDestroy, Datacenter: "dc1", Session: "s1", Result: history.ResultDone})
	}
	w.store(incident(t))
	w.stop()
}

func daysAgo(n int) time.Time {
	return time.Now().Add(-time.Duration(n) * 24 * time.Hour).Round(0).UTC()
}

// yearly records a term per day. It returns the number of events.
func daily(t *testing.T, path string, days int, others ...election.Pair) int {
	t.Helper()
	o := newObserver(t, daysAgo(days))
	gone := pair("s1", 10, 1, 21)
	gone.Key = "service/gone/leader"
	o.read(append(others, gone, pair("s1", 10, 1, 20))...)
	for i := uint64(1); i < uint64(days); i++ {
		o.after(24*time.Hour - time.Minute).read(append(others, pair("", 10, i, 20+10*i))...)
		o.after(time.Minute).read(append(others, pair("s1", 10, i+1, 25+10*i))...)
		o.mark()
	}
	record(t, path, o)
	return len(stored(t, path))
}

// trim runs retention at a time, as the writer of the file.
func trim(t *testing.T, path string, at time.Time, o sqlite.WriterOptions, keep ...time.Duration) {
	t.Helper()
	w := sqlite.NewWriter(path, o)
	must(t, w.Open(t.Context()))
	must(t, errors.Join(w.Trim(t.Context(), at, append(keep, 0)[0]), finish(t, w)))
}

// Retention deletes whole periods, but nothing that still applies.
func TestRetentionKeepsThePresent(t *testing.T) {
	path := newPath(t)
	slots, idle := pair("", 5, 0, 7), pair("", 6, 0, 8)
	slots.Key, slots.Flags, slots.Value = "service/jobs/leader", election.SemaphoreFlag, []byte(`{"Limit":2,"Holders":{"s1":true,"s2":true}}`)
	idle.Key = "service/idle/leader"
	before := daily(t, path, 60, idle, slots)
	keep := 10 * 24 * time.Hour
	recordWith(t, path, nil, sqlite.WriterOptions{Keep: &keep})
	if n := len(stored(t, path)); n != before {
		t.Errorf("a process without events deleted %d events", before-n)
	}
	// Another datacenter is no longer observed.
	inSQL(t, path, `INSERT INTO elections (id, datacenter, key, name, found) VALUES (99, 'dc2', 'x', 'x', 1);
		INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known) VALUES (99, 1, 1, 's', '', '', 1, 1);
		WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100010) INSERT INTO actions (id, time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail)
			SELECT value, `+fmt.Sprint(time.Now().UnixNano())+`, 'eve', 'release', 'dc1', '', 's', 0, 0, '', '', 'failed', '' FROM n`)
	trim(t, path, time.Now(), sqlite.WriterOptions{Keep: &keep})
	if n := len(actions(t, path)); n != 100_000 {
		t.Errorf("%d actions", n)
	}
	events, terms := stored(t, path), termsIn(t, path)
	if slices.ContainsFunc(terms, func(x history.Term) bool { return x.Datacenter == "dc2" }) {
		t.Error("a term of a datacenter that was not observed for 10 days remains")
	}
	if len(events) >= before/4 || len(events) < 25 || time.Since(terms[len(terms)-1].End) > 12*24*time.Hour {
		t.Errorf("%d of %d events remain, and %d terms", len(events), before, len(terms))
	}
	for _, at := range []time.Time{daysAgo(10).Add(time.Hour), daysAgo(5), time.Now()} {
		all := stateAt(t, path, at)
		if len(all) != 3 {
			t.Fatalf("%+v", all)
		}
		if slots, ok := all[1].Pair.Slots(); !ok || len(slots.Holders) != 2 {
			t.Errorf("the holders of the semaphore are missing: %+v", all[1])
		}
	}
	names, err := open(t, path).Elections(t.Context())
	if err != nil || len(names) != 2 && len(names) != 3 || slices.ContainsFunc(names, func(e history.Election) bool { return e.Name == "gone" }) {
		t.Errorf("%v: %v", err, names)
	}
}

// A datacenter without events also stores checkpoints. Otherwise its latest one would keep the events of all others.
func TestADatacenterWithoutEventsStoresCheckpoints(t *testing.T) {
	o, path, marks := led(t, daysAgo(2)), newPath(t), make(chan bool, 1)
	w := startWriter(t, path, sqlite.WriterOptions{Mark: asks(marks)})
	feed(w.Writer, o)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-marks:
	case <-ctx.Done():
		t.Error("no checkpoint was requested after two days")
	}
	w.cancel()
	<-w.done
}

// The time whose terms retention has deleted does not count as observed without a leader.
func TestRetentionEndsTheKnowledgeOfItsPeriod(t *testing.T) {
	path, keep := newPath(t), 10*24*time.Hour
	daily(t, path, 60)
	trim(t, path, time.Now(), sqlite.WriterOptions{Keep: &keep})
	st := stats(t, path, daysAgo(50), time.Time{})
	if st.Total.AvailabilityMin != nil || *st.Total.AvailabilityMax < 0.9 || time.Duration(st.Observed) > 13*24*time.Hour {
		t.Errorf("%+v", st.Total)
	}
	before, err := open(t, path).State(t.Context(), daysAgo(30))
	if err != nil || before.Observed {
		t.Errorf("%v %+v", err, before)
	}
}

// The period that one process sets remains for the others.
func TestACommandWithoutKeepDeletesNothing(t *testing.T) {
	path, keep := newPath(t), 365*24*time.Hour
	trim(t, path, time.Now(), sqlite.WriterOptions{Keep: &keep})
	before := daily(t, path, 150)
	w := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour})
	w.RecordAction(history.Action{Time: start(), By: "ana@bastion", Result: history.ResultDone})
	must(t, finish(t, w))
	trim(t, path, time.Now(), sqlite.WriterOptions{})
	if n := len(stored(t, path)); n != before || n < 2*149 {
		t.Errorf("%d of %d events remain", n, before)
	}
}

// Above its maximum size, a file loses its oldest period, again and again, but not the present.
func TestRetentionBySize(t *testing.T) {
	path, keep := newPath(t), time.Duration(0)
	before := daily(t, path, 60)
	for range 5 {
		trim(t, path, time.Now(), sqlite.WriterOptions{Keep: &keep, MaxBytes: 1})
	}
	if n := len(stored(t, path)); n >= before || n < before/2 {
		t.Errorf("%d of %d events remain", n, before)
	}
	if all := stateAt(t, path, time.Now()); len(all) != 1 || all[0].State(time.Now()) != election.Led {
		t.Errorf("%+v", all)
	}
}

// After a jump of the clock, retention waits until the time is confirmed. The events that follow a deletion of all events
// are part of the state.
func TestAClockThatJumpsForwardDeletesNothing(t *testing.T) {
	path, future := newPath(t), daysAgo(-365)
	before := daily(t, path, 20)
	o := newObserver(t, future)
	o.read(pair("s1", 10, 20, 225))
	w := startWriter(t, path, sqlite.WriterOptions{})
	feed(w.Writer, o)
	w.awaitPeriods(2)
	w.stop()
	trim(t, path, future.Add(time.Hour), sqlite.WriterOptions{})
	if n := len(stored(t, path)); n != before {
		t.Errorf("%d of %d events remain", n, before)
	}
	trim(t, path, future.Add(25*time.Hour), sqlite.WriterOptions{})
	if n := len(stored(t, path)); n != 0 {
		t.Errorf("%d events remain after a day", n)
	}
	next := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour})
	next.Record(o.after(26 * time.Hour).read(pair("", 10, 20, 230)))
	next.Mark(&election.Snapshot{Datacenter: "dc1", Connection: election.Connection{State: election.Lost}}, nil) // no checkpoint
	must(t, finish(t, next))
	if all := stateAt(t, path, o.now); len(stored(t, path)) != 1 || len(all) != 1 || all[0].Pair.Held() {
		t.Errorf("%+v %+v", all, stored(t, path))
	}
}

// A prefix that the token can no longer read keeps its elections and current terms.
func TestRetentionKeepsUnreadableTerms(t *testing.T) {
	o, path := led(t, daysAgo(200)), newPath(t)
	o.after(time.Hour).observe(election.KeysRead{At: o.now, Range: election.PrefixRange("service/"), Hidden: []string{"service/web/leader"}})
	for range 199 {
		o.after(24 * time.Hour).mark()
	}
	record(t, path, o)
	trim(t, path, time.Now(), sqlite.WriterOptions{})
	if terms := termsIn(t, path); len(terms) != 1 || terms[0].Over() {
		t.Errorf("%+v", terms)
	}
	if all := stateAt(t, path, time.Now()); len(all) != 1 || !all[0].Unreadable || !all[0].Pair.Held() {
		t.Errorf("%+v", all)
	}
}

func TestAFileBelongsToOneCluster(t *testing.T) {
	path := newPath(t)
	run := func(cluster string) error {
		w := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour, Cluster: func(context.Context) string { return cluster }})
		feed(w, incident(t))
		return finish(t, w)
	}
	for _, cluster := range []string{"a.consul", "", "a.consul"} {
		if err := run(cluster); err != nil {
			t.Errorf("%s: %v", cluster, err)
		}
	}
	n := len(stored(t, path))
	if err := run("b.consul"); !errors.Is(err, history.ErrCluster) || len(stored(t, path)) != n {
		t.Errorf("%v; %d events, before %d", err, len(stored(t, path)), n)
	}
	for cluster, want := range map[string]error{"a.consul": nil, "": nil, "b.consul": history.ErrCluster, "prod=a.consul": history.ErrCluster} {
		f := sqlite.NewFile(path, func(context.Context) string { return cluster })
		if _, err := f.Events(t.Context(), history.EventQuery{}); !errors.Is(err, want) {
			t.Errorf("read by an observer of %q: %v, want %v", cluster, err, want)
		}
		f.Close()
	}
}

func TestAFileBelongsToSeveralClusters(t *testing.T) {
	path := newPath(t)
	for _, c := range []struct {
		cluster string
		want    error
	}{{"prod=a", nil}, {"stage=b", nil}, {"prod=a", nil}, {"stage=a", history.ErrCluster}, {"a", history.ErrCluster}, {"", nil}} {
		w := sqlite.NewWriter(path, sqlite.WriterOptions{Cluster: func(context.Context) string { return c.cluster }})
		feed(w, incident(t))
		if err := finish(t, w); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.cluster, err, c.want)
		}
	}
}

// A tunnel that was pointed at another cluster looks like a lost connection, with changes after it.
func TestAnotherClusterAfterALostConnectionIsRefused(t *testing.T) {
	path, o := newPath(t), newObserver(t, start())
	var cluster atomic.Value
	cluster.Store("a.consul")
	w := startWriter(t, path, sqlite.WriterOptions{Cluster: func(context.Context) string { return cluster.Load().(string) }})
	o.read(pair("a", 5, 1, 10))
	o.read(pair("b", 5, 2, 12))
	w.store(o)
	reconnect := func(pairs ...election.Pair) {
		o.now = o.now.Add(time.Second)
		o.observe(election.KeysRead{At: o.now, Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...), AfterGap: true})
	}
	cluster.Store("") // cannot be read at present
	reconnect(pair("c", 5, 3, 14))
	events := feed(w.Writer, o)
	w.waitFor(func() bool { return w.Status().Queued > 0 })
	cluster.Store("a.consul")
	w.await(events)
	n := len(stored(t, path))
	cluster.Store("b.consul")
	reconnect()
	feed(w.Writer, o)
	if err := <-w.done; !errors.Is(err, history.ErrCluster) || len(stored(t, path)) != n || n != 2+events {
		t.Errorf("%v; %d events, before %d", err, len(stored(t, path)), n)
	}
}
