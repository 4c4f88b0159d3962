package sqlite_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// Two processes observe the same keys at different times, and one of them is stopped now and then. The one that stores the
// history is killed. The other takes over: it stores what the first did not store, no term and no event twice.
func TestATakeoverStoresNothingTwice(t *testing.T) {
	seeds := uint64(64)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f, path := newFailures(t, seed), newPath(t)
			waits := newObserver(t, f.o.now)
			both := func() { // the other process reads later
				f.silent = f.r.IntN(4) == 0
				f.look(false)
				f.silent = f.r.IntN(4) == 0
				if waits.now = f.o.now.Add(time.Duration(f.r.IntN(40)) * time.Millisecond); f.r.IntN(3) > 0 {
					f.read(waits, false)
				}
			}
			for range 5 {
				f.step()
			}
			f.look(false)
			waits.now = f.o.now
			f.read(waits, false)
			for range 40 {
				f.step()
				both()
			}
			stopped := f.r.IntN(2) == 0
			for range f.r.IntN(6) {
				if f.step(); stopped {
					f.look(false)
				} else {
					both()
				}
			}
			killed, since := f.o.now, waits.now
			record(t, path, f.o)
			kill(t, path, killed)
			for range f.r.IntN(3) { // what nobody stores
				f.step()
			}
			f.o = waits
			if f.o.now = killed.Add(time.Millisecond); stopped {
				f.o.now = killed.Add(5 * time.Second)
				f.o.observe(election.Gap{At: f.o.now, Since: since})
			}
			f.look(stopped)
			var now atomic.Int64
			marks := make(chan bool, 9)
			w := startWriter(t, path, sqlite.WriterOptions{Mark: asks(marks), Now: func() time.Time { return killed.Add(time.Duration(now.Load())) }})
			feed(w.Writer, f.o)
			w.awaitYield()
			now.Store(int64(300 * time.Millisecond))
			f.step()
			f.look(false)
			feed(w.Writer, f.o)
			<-marks
			f.step()
			f.look(false)
			f.o.mark()
			feed(w.Writer, f.o)
			w.stop()
			once := map[string]bool{}
			see := func(what string) {
				if once[what] {
					t.Errorf("stored twice: %s", what)
				}
				once[what] = true
			}
			counted, reset := map[string]uint64{}, map[string]bool{} // the terms that LockIndex also counts
			of := func(key string, createIndex uint64) string { return fmt.Sprint(key, " ", createIndex) }
			terms, last := termsIn(t, path), map[string]election.Event{}
			for _, x := range terms {
				id := of(x.Key, x.CreateIndex)
				counted[id]++
				see(id + x.Session) // each session has one term
			}
			for _, e := range stored(t, path) {
				id := of(e.Key, e.CreateIndex)
				counted[id] += e.Count
				reset[id] = reset[id] || e.Type == election.Overwritten
				if e.Type == election.Readable || e.Type == election.Unreadable {
					continue // may happen again
				}
				see(fmt.Sprint(e.Type, id, " ", e.ModifyIndex, e.Session, e.Cause, e.Guess))
				if x := last[id+e.Session]; e.Type == election.Explained {
					if last[id+e.Session] = e; !once[id+e.Session] || x.Cause != "" && x.Cause != election.Unknown && !x.Guess {
						t.Errorf("no term has the cause %+v, or it has %q", e, x.Cause)
					}
				}
			}
			for _, e := range f.o.tracker.Snapshot(f.o.now).Elections { // the latest term is that of the other process
				i := slices.IndexFunc(terms, func(x history.Term) bool { return x.Key == e.Key() && !x.Over() })
				if e.Unreadable {
					continue
				}
				id := of(e.Key(), e.Pair.CreateIndex)
				if n := counted[id]; e.Exists && !reset[id] && e.Pair.LockIndex > 0 && n > e.Pair.LockIndex {
					t.Errorf("%d terms of %+v", n, e)
				}
				if (i >= 0) != (e.Exists && e.Pair.Held()) || i >= 0 && terms[i].Session != e.Pair.Session {
					t.Errorf("%+v of %+v", e, terms)
				}
			}
		})
	}
}

