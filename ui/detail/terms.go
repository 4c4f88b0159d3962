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
	past  past.Reader
	terms []history.Term
	older history.Cursor
	end   bool
	gaps  []history.Range
	// task is the latest read. It is nil before the first one. got is its result until it is applied.
	task *kit.Task
	got  *past.Read[history.TermPage]
	err  error
}

// forget discards the terms.
func (t *storedTerms) forget() {
	t.task.Cancel()
	*t = storedTerms{past: t.past}
}

// load returns the command that reads the first page or, near the end of the text, the next page. It returns nil if no
// read is needed.
func (t *storedTerms) load(s *scene.Scene, nearEnd bool) (cmd tea.Cmd) {
	if !t.past.On() || t.task.Running() || t.err != nil || t.full() || t.task != nil && !nearEnd {
		return nil
	}
	now := time.Time{}
	if t.task == nil {
		now = s.Now
	}
	t.task, cmd = t.past.Terms(s.Selected, s.Past.Moment(), t.older, termsPage, now, func(got past.Read[history.TermPage]) { t.got = &got })
	return cmd
}

// full reports whether all terms were read, or the limit keptTerms was reached.
func (t *storedTerms) full() bool { return t.end || len(t.terms) >= keptTerms }

// take applies the result of a read about an election.
func (t *storedTerms) take(e *election.Election) {
	got := t.got
	if t.got = nil; got == nil || e == nil {
		return
	}
	if t.err = got.Err; t.err != nil {
		return
	}
	if t.older == "" {
		t.gaps = got.Gaps
	}
	for _, term := range got.Page.Terms {
		if sameElection(e, &term) {
			t.terms = append(t.terms, term)
		}
	}
	t.older, t.end = got.Page.Older, !got.Page.More
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
		n := slices.IndexFunc(stored, func(old history.Term) bool { return scene.SameTerm(&old.Term, &term.Term) })
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
	case t.task.Slow():
		return []kit.Span{{kit.Quiet, "loading" + sym.Ellipsis}}
	case !t.end && len(t.terms) >= keptTerms:
		return []kit.Span{{kit.Quiet, "Older terms: electop history --terms"}}
	}
	return nil
}
