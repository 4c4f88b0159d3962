package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// historyCommand holds the flags of `electop history`, and what they select in which history.
type historyCommand struct {
	*options
	history.Source
	history.Filter
	causes []election.Cause
	types  []election.EventType
	terms  bool
	stats  bool
}

func newHistoryCommand(o *options) *cobra.Command {
	c := &historyCommand{options: o}
	cmd := &cobra.Command{
		Use:   "history [NAME…]",
		Short: "Print events, terms and statistics from the history",
		Long: `Print what the dashboard, watch and record stored: the events, or with --terms
one line per term, both oldest first, or with --stats a summary per election.
electop reads nothing from the store: --history selects a recorder or a file, by
default the file for the address. -k selects the elections whose keys match.

In --stats, VACANCIES 2+1 are two measured ones and one of unknown length.

--since and --until take a duration before now (24h, 7d) or a time
(03:12, 2026-11-20T03:12; local time unless it has a zone).

-o json prints one object per line, events as electop watch does; jq makes CSV
of it.`,
		Example: `  electop history --since 2d
  electop history billing --terms --since 2026-11-20
  electop history --stats --since 30d
  electop history --type elected,missed -o json | jq -r '[.time, .election, .leader] | @csv'`,
		ValidArgsFunction: completeHistory(o),
		RunE:              work(c.run),
	}
	o.outputFlag(cmd, "table")
	f := cmd.Flags()
	periodFlags(f, &c.Range)
	f.Var(wordsFlag[election.Cause]{&c.causes, election.Causes()}, "cause", "print only the explained events, or the terms, with this cause")
	f.Var(wordsFlag[election.EventType]{&c.types, election.EventTypes()}, "type", "print only events of this type")
	f.BoolVar(&c.terms, "terms", false, "print terms: leader, node, beginning, end, cause and the vacancy after each term")
	f.BoolVar(&c.stats, "stats", false, "print a summary per election: terms, availability, vacancies, causes")
	cmd.MarkFlagsMutuallyExclusive("terms", "stats", "type")
	cmd.MarkFlagsMutuallyExclusive("cause", "stats")
	return cmd
}

func (c *historyCommand) run(ctx context.Context, names []string) (err error) {
	if c.Source, c.Filter, err = c.selectHistory(ctx, c.Range, names); err != nil {
		return err
	}
	defer c.Close()
	switch {
	case c.terms:
		return c.writeTerms(ctx)
	case c.stats:
		return c.writeStats(ctx)
	}
	return c.writeEvents(ctx)
}

// historyPage is the maximum number of events or terms that one read returns.
const historyPage = 2000

// writeEvents writes the events page by page, so that memory usage does not depend on the number of events. A table has
// a line for each period without an observer, unless types or causes are selected.
func (c *historyCommand) writeEvents(ctx context.Context) error {
	var gaps []history.Range
	several := false
	if c.output != "json" {
		observed, err := c.Observations(ctx, c.Range)
		if err != nil {
			return err
		}
		switch cover := history.NewCoverage(observed, c.Filter); {
		case len(c.types)+len(c.causes) > 0:
		case len(c.Names) == 1:
			gaps = cover.Gaps(cover.Of("", c.Names[0]))
		default:
			gaps = cover.Gaps(cover.Any())
		}
		where := ""
		if several = severalIn(observed); several {
			where = "DC        "
		}
		fmt.Fprintf(c.stdout, "%-23s  %s%-16s  %-12s  %s\n", "TIME", where, "ELECTION", "EVENT", "DETAIL")
	}
	q := history.EventQuery{Filter: c.Filter, Types: c.types, Causes: c.causes}
	err := eachPage(ctx, c.Events, q, func(events []election.Event) error {
		return writeLines(c.stdout, events, func(e election.Event) ([]byte, error) {
			if c.output == "json" {
				return jsonLine(e)
			}
			return append(gapLines(&gaps, e.Time), eventLine(e, several)...), nil
		})
	})
	if err == nil {
		_, err = c.stdout.Write(gapLines(&gaps, c.Until))
	}
	return err
}

// severalIn reports whether several datacenters were observed.
func severalIn(observed []history.Observation) bool {
	return slices.ContainsFunc(observed, func(o history.Observation) bool { return o.Datacenter != observed[0].Datacenter })
}

// gapLines formats and removes the gaps that began before a time. A gap that begins at the time of an event follows
// this event, because the event was observed.
func gapLines(gaps *[]history.Range, before time.Time) (lines []byte) {
	for len(*gaps) > 0 && (*gaps)[0].Since.Before(before) {
		gap := (*gaps)[0]
		*gaps = (*gaps)[1:]
		lines = fmt.Appendf(lines, "%s  %-16s  %-12s  no observer was connected for %s, until %s\n", gap.Since.Local().Format(eventTime), "-", "unobserved",
			election.FormatDuration(gap.Until.Sub(gap.Since)), localTime(gap.Until))
	}
	return lines
}

