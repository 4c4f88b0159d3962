package sqlite_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// row formats the fields of an election that the history stores.
func row(e *election.Election, at time.Time) string {
	node := ""
	if n := len(e.Terms); n > 0 {
		node = e.Terms[n-1].Node
	}
	text := fmt.Sprintf("%s (%s, %s) %s exists %t leader %q on %q term %d since %s %t vacant %s %t delay %s %t changes %d overwritten %t unreadable %t",
		e.Name, e.Key(), e.Datacenter, e.State(at), e.Exists, e.Leader, node, e.Term, election.FormatTime(e.Since), e.SinceKnown,
		election.FormatTime(e.VacantSince), e.VacantSinceKnown, election.FormatTime(e.LockDelayUntil), e.LockDelayDoubtful,
		e.Changes(at, time.Hour), e.Overwritten(), e.Unreadable)
	if slots, ok := e.Pair.Slots(); ok && e.State(at) == election.OfSemaphore {
		text += fmt.Sprint(" slots ", slots)
	}
	if last := e.LastTerm(); last != nil && e.State(at) != election.Led {
		text += fmt.Sprintf(" last %s on %s, %d, held %s %t, %q %q %t", last.Leader, last.Node, last.Number,
			last.Held(at), last.HeldKnown(), last.Cause, last.Evidence, last.Guess)
	}
	for _, t := range e.Terms {
		if !t.Over() || t.End.After(at.Add(-time.Hour)) {
			text += fmt.Sprintf("; term %d of %s %s to %s %s %q", t.Number, t.Leader, election.FormatTime(t.Start), election.FormatTime(t.End), election.FormatTime(t.SeenUntil), t.Cause)
		}
	}
	return text
}

// board is the content of a live board at one time.
type board struct {
	at   time.Time
	rows []string
	// moved is set after the clock was set: the observer then moves the times of earlier terms, but the history does not.
	moved bool
}

// withoutTerms removes the earlier terms from a row.
func withoutTerms(row string) string {
	row, _, _ = strings.Cut(row, "; term ")
	return regexp.MustCompile(` changes [0-9]+`).ReplaceAllString(row, "")
}

func boardOf(elections []*election.Election, at time.Time) board {
	b := board{at: at}
	for _, e := range elections {
		b.rows = append(b.rows, row(e, at))
	}
	return b
}

// expectBoards reconstructs the board at each time from the file and compares it with the live board.
func expectBoards(t *testing.T, path string, live []board) {
	t.Helper()
	f := open(t, path)
	for _, want := range live {
		st, err := f.State(t.Context(), want.at)
		must(t, err)
		got := boardOf(st.Elections, want.at)
		for i := range got.rows {
			if want.moved {
				got.rows[i] = withoutTerms(got.rows[i])
			}
		}
		if slices.Equal(got.rows, want.rows) {
			continue
		}
		t.Errorf("at %s\n got %s\nwant %s", want.at.Format(time.StampNano), difference(got.rows, want.rows), difference(want.rows, got.rows))
		return // stop, because later differences have the same cause
	}
}

// difference returns the rows that only one of two boards contains.
func difference(a, b []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(a), func(r string) bool { return slices.Contains(b, r) }), "\n     ")
}

// consul is a KV store with sessions that a test changes.
type consul struct {
	index    uint64
	pairs    map[string]election.Pair
	sessions map[string]*election.Session
	hidden   []string
	silent   bool // does not respond to a read of evidence
}

func newConsul() *consul {
	return &consul{pairs: map[string]election.Pair{}, sessions: map[string]*election.Session{}}
}

func (c *consul) write(key string, change func(*election.Pair)) {
	c.index++
	p, exists := c.pairs[key]
	if !exists {
		p = election.Pair{Key: key, CreateIndex: c.index}
	}
	change(&p)
	p.ModifyIndex = c.index
	c.pairs[key] = p
}

func (c *consul) acquire(key, session, value string) {
	if c.pairs[key].Held() && c.pairs[key].Session != session {
		return
	}
	c.write(key, func(p *election.Pair) {
		if !p.Held() {
			p.LockIndex++
		}
		p.Session, p.Value = session, []byte(value)
	})
}

func (c *consul) free(key string) {
	if c.pairs[key].Held() {
		c.write(key, func(p *election.Pair) { p.Session = "" })
	}
}

func (c *consul) overwrite(key, value string) {
	c.write(key, func(p *election.Pair) { p.LockIndex, p.Value = 0, []byte(value) })
}

