package events_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui"
	"electop/ui/events"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// remember drives a view with a history.
func remember(t testing.TB, snap *election.Snapshot, p *uitest.Past) *driver {
	t.Helper()
	m := events.New(ui.NewKeys(false, nil), past.Reader{Ctx: t.Context(), Source: p})
	d := &driver{uitest.Drive(t, m, snap, 120, 20), m}
	d.S.NameWidth = 7
	d.Answer(scene.Opened{})
	return d
}

func (d *driver) press(names ...string) (reads int) {
	d.T.Helper()
	for _, name := range names {
		reads += d.Answer(uitest.Press(name))
	}
	return reads
}

// long returns a history of n events of ten elections, a minute apart. The last event was an hour ago.
func long(n int) *uitest.Past {
	p := &uitest.Past{Recorded: make([]election.Event, 0, n)}
	first := uitest.Now().Add(-time.Hour - time.Duration(n)*time.Minute)
	p.Observed = []history.Observation{{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: first, To: uitest.Now(), Lasting: true}}
	for i := range n {
		name := fmt.Sprintf("svc-%d", i%10)
		p.Recorded = append(p.Recorded, election.Event{
			Time: first.Add(time.Duration(i) * time.Minute), Type: election.Updated, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1",
			Term: 1, CreateIndex: 40, ModifyIndex: uint64(i + 1), Leader: fmt.Sprintf("old-%06d", i), Session: uitest.SessionID(i % 10),
		})
	}
	return p
}

// shown returns the numbers of the stored events on the screen. marked is the number under the cursor.
func (d *driver) shown() (all []int, marked int) {
	marked = -1
	for _, text := range strings.Split(d.Text(), "\n") {
		i := strings.Index(text, "old-")
		if i < 0 {
			continue
		}
		var n int
		_, _ = fmt.Sscanf(text[i:], "old-%d", &n)
		if all = append(all, n); strings.HasPrefix(text, kit.Unicode().Cursor) {
			marked = n
		}
	}
	return all, marked
}

func TestScrollingLoadsOlderPagesWithoutAJump(t *testing.T) {
	const all = 6000
	p := long(all)
	s := eventful(0)
	d := remember(t, s, p)
	if len(p.Queries) != 1 {
		t.Errorf("%d reads at the beginning, want 1", len(p.Queries))
	}
	d.Wants("500+ lines")
	const step = 9 // half of the visible lines
	for want := all - 1; want > 0; want = max(0, want-step) {
		if on, marked := d.shown(); marked != want || !consecutive(on) || len(on) != 19 && want > 18 {
			t.Fatalf("the cursor is on %d, want %d; %v", marked, want, on)
		}
		d.press("ctrl+d")
	}
	d.Wants("The history begins here.")
	for want := 0; want < all-1; want = min(all-1, want+step) {
		if on, marked := d.shown(); marked != want || !consecutive(on) {
			t.Fatalf("back: the cursor is on %d, want %d; %v", marked, want, on)
		}
		d.press("ctrl+u")
	}
	d.Wants("lines, newest first")
}

// consecutive reports whether each number is one less than the previous one.
func consecutive(all []int) bool {
	return len(all) > 0 && all[0]-all[len(all)-1] == len(all)-1 && slices.IsSortedFunc(all, func(a, b int) int { return b - a })
}

func TestTheListIsBounded(t *testing.T) {
	d := remember(t, eventful(0), long(21_000))
	for range 110 {
		d.press("G")
	}
	d.Wants("The list ends here: :at TIME shows an earlier moment.")
	_, marked := d.shown()
	d.Show(eventful(5)) // new live events do not move the list
	if _, still := d.shown(); still != marked {
		t.Errorf("new live events moved the cursor from %d to %d", marked, still)
	}
	d.press("g")
	d.Wants("web-004")
	d.Wants(" follows the newest")
}

func TestDuplicatesAreLeftOut(t *testing.T) {
	s, p := uitest.Mixed(), uitest.Yesterday()
	for _, ev := range s.Events {
		if ev.Type != election.ConnectionLost && ev.Type != election.ConnectionRestored {
			ev.Time = ev.Time.Add(30 * time.Millisecond) // as another observer stored it
		}
		if ev.Initial = false; ev.VacancyKnown {
			ev.Vacancy += 300 * time.Millisecond
		}
		p.Recorded = append(p.Recorded, ev)
	}
	other := s.Events[len(s.Events)-2] // an event with the same indexes: after a restore, Consul uses indexes again
	other.Time = other.Time.Add(-10 * time.Minute)
	p.Recorded = append(p.Recorded, other)
	slices.SortFunc(p.Recorded, func(a, b election.Event) int { return a.Time.Compare(b.Time) })
	d := remember(t, s, p)
	d.Resize(120, 40)
	for text, want := range map[string]int{"mail ": 1, "overwritten": 1, "2 terms not observed": 1, "connection refused": 1, "search   vacated": 2, "auth ": 1, "after 1.5s": 1, "after 1.2s": 0} {
		if got := strings.Count(d.Text(), text); got != want {
			t.Errorf("%q occurs %d times, want %d:\n%s", text, got, want, d.Text())
		}
	}
}

