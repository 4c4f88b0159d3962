package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/report"
	"electop/ui"
)

// reportEvents is the maximum number of events in a report.
const reportEvents = 10_000

func newReportCommand(d deps, o *options) *cobra.Command {
	var since, until string
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: "Print an incident report in Markdown from the history",
		Long: `Print an incident report about one election in Markdown, from the history:
what happened, the terms, a timeline with causes and evidence, gaps in
observation, and the operators' actions. electop does not contact Consul.

--since and --until take a duration before now (24h, 7d) or a time
(2026-11-20T03:12, local time unless it has a zone). Times are shown in the
local time zone, or in UTC with TZ=UTC.`,
		Example:           "  electop report billing --since 2h\n  TZ=UTC electop report billing --since 2026-11-20T03:00 --until 2026-11-20T04:00 > incident.md",
		Args:              exactName,
		ValidArgsFunction: first(completeHistory(o), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := parseRange(since, until, time.Now())
			if err != nil {
				return err
			}
			return writeReportOf(cmd.Context(), d, o, args[0], r)
		},
	}
	cmd.Flags().StringVar(&since, "since", "24h", "report what happened after this time")
	cmd.Flags().StringVar(&until, "until", "", "report what happened before this time (default now)")
	return cmd
}

func writeReportOf(ctx context.Context, d deps, o *options, name string, r history.Range) error {
	f, err := o.openHistory(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	keys, err := o.historyKeys(ctx, f, []string{name})
	if err != nil {
		return err
	}
	of := ui.Subject{Key: keys[0]}
	if !o.severalDatacenters() {
		of.Datacenter = o.consul.Datacenter
	}
	incident, err := readIncident(ctx, f, of, r)
	if err != nil {
		return err
	}
	_, err = d.stdout.Write(incident.Markdown())
	return err
}

// readIncident reads the history of an election. If the history contains the same key in several datacenters, the
// subject must name a datacenter.
func readIncident(ctx context.Context, f history.Source, of ui.Subject, r history.Range) (*report.Incident, error) {
	i := &report.Incident{Name: of.Key, Key: of.Key, Range: r}
	filter := history.Filter{Range: r, Names: []string{of.Key}}
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return nil, err
	}
	if i.Summary, i.Datacenter, err = summaryIn(st, of); err != nil {
		return nil, err
	}
	if of.Datacenter = i.Summary.Datacenter; len(st.Elections) < 2 {
		i.Datacenter = "" // the name distinguishes nothing
	}
	page, err := f.Events(ctx, history.EventQuery{Filter: filter, Limit: reportEvents})
	if err != nil {
		return nil, err
	}
	i.Events, i.Cut = slices.DeleteFunc(page.Events, func(e election.Event) bool { return !in(e.Datacenter, of) }), page.More
	slices.Reverse(i.Events)
	err = eachTerms(ctx, f, history.TermQuery{Filter: filter, Limit: historyPage}, func(terms []observedTerm) error {
		for _, t := range terms {
			if in(t.Datacenter, of) {
				i.Terms, i.Name = append(i.Terms, t.Term), t.Election
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(i.Events) > 0 {
		i.Name = i.Events[0].Election
	}
	observed, err := f.Observations(ctx, r)
	if err != nil {
		return nil, err
	}
	cover := history.NewCoverage(observed, r)
	i.Gaps, i.ObservedUntil = cover.GapsOf(of.Datacenter, of.Key), cover.Until(of.Datacenter, of.Key)
	actions, err := f.Actions(ctx, r)
	for _, a := range actions {
		// A stored destroy may contain only the session and no key.
		if in(a.Datacenter, of) && a.Key == of.Key || a.Key == "" && slices.ContainsFunc(i.Terms, func(t history.Term) bool { return t.Session == a.Session }) {
			i.Actions = append(i.Actions, a)
		}
	}
	return i, err
}

// in reports whether a datacenter is that of a subject. If one of the names is empty, it returns true.
func in(datacenter string, of ui.Subject) bool {
	return of.Datacenter == "" || datacenter == "" || datacenter == of.Datacenter
}

// summaryIn returns the statistics of a subject, and its datacenter.
func summaryIn(st history.Stats, of ui.Subject) (s history.Summary, datacenter string, err error) {
	var names []string
	for _, e := range st.Elections {
		if names = append(names, e.Datacenter); of.Datacenter == "" || e.Datacenter == of.Datacenter {
			s = e
		}
	}
	slices.Sort(names)
	switch {
	case len(names) > 1 && of.Datacenter == "":
		return s, "", usagef("%s exists in the datacenters %s; choose one with --datacenter", sanitize.Line(of.Key, 100), sanitize.Line(strings.Join(names, ", "), 200))
	case len(names) > 0 && s.Key == "":
		return s, "", &missingError{name: of.Key, text: errNoElection.Error() + " in the history of datacenter " + sanitize.Line(of.Datacenter, 100) + ": " + sanitize.Line(of.Key, 100)}
	}
	return s, s.Datacenter, nil
}