func (c *consul) read(o *observer, afterGap bool) {
	o.now = o.now.Add(3 * time.Millisecond) // two reads must not have the same time
	r := election.KeysRead{At: o.now, Range: election.PrefixRange("service/"), AfterGap: afterGap, Hidden: c.hidden}
	for key, p := range c.pairs {
		if !slices.Contains(c.hidden, key) {
			r.Pairs = append(r.Pairs, &p)
		}
	}
	slices.SortFunc(r.Pairs, election.ComparePairs)
	for _, e := range o.observe(r) {
		if e.Type == election.Vacated && !e.Initial {
			c.explain(o, e)
		}
	}
}

// explain passes the evidence for the end of a term to the observer, shortly after the end.
func (c *consul) explain(o *observer, vacated election.Event) {
	o.now = o.now.Add(7 * time.Millisecond)
	o.observe(election.TermEvidence{At: o.now, Event: vacated, Outcome: election.Evidence{
		SessionRead: !c.silent, SessionExists: c.sessions[vacated.Session] != nil, SessionsIndex: c.index, ChecksRead: true, NodeExists: true, ChecksIndex: 1,
	}})
}

// failures changes a consul at random and records the live boards.
type failures struct {
	*consul
	o    *observer
	r    *rand.Rand
	live []board
	made int
	// moved is set after the clock was set.
	moved bool
	// fresh contains the keys whose LockIndex restarted after the latest read. Further changes of these keys before
	// the next read may cause no event.
	fresh map[string]bool
}

func newFailures(t *testing.T, seed uint64) *failures {
	f := &failures{consul: newConsul(), o: newObserver(t, start()), r: rand.New(rand.NewPCG(seed, 1)), fresh: map[string]bool{}}
	f.index = 10
	f.o.observe(election.LinkUp{At: f.o.now, Source: "probe"})
	return f
}

func (f *failures) key() string { return fmt.Sprintf("service/web-%d/leader", f.r.IntN(8)) }

func (f *failures) session() string {
	f.made++
	s := &election.Session{
		ID: fmt.Sprintf("%08x-0000-0000-0000-000000000000", f.made), Name: fmt.Sprint("session-", f.made), Node: fmt.Sprint("node-", f.r.IntN(4)),
		LockDelay: time.Duration(f.r.IntN(3)) * 15 * time.Second, Behavior: election.BehaviorRelease, CreateIndex: f.index,
	}
	f.sessions[s.ID] = s
	f.o.observe(election.SessionsRead{At: f.o.now, Sessions: []*election.Session{s}})
	return s.ID
}

// lose ends a session with all its locks.
func (f *failures) lose(id string) {
	delete(f.sessions, id)
	for key, p := range f.pairs {
		if p.Session == id {
			f.free(key)
		}
	}
}

// step makes one change in Consul.
func (f *failures) step() {
	key := f.key()
	held := f.pairs[key].Session
	if f.fresh[key] {
		return
	}
	switch n := f.r.IntN(20); {
	case n < 7 && held == "":
		f.fresh[key] = f.fresh[key] || f.pairs[key].CreateIndex == 0
		f.acquire(key, f.session(), fmt.Sprint("web-", f.r.IntN(3)))
	case n < 3:
		f.acquire(key, held, fmt.Sprint("renamed-", f.made, f.index)) // the same holder with another value
	case n < 10:
		f.free(key)
	case n < 14 && held != "":
		f.lose(held)
	case n < 16 && f.pairs[key].CreateIndex > 0:
		f.fresh[key] = true
		f.overwrite(key, fmt.Sprint("overwritten-", f.index))
	case n < 17:
		f.index++
		delete(f.pairs, key)
	case n < 18 && len(f.hidden) == 0:
		for key := range f.pairs {
			if !f.fresh[key] {
				f.hidden = append(f.hidden, key)
			}
		}
		slices.Sort(f.hidden)
		f.hidden = f.hidden[:f.r.IntN(len(f.hidden)+1)]
	default:
		f.hidden = nil
	}
}

// wait advances the clock and records the board.
func (f *failures) wait(d time.Duration) {
	f.o.after(d)
	f.note()
}

func (f *failures) note() {
	b := boardOf(f.o.tracker.Snapshot(f.o.now).Elections, f.o.now)
	for i := range b.rows {
		if b.moved = f.moved; f.moved {
			b.rows[i] = withoutTerms(b.rows[i])
		}
	}
	f.live = append(f.live, b)
}