// In etcd, the next candidate leads in the same revision.
func TestTheNextLeaderIsAboveTheLast(t *testing.T) {
	s, p := eventful(1), &uitest.Past{}
	next := s.Events[0]
	last := next
	last.Type, last.Term, last.Leader, last.Session = election.Vacated, 0, "web-old", uitest.SessionID(1)
	s.Events = []election.Event{last, next}
	for _, ev := range s.Events {
		ev.Time = ev.Time.Add(-5 * time.Millisecond) // as another observer stored it
		p.Recorded = append(p.Recorded, ev)
	}
	d := remember(t, s, p)
	if all, _, _ := d.leaders(); !slices.Equal(all, []string{"web-000", "web-old"}) {
		t.Error(all, d.Text())
	}
}

func TestFilterSearchesTheHistory(t *testing.T) {
	p := long(15_000)
	p.Recorded[100].Leader = "needle"
	d := remember(t, eventful(3), p)
	if reads := d.Answer(scene.Filtered{Text: "needle"}); reads != 30 {
		t.Errorf("%d reads", reads)
	}
	d.Wants("needle, term 1")
	d.Wants("1 line, newest first")
	at := p.Recorded[100].Time.Format("Jan 02 15:04:05")
	d.Wants(at)
	d.Answer(scene.Back{}) // the event stays under the cursor
	for _, line := range strings.Split(d.Text(), "\n") {
		if strings.HasPrefix(line, kit.Unicode().Cursor) && !strings.Contains(line, "needle") {
			t.Errorf("the cursor is on %s, want the event that matched", line)
		}
	}
	d.press("k")
	if on, marked := d.shown(); marked != 101 {
		t.Errorf("the cursor is on %d of %v, want 101", marked, on)
	}
}

func TestASearchIsBounded(t *testing.T) {
	p := long(120_000)
	p.Recorded[0].Leader = "needle"
	d := remember(t, eventful(3), p)
	if reads := d.Answer(scene.Filtered{Text: "needle"}); reads != 100 {
		t.Errorf("%d reads", reads)
	}
	d.Wants("No event matches needle.")
	d.Wants("Searched 50000 events, back to " + p.Recorded[70_000].Time.Format("Jan 02 15:04:05") + "   G continues")
	if reads := d.press("G"); reads != 100 {
		t.Errorf("%d more reads", reads)
	}
	d.press("G")
	d.Wants("needle, term 1")
	d.Wants("No older event matches.")
}

func TestANameLimitsTheReadEvents(t *testing.T) {
	for text, want := range map[string][]string{"web": nil, "election:WEB": {"service/web/leader"}, "election:gone": {"gone"}, "!election:web": nil} {
		p := uitest.Yesterday()
		d := remember(t, uitest.Mixed(), p)
		d.Answer(scene.Filtered{Text: text})
		if q := p.Queries[1]; !slices.Equal(q.Names, want) {
			t.Errorf("%q: %+v", text, q)
		}
	}
}

func TestASlowReadIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := long(1000)
		d := remember(t, eventful(3), p)
		p.Hold = make(chan struct{})
		read := uitest.Command(d.Send(uitest.Press("G")))
		d.Lacks("loading")
		wait := read().(kit.TaskMsg).Apply()
		d.Send(scene.Changed{Before: d.S})
		d.Wants("loading…")
		if uitest.Command(d.Send(uitest.Press("G"))) != nil {
			t.Error("a second read began before the first one ended")
		}
		close(p.Hold)
		for wait != nil {
			wait = wait().(kit.TaskMsg).Apply()
		}
		d.Send(scene.Changed{Before: d.S})
		d.Lacks("loading")
	})
}

// The snapshot keeps only the latest events. Older ones must come from the history.
func TestOlderEventsComeFromTheHistory(t *testing.T) {
	all := eventful(900)
	p := &uitest.Past{Recorded: slices.Clone(all.Events[:100])}
	s := eventful(0)
	s.Events = all.Events[50:150]
	d := remember(t, s, p)
	d.press("j", "j")
	p.Recorded = all.Events[:800]
	next := eventful(0)
	next.Events = all.Events[700:]
	before := d.S
	d.S = uitest.Scene(next, uitest.Now())
	d.Answer(scene.Changed{Before: before})
	d.press("g")
	for want := 899; want >= 0; want-- {
		if _, marked, _ := d.leaders(); marked != fmt.Sprintf("web-%03d", want) {
			t.Fatalf("the cursor is on %s, want %d", marked, want)
		}
		d.press("j")
	}
}