// writeTerms writes the terms page by page, so that memory usage does not depend on the number of terms.
func (c *historyCommand) writeTerms(ctx context.Context) error {
	q := history.TermQuery{Filter: c.Filter, Causes: c.causes}
	if c.output == "json" {
		return eachPage(ctx, c.Terms, q, func(terms []history.Term) error { return writeLines(c.stdout, terms, jsonLine) })
	}
	observed, err := c.Observations(ctx, c.Range)
	if err != nil {
		return err
	}
	rows, cover := table{several: severalIn(observed)}, history.NewCoverage(observed, c.Filter)
	rows.row("DC", strings.Fields("ELECTION LEADER NODE TERM FROM TO HELD CAUSE VACANCY OUTAGE")...)
	return eachPage(ctx, c.Terms, q, func(terms []history.Term) error {
		for i := range terms {
			t := &terms[i]
			rows.row(t.Datacenter, termCells(t, cover.Of(t.Datacenter, t.Key))...)
		}
		return rows.write(c.stdout)
	})
}

// eachPage calls each with the events or terms of a query, page by page, oldest first. If there are none, it calls each
// with one empty page.
func eachPage[T any](ctx context.Context, read func(context.Context, history.EventQuery) (history.Page[T], error), q history.EventQuery, each func([]T) error) error {
	q.Page, q.Limit = history.Oldest, historyPage
	for {
		page, err := read(ctx, q)
		if err != nil {
			return err
		}
		if err := each(page.Items); err != nil || !page.More {
			return err
		}
		q.Page = page.Next
	}
}

// termCells formats a term, and the vacancy and outage after it. observed contains the periods in which its election was
// observed.
func termCells(t *history.Term, observed history.Periods) []string {
	until := observed.End()
	number, to, cause, vacancy, outage := strconv.FormatUint(t.Number, 10), "-", "-", "-", "-"
	if t.Number == 0 {
		number = "?"
	}
	held := election.FormatDuration(t.Held(until))
	if !t.HeldKnown() || !t.Over() {
		held = "≥" + held
	}
	if t.Over() {
		if to, cause = t.To(time.Time{}.Local(), localTime), t.Cause.Text(t.Guess); t.By != "" {
			cause += " by " + sanitize.Line(t.By, 80)
		}
	}
	switch {
	case t.Vacancy != nil:
		vacancy = rounded(*t.Vacancy)
	case t.Over() && t.Next.IsZero() && until.After(t.End) && observed.Within(t.End, until) == until.Sub(t.End): // a leader in a gap is unknown
		vacancy = "≥" + election.FormatDuration(until.Sub(t.End))
	}
	if o := t.After(); o != nil {
		outage = o.String()
	}
	return []string{
		sanitize.Line(t.Election, 80), sanitize.Line(t.Leader, 40), cmp.Or(sanitize.Line(t.Node, 40), "-"), number,
		t.From(time.Time{}.Local(), localTime), to, held, cause, vacancy, outage,
	}
}

// localTime formats a time for a table.
func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func (c *historyCommand) writeStats(ctx context.Context) error {
	st, err := c.Stats(ctx, c.Filter)
	if err != nil {
		return err
	}
	// Omit elections that have no terms in this range and were not observed in it.
	st.Elections = slices.DeleteFunc(st.Elections, func(s history.Summary) bool { return s.Terms == 0 && s.Observed == 0 })
	if c.output == "json" {
		return writeLines(c.stdout, []history.Stats{st}, jsonLine)
	}
	rows := table{several: slices.ContainsFunc(st.Elections, func(s history.Summary) bool { return s.Datacenter != st.Elections[0].Datacenter })}
	rows.row("DC", strings.Fields("ELECTION TERMS MISSED MEAN LONGEST AVAILABILITY VACANCIES P50 P95 MAX CAUSES")...)
	all := st.Elections
	if len(all) > 1 {
		st.Total.Election = "(all)"
		all = append(all, st.Total)
	}
	for i := range all {
		s := &all[i]
		p50, p95, most, vacancies := "-", "-", "-", strconv.Itoa(s.Vacancies)
		if s.Unmeasured > 0 { // vacancies whose duration is unknown
			vacancies += "+" + strconv.Itoa(s.Unmeasured)
		}
		if s.Vacancies > 0 {
			p50, p95, most = rounded(s.VacancyP50), rounded(s.VacancyP95), rounded(s.VacancyMax)
		}
		rows.row(cmp.Or(s.Datacenter, "-"), sanitize.Line(s.Election, 80), strconv.Itoa(s.Terms), fmt.Sprint(s.Missed), rounded(s.Mean),
			rounded(s.Longest), availability(s), vacancies, p50, p95, most, causeCounts(s.Causes))
	}
	if err := rows.write(c.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "Observed for %s of %s; longest gap between two observations %s.\n", rounded(st.Observed), election.FormatDuration(st.Until.Sub(st.Since)), rounded(st.LongestGap))
	return err
}

func rounded(s history.Seconds) string { return election.FormatDuration(time.Duration(s)) }

// availability formats the share of the time with a leader: one number, or the range of the possible ones.
func availability(s *history.Summary) string {
	if s.AvailabilityMax == nil {
		return "-"
	}
	most := fmt.Sprintf("%.3f%%", 100**s.AvailabilityMax)
	if s.AvailabilityMin == nil {
		return "at most " + most
	}
	if least := fmt.Sprintf("%.3f%%", 100**s.AvailabilityMin); least != most {
		return least + " to " + most
	}
	return most
}

// causeCounts lists the causes, the most frequent first.
func causeCounts(counts map[election.Cause]int) string {
	causes := slices.SortedFunc(maps.Keys(counts), func(a, b election.Cause) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	texts := election.Map(causes, func(cause election.Cause) string { return fmt.Sprintf("%s %d", cause, counts[cause]) })
	return cmp.Or(strings.Join(texts, ", "), "-")
}