func (f *failures) interrupt() {
	f.o.observe(election.LinkLost{At: f.o.now, Source: "probe", Error: "connection refused", RetryAt: f.o.now})
	for range f.r.IntN(4) {
		f.step()
	}
	f.wait(time.Duration(f.r.IntN(200)) * time.Second)
	f.o.observe(election.LinkUp{At: f.o.now, Source: "probe"})
	f.look(true)
}

// look makes the observer read all keys, and records the board.
func (f *failures) look(afterGap bool) {
	f.read(f.o, afterGap)
	maps.DeleteFunc(f.fresh, func(key string, _ bool) bool { return !slices.Contains(f.hidden, key) })
	f.note()
}

// segment records with an observer that continues the history. It returns the time from which the boards can be compared.
func (f *failures) segment(t *testing.T, path string) {
	w := startWriter(t, path, sqlite.WriterOptions{})
	for range 40 {
		switch f.r.IntN(30) {
		case 0:
			f.interrupt()
			continue
		case 1:
			f.setClock()
			continue
		case 2:
			f.o.mark() // a periodic checkpoint
		}
		for range 1 + f.r.IntN(3) {
			f.step()
		}
		f.look(false)
		f.wait(time.Duration(f.r.IntN(3000)) * time.Millisecond)
		f.wait(time.Duration(f.r.IntN(600)) * time.Second)
	}
	w.store(f.o)
	w.stop()
}

// setClock sets the clock forward, which counts as a gap.
func (f *failures) setClock() {
	before, by := f.o.now, time.Duration(f.r.IntN(600))*time.Second
	f.o.now, f.moved = f.o.now.Add(by), true
	f.o.observe(election.Gap{At: f.o.now, Since: before})
	f.o.mark()
	f.live = slices.DeleteFunc(f.live, func(b board) bool { return !b.at.Before(f.o.now) })
	f.note()
}

// restart ends the observer, changes keys while no observer is running, and starts another observer. If killed is set, the
// process ended without a last write.
func (f *failures) restart(t *testing.T, path string, killed bool) {
	if killed {
		inSQL(t, path, "UPDATE observations SET ended = NULL, ending = NULL")
	}
	f.hidden = nil
	for range f.r.IntN(6) {
		f.step()
	}
	f.hidden = nil
	f.o = resume(t, path, f.o.now.Add(time.Duration(1+f.r.IntN(7200))*time.Second))
	f.o.observe(election.LinkUp{At: f.o.now, Source: "probe"})
	for _, s := range f.sessions {
		f.o.observe(election.SessionsRead{At: f.o.now, Sessions: []*election.Session{s}})
	}
	f.look(false)
}

// The boards of a history with restarts, gaps, changes of the clock and retention are those of the trackers.
func TestTheStateAfterRestartsIsThatOfTheLiveBoard(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f, path := newFailures(t, seed), newPath(t)
			const keep = 6 * time.Hour
			for range 5 {
				f.step()
			}
			f.look(false)
			for i := range 6 {
				f.segment(t, path)
				limit := f.o.now.Add(-keep)
				trim(t, path, f.o.now, sqlite.WriterOptions{}, keep)
				f.live = slices.DeleteFunc(f.live, func(b board) bool { return b.at.Before(limit) })
				expectBoards(t, path, f.live)
				if t.Failed() {
					t.Fatalf("segment %d", i)
				}
				f.restart(t, path, f.r.IntN(2) == 0)
			}
		})
	}
}

// observed makes an observer read after each step, and compares the boards.
func observed(t *testing.T, f *failures, steps ...func()) {
	t.Helper()
	for _, step := range steps {
		step()
		f.look(false)
		f.wait(700 * time.Millisecond)
		f.wait(5 * time.Minute)
	}
	path := newPath(t)
	record(t, path, f.o)
	expectBoards(t, path, f.live)
}

func TestTheStateOfASemaphore(t *testing.T) {
	f := newFailures(t, 1)
	const key = "service/jobs/leader"
	slots := func(holders string) func() {
		return func() {
			f.write(key, func(p *election.Pair) {
				p.Flags, p.Value = election.SemaphoreFlag, []byte(`{"Limit":2,"Holders":{`+holders+`}}`)
			})
		}
	}
	observed(t, f,
		slots(`"s1":true,"s2":true`), slots(`"s2":true`), slots(``), slots(`"s3":true`),
		func() { f.hidden = []string{key} }, func() { f.hidden = nil }, // the key is unreadable for some time
		func() { f.index++; delete(f.pairs, key) }, slots(`"s4":true`),
		func() { f.write(key, func(p *election.Pair) { p.Flags, p.Value = 0, nil }) }, // the key no longer belongs to a semaphore
		func() { f.acquire(key, f.session(), "jobs-1") }, func() { f.free(key) }, slots(`"s5":true`),
	)
}

