package detail

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

const (
	// termsPage is the number of terms in one read. keptTerms limits the terms in memory, because each key press
	// formats all of them, which takes 3 ms (BenchmarkHistoryOfManyTerms).
	termsPage, keptTerms = 50, 500
)

// storedTerms holds the recorded terms of one election, latest first.
type storedTerms struct {
	past past.Reader
	of   election.ID
	// asked is set after the first page has been requested.
	asked bool
	terms []history.Term
	older history.Cursor
	end   bool
	gaps  []history.Range
	req   *past.Request
	slow  bool
	err   error
}

// forget discards the terms. The next load reads the terms of election id.
func (t *storedTerms) forget(id election.ID) {
	if t.req != nil {
		t.req.Cancel()
	}
	*t = storedTerms{past: t.past, of: id, req: t.req}
}

// load returns the command that reads the first page or, near the end of the text, the next page. It returns nil if no
// read is needed.
func (t *storedTerms) load(s *scene.Scene, nearEnd bool) tea.Cmd {
	if !t.past.On() || t.req != nil || t.err != nil || t.full() || t.asked && !nearEnd {
		return nil
	}
	now := time.Time{}
	if !t.asked {
		now = s.Now
	}
	t.asked = true
	var cmd tea.Cmd
	t.req, cmd = t.past.Terms(s.Selected, s.Past.Moment(), t.older, termsPage, now)
	return cmd
}

// full reports whether all terms were read, or the limit keptTerms was reached.
func (t *storedTerms) full() bool { return t.end || len(t.terms) >= keptTerms }

func (t *storedTerms) read(msg past.TermsRead, s *scene.Scene) {
	if msg.Of != t.req {
		return
	}
	t.req, t.slow = nil, false
	if msg.Of.Cancelled {
		return
	}
	if t.err = msg.Err; t.err != nil || s.Selected == nil {
		return
	}
	if t.older == "" {
		t.gaps = msg.Gaps
	}
	for _, term := range msg.Page.Terms {
		if sameElection(s.Selected, &term) {
			t.terms = append(t.terms, term)
		}
	}
	t.older, t.end = msg.Page.Older, !msg.Page.More
}

// sameElection reports whether a recorded term with the same key belongs to the election: the history may contain
// several datacenters.
func sameElection(e *election.Election, t *history.Term) bool {
	return t.Datacenter == e.Datacenter || e.Datacenter == ""
}

// merged joins the terms of the snapshot with the recorded terms, latest first. The history adds the operator, the
// start and the cause to a term. For a past moment, it does so only if the term has ended, because the history
// describes terms as of today. A term without a recorded end ended at an unknown time before the next term.
func (t *storedTerms) merged(e *election.Election, at *scene.Past) []history.Term {
	all := make([]history.Term, 0, len(e.Terms)+len(t.terms))
	stored := slices.DeleteFunc(slices.Clone(t.terms), func(old history.Term) bool { return at != nil && old.Start.After(at.At) })
	for i := len(e.Terms) - 1; i >= 0; i-- {
		term := history.Term{Term: e.Terms[i]}
		n := slices.IndexFunc(stored, func(old history.Term) bool { return sameTerm(&old.Term, &term.Term) })
		if n >= 0 {
			if at == nil || term.Cause != "" {
				term = completed(term.Term, stored[n])
			}
			stored = slices.Delete(stored, n, n+1)
		}
		if i+1 < len(e.Terms) && e.Terms[i+1].StartKnown && term.Vacancy == nil {
			term.Vacancy = new(history.Seconds(e.Terms[i+1].Start.Sub(term.End)))
		}
		all = append(all, term)
	}
	all = append(all, stored...)
	slices.SortStableFunc(all, func(a, b history.Term) int { return b.Start.Compare(a.Start) })
	for i := range all {
		end := e.VacantSince
		if i > 0 {
			end = all[i-1].Start
		}
		if current := i == 0 && e.Exists && e.Pair.Held(); !all[i].Over() && !current && end.After(all[i].Start) {
			all[i].End, all[i].SeenUntil = end, all[i].Start
		}
	}
	return all
}

func sameTerm(a, b *election.Term) bool {
	precedes := func(a, b *election.Term) bool { return a.Over() && a.End.Before(b.Start) }
	return a.Session == b.Session && a.Number == b.Number && a.CreateIndex == b.CreateIndex && !precedes(a, b) && !precedes(b, a)
}

// completed adds to a term of the snapshot the fields that only the history contains.
func completed(live election.Term, stored history.Term) history.Term {
	t := stored
	t.Term = live
	if !live.StartKnown && stored.Start.Before(live.Start) {
		t.Start, t.StartKnown = stored.Start, stored.StartKnown
	}
	if t.Cause == "" {
		t.Cause, t.Evidence, t.Guess = stored.Cause, stored.Evidence, stored.Guess
	}
	t.By = cmp.Or(live.By, stored.By)
	return t
}

// state describes a slow or failed read of the history, or older terms that are not shown. It returns nil if neither
// applies.
func (t *storedTerms) state(sym *kit.Symbols) []kit.Span {
	switch {
	case t.err != nil:
		return []kit.Span{{kit.Delay, past.Text(t.err)}}
	case t.slow:
		return []kit.Span{{kit.Quiet, "loading" + sym.Ellipsis}}
	case t.asked && !t.end && len(t.terms) >= keptTerms:
		return []kit.Span{{kit.Quiet, "Older terms: electop history --terms"}}
	}
	return nil
}
