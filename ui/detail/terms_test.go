package detail_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// remember drives the pages with a history. The History tab is open.
// answer sends messages and runs the reads that they cause. It returns the number of reads.
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
	d.Wants("eve@bastion destroyed the leader's session with electop", "term 18  ● billing-3", "3m12s")
	d.Wants("1h30m", "10:21:09 → 11:52:07")
	d.Lacks("elsewhere")
	if n := strings.Count(d.Text(), "term 1"); n != 3 {
		t.Errorf("%d terms:\n%s", n, d.Text())
	}
}

// remember drives the pages with a history. The History tab is open.
func remember(t testing.TB, snap *election.Snapshot, key string, source history.Source) *driver {
	t.Helper()
	d := drive(t, snap, key, source)
	d.Answer(scene.Changed{Before: d.S}, uitest.Press("tab"), uitest.Press("tab"))
	return d
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
	d.Answer(uitest.Press("G"))
	d.Wants("old-299", "Older terms: electop history --terms")
}

func TestStoredTermsOfAnotherElectionAreDiscarded(t *testing.T) {
	d := drive(t, uitest.Mixed(), billing, manyTerms(100))
	d.Answer(scene.Changed{Before: d.S}, uitest.Press("tab"))
	first := uitest.Command(d.Send(uitest.Press("tab")))
	before := d.S
	d.S = look(uitest.Mixed(), "service/auth/leader")
	if reads := d.Answer(scene.Changed{Before: before}); reads != 1 {
		t.Errorf("%d reads for the other election, want 1", reads)
	}
	first().(kit.TaskMsg).Apply()
	d.Send(scene.Changed{Before: d.S})
	d.Lacks("old-")
}

func TestAnErrorOfTheHistoryLeavesTheTermsOfTheSnapshot(t *testing.T) {
	p := uitest.Yesterday()
	p.Err = errors.New("unreachable")
	d := remember(t, uitest.Mixed(), billing, p)
	d.Wants("term 18", "history: unreachable")
	p.Err = nil
	for range 4 {
		d.Answer(uitest.Press("tab"))
	}
	d.Wants("term 3 ")
	d.Lacks("unreachable")
}

// Another process may not have recorded the end of a term yet.
func TestATermWithoutAStoredEnd(t *testing.T) {
	p := uitest.Yesterday()
	p.Held[0].End = time.Time{}
	d := remember(t, uitest.Mixed(), billing, p)
	d.Wants("term 7   · billing-2 on node-2  an unknown time  Nov 18 20:01:09 → between Nov 18 20:01:09 and Nov")
	mail := uitest.Mixed()
	e := mail.Find("service/mail/leader")
	open := history.Term{Term: e.Terms[0], Key: e.Key(), Datacenter: "dc1"}
	open.End, e.Terms = time.Time{}, nil
	d = remember(t, mail, e.Key(), &uitest.Past{Held: []history.Term{open}})
	d.Wants("→ between 09:57:07 and 11:57:07", "no leader for 4m02s so far")
}

// The moment may change while the window is too small. The pages then receive no message about it.
func TestTermsAreReadAgainForAnotherMoment(t *testing.T) {
	d := remember(t, uitest.Mixed(), billing, uitest.Yesterday())
	past := *d.S
	past.Past = &scene.Past{At: uitest.Now().Add(-time.Hour), Snapshot: d.S.Shown}
	d.S = &past
	if reads := d.Answer(scene.Resized{Rect: kit.Rect{W: 100, H: 40}}); reads != 1 {
		t.Errorf("%d reads at another moment, want 1", reads)
	}
	if reads := d.Answer(scene.Resized{Rect: kit.Rect{W: 100, H: 30}}); reads != 0 {
		t.Errorf("%d reads at the same moment, want 0", reads)
	}
}