// A deleted key has no holder, even if the terms after its creation were missed, and a term without a session is not stored.
func TestAKeyThatIsCreatedAgainHasNoHolder(t *testing.T) {
	f, path := newFailures(t, 1), newPath(t)
	const key = "service/web/leader"
	f.acquire(key, f.session(), "web-1")
	f.look(false)
	f.index++
	delete(f.pairs, key)
	f.look(false)
	f.wait(time.Second)
	f.o.mark()
	f.acquire(key, f.session(), "web-2")
	f.free(key)
	f.look(false)
	record(t, path, f.o)
	expectBoards(t, path, f.live)
	f.o = resume(t, path, f.o.now.Add(time.Minute))
	delete(f.pairs, key)
	f.look(true)
	f.o.stream = append(f.o.stream, step{event: election.Event{
		Type: election.Vacated, Time: f.o.now, Datacenter: "dc1", Key: key, Election: "web", CreateIndex: 50, ModifyIndex: 50, Term: 1,
	}})
	record(t, path, f.o)
	for _, e := range stored(t, path) {
		if e.Type == election.Vacated && e.Session == "" && e.ModifyIndex != 50 {
			t.Errorf("%+v", e)
		}
	}
	for _, x := range termsIn(t, path) {
		if x.Session == "" {
			t.Errorf("%+v", x)
		}
	}
	for _, e := range stateAt(t, path, f.o.now) {
		if e.Pair.Held() || len(e.Terms) != 1 {
			t.Errorf("%+v", e)
		}
	}
}

// Time travel shows a holder that entered long before the others.
func TestALongHolderOfABusySemaphore(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	slots := election.Pair{Key: "service/jobs/leader", Flags: election.SemaphoreFlag, CreateIndex: 5, ModifyIndex: 5}
	for i := range uint64(1300) {
		slots.ModifyIndex++
		slots.Value = fmt.Appendf(nil, `{"Limit":3,"Holders":{"long":true,"job-%d":true}}`, i)
		o.after(time.Second).read(slots)
	}
	record(t, path, o)
	st, err := open(t, path).State(t.Context(), o.now)
	if err != nil || len(st.Elections) != 1 {
		t.Fatalf("%v %+v", err, st)
	}
	if got, _ := st.Elections[0].Pair.Slots(); !slices.Equal(got.Holders, []string{"job-1299", "long"}) {
		t.Errorf("%v", got.Holders)
	}
}

// After the clock was set back, the latest checkpoint and the latest observation are not those with the latest times.
func TestTheStateAfterTheClockWasSetBack(t *testing.T) {
	o, path := newObserver(t, start().Add(5*time.Minute)), newPath(t)
	o.read(pair("s0", 10, 1, 20))
	record(t, path, o)
	next := resume(t, path, start())
	next.read(pair("", 10, 1, 25))
	next.after(time.Second).read(pair("s1", 10, 2, 30))
	record(t, path, next)
	for _, e := range stateAt(t, path, start().Add(10*time.Minute)) {
		if !e.Held() {
			t.Errorf("%+v", e)
		}
	}
	if st := stats(t, path, time.Time{}, time.Time{}); st.Total.Terms != 2 { // also the current term
		t.Errorf("%+v", st.Total)
	}
	past, err := history.Recall(t.Context(), open(t, path), start().Add(10*time.Minute))
	if err != nil || len(past.Parts) != 1 || past.Parts[0].Newest != 30 {
		t.Errorf("%v, %+v", err, past.Parts)
	}
}

// A dashboard that has just started has stored events, but no checkpoint yet.
func TestTheStateBeforeTheFirstCheckpoint(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.marked = true
	o.read()
	o.after(time.Second).read(pair("s1", 10, 1, 20))
	o.after(time.Second).mark()
	record(t, path, o)
	for at, want := range map[time.Duration]int{500 * time.Millisecond: 0, 1500 * time.Millisecond: 1, time.Minute: 1} {
		if got := stateAt(t, path, start().Add(at)); len(got) != want {
			t.Errorf("after %s: %d elections, want %d", at, len(got), want)
		}
	}
}
