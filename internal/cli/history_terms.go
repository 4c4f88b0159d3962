package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// observedTerm is a term and the time until which its election was observed.
type observedTerm struct {
	history.Term
	until time.Time
}

// held returns how long the term lasted. If known is false, the term may have lasted longer.
func (t *observedTerm) held() (held time.Duration, known bool) {
	return t.Held(t.until), t.HeldKnown() && t.Over()
}

// writeTerms writes the terms page by page, so that memory usage does not depend on the number of terms.
func (c *historyCommand) writeTerms(ctx context.Context, f history.Source, filter history.Filter) error {
	q := history.TermQuery{Filter: filter, Causes: typed[election.Cause](c.causes), Limit: historyPage}
	if c.output == "json" {
		return eachTerms(ctx, f, q, func(terms []observedTerm) error { return writeLines(c.d.stdout, terms, termLine) })
	}
	observed, err := f.Observations(ctx, filter.Range)
	if err != nil {
		return err
	}
	several := severalIn(observed)
	tw := newTable(c.d.stdout)
	fmt.Fprintln(tw, inDatacenter("DC", several)+"ELECTION\tLEADER\tNODE\tTERM\tFROM\tTO\tHELD\tCAUSE\tVACANCY")
	return eachTerms(ctx, f, q, func(terms []observedTerm) error { return writeTermRows(tw, terms, several) })
}

func writeTermRows(tw *table, terms []observedTerm, several bool) error {
	for i := range terms {
		t := &terms[i]
		from, to, held := termTimes(t)
		vacancy := "-"
		if t.Vacancy != nil {
			vacancy = election.FormatDuration(time.Duration(*t.Vacancy))
		}
		fmt.Fprintf(tw, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", inDatacenter(t.Datacenter, several), sanitize.Line(t.Election, 80), sanitize.Line(t.Leader, 40),
			cmp.Or(sanitize.Line(t.Node, 40), "-"), termNumber(t), from, to, held, termCause(&t.Term), vacancy)
	}
	return tw.Flush()
}

// eachTerms calls each with the terms of a query, page by page, oldest first. If there are no terms, it calls each with
// one empty page.
func eachTerms(ctx context.Context, f history.Source, q history.TermQuery, each func([]observedTerm) error) error {
	observations, err := f.Observations(ctx, q.Range)
	if err != nil {
		return err
	}
	cover := history.NewCoverage(observations, q.Range)
	q.After = history.CursorAt(time.Time{})
	for {
		page, err := f.Terms(ctx, q)
		if err != nil {
			return err
		}
		slices.Reverse(page.Terms)
		terms := make([]observedTerm, len(page.Terms))
		for i, t := range page.Terms {
			terms[i] = observedTerm{t, cover.Until(t.Datacenter, t.Key)}
		}
		if err := each(terms); err != nil || !page.More {
			return err
		}
		q.After = page.Newer
	}
}

func termNumber(t *observedTerm) string {
	if t.Number == 0 {
		return "?"
	}
	return fmt.Sprint(t.Number)
}

// termTimes formats when a term began and ended, and how long it lasted.
func termTimes(t *observedTerm) (from, to, held string) {
	from, to = t.From(time.Time{}.Local(), localTime), "-"
	if t.Over() {
		to = t.To(time.Time{}.Local(), localTime)
	}
	d, known := t.held()
	if held = election.FormatDuration(d); !known {
		held = ">= " + held
	}
	return from, to, held
}

// termCause names why a term ended, and who ended it.
func termCause(t *history.Term) string {
	switch {
	case !t.Over():
		return "-"
	case t.By != "":
		return string(t.Cause) + " by " + sanitize.Line(t.By, 80)
	case t.Guess:
		return "probably " + string(t.Cause)
	}
	return cmp.Or(string(t.Cause), string(election.Unknown))
}

// termLine formats a term as one line of JSON that is safe to show.
func termLine(t observedTerm) ([]byte, error) {
	text, err := json.Marshal(t.Term)
	return append(sanitize.JSON(text), '\n'), err
}