// A process stores the changes that it has read while another one was killed, and ends before its first mark. A later
// process whose mark is older does not store them again.
func TestAMarkThatIsOlderThanStoredChangesDoesNotRepeatThem(t *testing.T) {
	path, o := newPath(t), newObserver(t, start())
	o.read(pair("a", 5, 1, 10))
	record(t, path, o)
	seen := start().Add(5 * time.Second)
	kill(t, path, seen)
	for i, marked := range []bool{false, true} {
		later := newObserver(t, start())
		later.read(pair("a", 5, 1, 10))
		if later.now = seen.Add(500 * time.Millisecond); marked {
			later.mark()
		}
		later.now = seen.Add(time.Second)
		later.read(pair("b", 5, 2, 12))
		now := seen.Add(time.Duration(20+i) * time.Second)
		recordWith(t, path, later, sqlite.WriterOptions{Now: func() time.Time { return now }})
	}
	if all := stored(t, path); len(all) != 2 || len(termsIn(t, path)) != 2 {
		t.Errorf("%+v", all)
	}
}

// A process that is killed while it stores the changes before its start leaves none of them: the next one repeats all.
func TestTheChangesBeforeTheStartAreStoredTogether(t *testing.T) {
	path, o := newPath(t), newObserver(t, start())
	o.marked = true
	for n := range uint64(1500) {
		o.read(pair(fmt.Sprint("s", n), 5, n+1, n+10))
	}
	o.mark()
	w := startWriter(t, path, sqlite.WriterOptions{})
	want := feed(w.Writer, o)
	if got := <-w.stored; got != want {
		t.Errorf("the first transaction stored %d of %d events", got, want)
	}
	w.stop()
}

// After a kill, two processes take over in turn. Each is given by what it reads every second: "session lock modify", or "-" if
// the key does not exist, or "." if it reads nothing.
func TestTwoTakeoversStoreEachChangeOnce(t *testing.T) {
	for _, tt := range []struct{ first, second, third, want string }{
		{"s1 1 10,s2 2 15,-,.", "s1 1 10,.,-,.", "s1 1 10,s2 2 15,-,.", "[s2true s1true] [vacated elected explained vacated deleted explained]"},
		{"s1 1 10,s2 2 15,-,.", "s1 1 10,.,-,.", "s1 1 10,s2 2 16,-,.", "[s2true s1true] [vacated elected explained vacated deleted explained]"},                                                    // a later write
		{"s1 1 10,s2 2 15,.,.", "s1 1 10,.,-,.", "s1 1 10,.,-,.", "[s2true s1true] [vacated elected explained deleted]"},                                                                            // read late
		{"s1 1 10,s2 2 15,.,.", "s1 1 10,s2 2 15,s1 1 10,-", "s1 1 10,s2 2 15,s1 1 10,-", "[s1true s2true s1true] [vacated elected explained vacated elected explained vacated deleted explained]"}, // restored
		{"s1 1 10,s1 0 12,_ 0 13,.", "s1 1 10,s1 0 12,_ 0 13,s1 1 14", "s1 1 10,s1 0 12,_ 0 13,s1 1 14", "[s1false s1true] [overwritten vacated explained elected]"},                                // the same number
	} {
		path, start := newPath(t), start()
		for i, reads := range []string{tt.first, tt.second, tt.third} {
			o := newObserver(t, start)
			for read := range strings.SplitSeq(reads, ",") {
				if f := strings.Fields(read); len(f) == 3 {
					o.read(pair(strings.Trim(f[0], "_"), 5, uint64(f[1][0]-'0'), 10+uint64(f[2][1]-'0')))
				} else if read == "-" {
					o.read()
				}
				o.after(time.Second)
			}
			o.now = o.now.Add(time.Second)
			o.mark()
			now := o.now.Add(time.Duration(20*i) * time.Second)
			recordWith(t, path, o, sqlite.WriterOptions{Now: func() time.Time { return now }})
			if i == 0 {
				kill(t, path, start.Add(1900*time.Millisecond))
			}
		}
		got := election.Map(termsIn(t, path), func(x history.Term) string { return fmt.Sprint(x.Session, x.Over()) })
		types := election.Map(stored(t, path), func(e election.Event) string { return string(e.Type) })
		if all := fmt.Sprint(got, types); all != tt.want {
			t.Errorf("%s of %+v", all, tt)
		}
	}
}
