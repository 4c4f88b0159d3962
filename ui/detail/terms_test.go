package detail_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui"
	"electop/ui/detail"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// remember drives the pages with a history. The History tab is open.
func remember(t testing.TB, snap *election.Snapshot, key string, source history.Source) *driver {
	t.Helper()
	d := &driver{t: t, m: detail.New(ui.NewKeys(false, ui.Keys{}), past.NewReader(t.Context(), source)), s: look(snap, key)}
	d.answer(scene.Resized{Rect: kit.Rect{W: 100, H: 30}}, scene.Changed{Before: d.s})
	d.answer(uitest.Press("tab"), uitest.Press("tab"))
	return d
}

// answer sends messages and runs the reads that they cause. It returns the number of reads.
func (d *driver) answer(msgs ...any) (reads int) {
	d.t.Helper()
	for _, msg := range msgs {
		reads += uitest.Answer(d.t, d.send(msg), func() scene.Action { return d.send(scene.Changed{Before: d.s}) })
	}
	return reads
}

func (d *driver) lacks(text string) {
	d.t.Helper()
	if screen := strings.Join(d.lines(), "\n"); strings.Contains(screen, text) {
		d.t.Errorf("%q is on the screen:\n%s", text, screen)
	}
}

func TestHistoryHasStoredTerms(t *testing.T) {
	d := remember(t, uitest.Mixed(), billing, uitest.Yesterday())
	d.wants(
		"term 18  ● billing-3", "term 16", "no leader for at most 19h20m",
		"? no observer for 17h00m  Nov 19 18:01:09 → 11:01:09",
		"term 7   · billing-2 on node-2  19h59m  Nov 18 20:01:09 → Nov 19 16:01:07",
		"lost because ana@bastion released the lock with electop",
		"no leader for 2.0s",
		"lost because a check of its session went critical: service:billing-1 on node-1",
		"term 3   · billing-1 on node-1  ≥19h59m  before Nov 15 12:01:09 → Nov 16 08:01:07",
	)
}

func TestHistoryCompletesTermsOfTheSnapshot(t *testing.T) {
	s := uitest.Mixed()
	e := s.Find(billing)
	p := &uitest.Past{}
	for i := len(e.Terms) - 1; i >= 0; i-- {
		term := history.Term{Term: e.Terms[i], Key: billing, Election: "billing", Datacenter: "dc1"}
		term.By = "eve@bastion"
		p.Held = append(p.Held, term)
	}
	earliest := &e.Terms[0]
	earliest.StartKnown, earliest.Cause = false, election.OperatorDestroy
	p.Held[2].Start = earliest.Start.Add(-time.Hour)
	p.Held[0].End = uitest.Now() // the snapshot overrides it
	other := p.Held[0]
	other.Datacenter, other.Leader = "dc2", "elsewhere"
	p.Held = append(p.Held, other)
	d := remember(t, s, billing, p)
	d.wants("eve@bastion destroyed the leader's session with electop", "term 18  ● billing-3", "3m12s")
	d.wants("1h30m", "10:21:09 → 11:52:07")
	d.lacks("elsewhere")
	if n := strings.Count(strings.Join(d.lines(), "\n"), "term 1"); n != 3 {
		t.Errorf("%d terms:\n%s", n, strings.Join(d.lines(), "\n"))
	}
}

// manyTerms returns n terms of billing, an hour each, before the terms of the snapshot.
func manyTerms(n int) *uitest.Past {
	p := &uitest.Past{}
	for i := range n {
		start := uitest.Now().Add(-time.Duration(i+10) * time.Hour)
		p.Held = append(p.Held, history.Term{
			Term: election.Term{
				Number: uint64(10_000 - i), CreateIndex: 7, Session: uitest.SessionID(i), Leader: fmt.Sprintf("old-%d", i), Start: start, StartKnown: true,
				End: start.Add(time.Hour), Cause: election.Released,
			},
			Election: "billing", Key: billing, Datacenter: "dc1", Vacancy: new(history.Seconds(0)),
		})
	}
	return p
}

func TestTheHistoryShowsTheLatestTerms(t *testing.T) {
	d := remember(t, uitest.Mixed(), billing, manyTerms(5000))
	d.answer(uitest.Press("G"))
	d.wants("old-299", "Older terms: electop history --terms")
}

func TestStoredTermsOfAnotherElectionAreDiscarded(t *testing.T) {
	d := &driver{t: t, m: detail.New(ui.NewKeys(false, ui.Keys{}), past.NewReader(t.Context(), manyTerms(100))), s: look(uitest.Mixed(), billing)}
	d.answer(scene.Resized{Rect: kit.Rect{W: 100, H: 30}}, scene.Changed{Before: d.s}, uitest.Press("tab"))
	first := uitest.Command(d.send(uitest.Press("tab")))
	before := d.s
	d.s = look(uitest.Mixed(), "service/auth/leader")
	if reads := d.answer(scene.Changed{Before: before}); reads != 1 {
		t.Errorf("%d reads for the other election, want 1", reads)
	}
	first().(kit.TaskMsg).Apply()
	d.send(scene.Changed{Before: d.s})
	d.lacks("old-")
}

func TestAnErrorOfTheHistoryLeavesTheTermsOfTheSnapshot(t *testing.T) {
	p := uitest.Yesterday()
	p.Err = errors.New("unreachable")
	d := remember(t, uitest.Mixed(), billing, p)
	d.wants("term 18", "history: unreachable")
	p.Err = nil
	for range 4 {
		d.answer(uitest.Press("tab"))
	}
	d.wants("term 3 ")
	d.lacks("unreachable")
}

// Another process may not have recorded the end of a term yet.
func TestATermWithoutAStoredEnd(t *testing.T) {
	p := uitest.Yesterday()
	p.Held[0].End = time.Time{}
	d := remember(t, uitest.Mixed(), billing, p)
	d.wants("term 7   · billing-2 on node-2  an unknown time  Nov 18 20:01:09 → between Nov 18 20:01:09 and Nov")
	mail := uitest.Mixed()
	e := mail.Find("service/mail/leader")
	open := history.Term{Term: e.Terms[0], Key: e.Key(), Datacenter: "dc1"}
	open.End, e.Terms = time.Time{}, nil
	d = remember(t, mail, e.Key(), &uitest.Past{Held: []history.Term{open}})
	d.wants("→ between 09:57:07 and 11:57:07", "no leader for 4m02s so far")
}

// The moment may change while the window is too small. The pages then receive no message about it.
func TestTermsAreReadAgainForAnotherMoment(t *testing.T) {
	d := remember(t, uitest.Mixed(), billing, uitest.Yesterday())
	past := *d.s
	past.Past = &scene.Past{At: uitest.Now().Add(-time.Hour), Snapshot: d.s.Shown}
	d.s = &past
	if reads := d.answer(scene.Resized{Rect: kit.Rect{W: 100, H: 40}}); reads != 1 {
		t.Errorf("%d reads at another moment, want 1", reads)
	}
	if reads := d.answer(scene.Resized{Rect: kit.Rect{W: 100, H: 30}}); reads != 0 {
		t.Errorf("%d reads at the same moment, want 0", reads)
	}
}
