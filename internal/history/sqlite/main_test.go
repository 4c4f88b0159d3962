package sqlite_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/consultest"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// patience is the timeout of every wait. It is long, so that no test fails on a slow machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must, patterns = consultest.Must, consultest.Patterns

// start returns the time of the first observation in the tests.
func start() time.Time { return time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC) }

// observer is a tracker.Tracker with its own clock. Like a real observer, it sends a mark when all keys have been read.
type observer struct {
	t       *testing.T
	tracker *tracker.Tracker
	now     time.Time
	events  []election.Event
	stream  []step
	marked  bool
}

// step is an event or a mark.
type step struct {
	event election.Event
	mark  *election.Snapshot
}

func newObserver(t *testing.T, at time.Time) *observer {
	o := &observer{t: t, now: at, tracker: tracker.New(tracker.Options{Patterns: patterns(t)})}
	o.observe(election.DatacenterRead{At: at, Datacenter: "dc1"})
	return o
}

// led returns an observer of the election web, which the session s1 leads.
func led(t *testing.T, at time.Time) *observer {
	o := newObserver(t, at)
	o.read(pair("s1", 10, 1, 20))
	return o
}

// resume returns an observer that continues the history in a file.
func resume(t *testing.T, path string, at time.Time) *observer {
	t.Helper()
	o := newObserver(t, at)
	past, err := history.Recall(t.Context(), open(t, path), at)
	must(t, err)
	o.observe(past)
	return o
}

func (o *observer) observe(x election.Observation) []election.Event {
	events := o.tracker.Observe(x)
	for _, e := range events {
		o.stream = append(o.stream, step{event: e})
		if !e.Initial {
			o.events = append(o.events, e)
		}
	}
	if !o.marked && o.tracker.Loaded() {
		o.mark()
	}
	return events
}

// mark sends a complete snapshot.
func (o *observer) mark() {
	o.marked = true
	o.stream = append(o.stream, step{mark: o.tracker.Snapshot(o.now)})
}

func (o *observer) read(pairs ...election.Pair) []election.Event {
	return o.observe(election.KeysRead{At: o.now, Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...)})
}

// after advances the clock. After a second, the tracker also explains ended terms without evidence.
func (o *observer) after(d time.Duration) *observer {
	o.now = o.now.Add(d)
	o.observe(election.Clock{At: o.now})
	return o
}

func (o *observer) session(id, node string) {
	o.observe(election.SessionsRead{At: o.now, Sessions: []*election.Session{{ID: id, Name: "web", Node: node, TTL: 10 * time.Second, LockDelay: 15 * time.Second}}})
}

// pair returns the key of the election web.
func pair(session string, create, lock, modify uint64) election.Pair {
	return election.Pair{Key: "service/web/leader", Value: []byte("web of " + session), Session: session, CreateIndex: create, LockIndex: lock, ModifyIndex: modify}
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "electop", "dc1.db") }

// writer is a running sqlite.Writer.
type writer struct {
	*sqlite.Writer
	t      *testing.T
	path   string
	cancel context.CancelFunc
	done   chan error
	stored chan int
}

func startWriter(t *testing.T, path string, o sqlite.WriterOptions) *writer {
	t.Helper()
	w := &writer{t: t, path: path, done: make(chan error, 1), stored: make(chan int, 100_000)}
	o.Delay, o.Lease = cmp.Or(o.Delay, 5*time.Millisecond), cmp.Or(o.Lease, 200*time.Millisecond)
	o.Finish = patience
	before, also := uint64(0), o.OnChange
	o.OnChange = func(st sqlite.Status) {
		if also != nil {
			also(st)
		}
		if n := st.Stored - before; n > 0 {
			before = st.Stored
			w.stored <- int(n)
		}
	}
	w.Writer = sqlite.NewWriter(path, o)
	must(t, w.Open(t.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.done <- w.Run(ctx) }()
	return w
}

// feed queues the steps of an observer that were not queued yet.
func feed(w *sqlite.Writer, o *observer) (events int) {
	for _, s := range o.stream {
		if s.mark != nil {
			w.Mark(s.mark, patterns(o.t))
			continue
		}
		w.Record([]election.Event{s.event})
		if !s.event.Initial {
			events++
		}
	}
	o.stream = nil
	return events
}

// store waits until the events are on disk.
func (w *writer) store(o *observer) {
	w.t.Helper()
	w.await(feed(w.Writer, o))
}

// await waits until n events are on disk.
func (w *writer) await(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for n > 0 {
		select {
		case k := <-w.stored:
			n -= k
		case err := <-w.done:
			w.t.Fatal("the writer ended early:", err)
		case <-ctx.Done():
			w.t.Fatal("not stored")
		}
	}
}

func (w *writer) stop() {
	w.t.Helper()
	w.cancel()
	must(w.t, <-w.done)
}

// finish stores what is queued, and closes the file.
func finish(t *testing.T, w *sqlite.Writer) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return w.Run(ctx)
}

// record stores the steps of an observer.
func record(t *testing.T, path string, o *observer) {
	t.Helper()
	recordWith(t, path, o, sqlite.WriterOptions{Observer: "ana@bastion"})
}

func recordWith(t *testing.T, path string, o *observer, options sqlite.WriterOptions) {
	t.Helper()
	options.Finish = patience
	w := sqlite.NewWriter(path, options)
	if o != nil {
		feed(w, o)
	}
	must(t, finish(t, w))
}

// kill makes the process that stored a file one that was killed after its heartbeat at a time.
func kill(t *testing.T, path string, seen time.Time) {
	t.Helper()
	inSQL(t, path, fmt.Sprintf(`UPDATE observations SET ended = NULL, ending = NULL, seen = %[1]d;
		INSERT INTO leases VALUES ('dc1', 'killed', 'root@recorder', 1, %[1]d)`, seen.UnixNano()))
}

func open(t *testing.T, path string) *sqlite.File {
	t.Helper()
	f := sqlite.NewFile(path)
	must(t, f.Open(t.Context()))
	t.Cleanup(func() { f.Close() })
	return f
}

// stored returns the events of a file, oldest first.
func stored(t *testing.T, path string) []election.Event {
	t.Helper()
	page, err := open(t, path).Events(t.Context(), history.EventQuery{Limit: 1 << 20})
	must(t, err)
	var all []election.Event
	for i := len(page.Items) - 1; i >= 0; i-- {
		all = append(all, page.Items[i])
	}
	return all
}

func termsIn(t *testing.T, path string) []history.Term {
	t.Helper()
	page, err := open(t, path).Terms(t.Context(), history.TermQuery{Limit: 1 << 20})
	must(t, err)
	return page.Items
}

func observations(t *testing.T, path string) []history.Observation {
	t.Helper()
	all, err := open(t, path).Observations(t.Context(), history.Range{})
	must(t, err)
	return all
}

func actions(t *testing.T, path string) []history.Action {
	t.Helper()
	all, err := open(t, path).Actions(t.Context(), history.Range{})
	must(t, err)
	return all
}

func stats(t *testing.T, path string, since, until time.Time) history.Stats {
	t.Helper()
	st, err := open(t, path).Stats(t.Context(), history.Filter{Range: history.Range{Since: since, Until: until}})
	must(t, err)
	return st
}

func stateAt(t *testing.T, path string, at time.Time) []*election.Election {
	t.Helper()
	st, err := open(t, path).State(t.Context(), at)
	must(t, err)
	return st.Elections
}

// asks returns a function that tells that a mark was requested, unless a request was told already.
func asks(marks chan<- bool) func() {
	return func() {
		select {
		case marks <- true:
		default:
		}
	}
}
