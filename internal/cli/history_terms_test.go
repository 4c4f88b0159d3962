package cli

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
)

// pagedTerms is a history whose terms are read in pages of two, oldest first.
type pagedTerms struct {
	history.Source
	terms []history.Term
	pages int
}

func (*pagedTerms) Observations(context.Context, history.Range) ([]history.Observation, error) {
	return nil, nil
}

func (p *pagedTerms) Terms(_ context.Context, q history.TermQuery) (history.TermPage, error) {
	p.pages++
	n, _ := strconv.Atoi(strings.TrimSuffix(string(q.After), ".0"))
	page := history.TermPage{Cursors: history.Cursors{Newer: history.Cursor(strconv.Itoa(n + 2)), More: n+2 < len(p.terms)}}
	for i := min(n+2, len(p.terms)) - 1; i >= n; i-- {
		page.Terms = append(page.Terms, p.terms[i])
	}
	return page, nil
}

// pageWriter records for each write how many pages were read before it.
type pageWriter struct {
	strings.Builder
	from  *pagedTerms
	pages []int
}

func (w *pageWriter) Write(text []byte) (int, error) {
	w.pages = append(w.pages, w.from.pages)
	return w.Builder.Write(text)
}

func TestTermsAreWrittenPageByPage(t *testing.T) {
	for _, output := range []string{"table", "json"} {
		start := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
		source := &pagedTerms{}
		for i, leader := range []string{"web-1", "b", "c", "a-long-name", "e"} {
			source.terms = append(source.terms, history.Term{
				Term:     election.Term{Number: uint64(i + 1), Leader: leader, Start: start.Add(time.Duration(i) * time.Minute), StartKnown: true},
				Election: "web", Key: "service/web/leader",
			})
		}
		w := &pageWriter{from: source}
		c := &historyCommand{d: deps{stdout: w}, output: output}
		if err := c.writeTerms(t.Context(), source, history.Filter{}); err != nil {
			t.Fatal(err)
		}
		if len(w.pages) == 0 || w.pages[0] != 1 || source.pages != 3 {
			t.Errorf("%s: writes after %v pages, want the first after page 1 of 3; %d pages were read", output, w.pages, source.pages)
		}
		last := 0
		for _, leader := range []string{"web-1", "b", "c", "a-long-name", "e"} {
			at := strings.Index(w.String()[last:], leader)
			if last += at; at < 0 {
				t.Errorf("%s: %s is missing or not in order:\n%s", output, leader, w.String())
			}
		}
		if lines := strings.Split(w.String(), "\n"); output == "table" && (len(lines) != 7 || strings.Index(lines[5], "2026-") != strings.Index(lines[4], "2026-")) {
			t.Errorf("the columns of the last page differ from those of the page before it:\n%s", w.String())
		}
	}
}
